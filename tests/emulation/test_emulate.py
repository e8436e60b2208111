"""Emulation: scenarios with the kernel's own TCP, in namespaces of their own.

Where the kernel refuses, these tests are skipped and say why; with ``PARSHALL_EMULATE=required`` they fail instead.
Tolerances are wide where other work on the machine makes packets late: what is held here are the rules of the network,
not the quality of a quiet machine.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import polars as pl
import pytest
from emulations import (
    BECOME_NOBODY,
    BULK,
    REQUIRED,
    WHY_NOT,
    answer_of_a_child,
    eventually,
    needs_the_kernel,
    on_the_kernel,
    scenario,
    tried_twice,
)
from typer.testing import CliRunner

import parshall as ps
from parshall import _core
from parshall.campaign.call import Call, Function, Returned
from parshall.campaign.work import execute
from parshall.cli.app import application
from parshall.instruments.emulation import Validity, peers, validity
from parshall.instruments.emulation.emulating import described
from parshall.instruments.emulation.kernel import emulated, left_to_the_kernel
from parshall.instruments.emulation.process import repetition
from parshall.instruments.emulation.turns import turn
from parshall.instruments.simulation.single import Interrupted, Monitor


@needs_the_kernel
@tried_twice
def test_a_kernel_fills_the_link_as_a_simulated_sender_does(tmp_path: Path) -> None:
    given = scenario(BULK, warm_up="1 s")
    made = ps.emulate(given, tmp_path / "run")
    assert made.instrument == "emulate"
    row = made.flows.row(0, named=True)
    # The link carries 10 Mbit/s, of which 1448 of 1500 bytes are payload with timestamps.
    assert 9.0e6 < row["goodput_bps"] <= 10e6 * 1448 / 1500 * 1.01
    assert row["congestion_control"] == "cubic"
    assert row["min_rtt_s"] == pytest.approx(0.020, abs=0.003)
    assert row["packets_sent"] > 1500
    assert made.flow_samples is not None
    assert made.flow_samples["cwnd_packets"].max() > 10
    assert made.transfers is None or made.transfers.is_empty(), "what never ends is no transfer"
    simulated = ps.run(given)
    assert row["goodput_bps"] == pytest.approx(simulated.flows["goodput_bps"][0], rel=0.08)
    judged = validity(made)
    assert judged is not None
    assert judged.level in {"valid", "doubtful", "invalid"}
    again = ps.load(tmp_path / "run")
    assert again.instrument == "emulate"
    assert again.metadata["emulation"]["level"] == judged.level
    assert validity(simulated) is None


@on_the_kernel
def test_datagrams_lose_what_does_not_fit() -> None:
    sender = {"rtt": "20 ms", "workload": {"name": "cbr", "rate": "12 Mbit/s"}, "name": "cbr"}
    made = ps.emulate(scenario(sender, seconds=4, warm_up="1 s"))
    row = made.flows.row(0, named=True)
    assert row["loss_rate"] == pytest.approx(1 - 10 / 12, abs=0.02), "two of twelve do not fit"
    assert row["throughput_bps"] == pytest.approx(10e6, rel=0.03)


@pytest.mark.gate
@on_the_kernel
def test_real_and_simulated_flows_share_a_queue() -> None:
    made = ps.emulate(
        scenario(
            {**BULK, "name": "real", "rtt": "40 ms"},
            {**BULK, "name": "simulated", "rtt": "40 ms", "endpoint": "simulated"},
            seconds=5,
            warm_up="1 s",
        )
    )
    goodput = dict(made.flows.select("group", "goodput_bps").iter_rows())
    assert set(goodput) == {"real", "simulated"}
    assert min(goodput.values()) > 0.5e6, "neither is locked out"
    assert 8.5e6 < sum(goodput.values()) < 10e6


@on_the_kernel
def test_many_flows_fill_the_link_together() -> None:
    """So many that their kernels receive on other CPUs than the emulator's (crates/emulation/src/cpus.rs)."""
    made = ps.emulate(scenario({**BULK, "count": 40}, rate="50 Mbit/s", seconds=4, warm_up="2 s"))
    goodput_bps = made.flows["goodput_bps"]
    assert goodput_bps.sum() == pytest.approx(50e6 * 1448 / 1500, rel=0.03)


@on_the_kernel
def test_transfers_are_whole_and_end_the_run() -> None:
    flow = {**BULK, "name": "files", "count": 3, "workload": {"name": "transfer", "size": "100 kB"}}
    made = ps.emulate(scenario(flow, seconds=20, ends_with=["files"]))
    assert made.transfers is not None
    assert made.transfers["size_bytes"].to_list() == [100_000] * 3
    assert made.transfers["flow"].unique().sort().to_list() == [0, 1, 2]
    assert made.summary["simulated_s"] < 10


@on_the_kernel
def test_an_ordinary_user_may_emulate() -> None:
    """The child gives up root before it begins, if this test has it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o777)
        answer = answer_of_a_child(scenario(BULK, seconds=1), str(place / "out"), BECOME_NOBODY, {})
        if "totals" not in answer and not REQUIRED:
            pytest.skip(f"ordinary users may not emulate here: {answer}")
        assert answer["totals"]["links"][0]["forwarded"] > 300, answer
        assert pl.read_parquet(place / "out" / "flows.parquet").height == 1


def children() -> list[int]:
    """Processes that emulate."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and b"parshall.instruments.emulation.child" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def a_minute_of_emulation(folder: Path) -> list[str]:
    path = folder / "long.toml"
    path.write_text(scenario(BULK, seconds=60).toml(), encoding="utf-8")
    return [sys.executable, "-m", "parshall", "emulate", str(path), "-o", str(folder / "run"), "--quiet"]


@pytest.mark.gate
@on_the_kernel
def test_nothing_is_left_of_a_run_that_is_killed(tmp_path: Path) -> None:
    before = set(children())
    command = a_minute_of_emulation(tmp_path)
    with subprocess.Popen(command) as run:
        assert eventually(lambda: set(children()) - before), "it began"
        time.sleep(1.0)
        run.send_signal(signal.SIGKILL)
    assert eventually(lambda: not set(children()) - before), "the namespaces go with their process"
    assert not (tmp_path / "run" / "run.json").exists()


@on_the_kernel
def test_an_interruption_stops_it_at_once(tmp_path: Path) -> None:
    before = set(children())
    command = a_minute_of_emulation(tmp_path)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert eventually(lambda: set(children()) - before)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=20)
    assert run.returncode == 130
    assert said.count("interrupted") == 1
    assert "Traceback" not in said
    assert eventually(lambda: not set(children()) - before)


@on_the_kernel
def test_emulations_take_turns() -> None:
    given = json.dumps(emulated(scenario(BULK, seconds=1)))
    waiting, said = Monitor(), Mock()
    with turn(Monitor()), ThreadPoolExecutor(1) as pool, tempfile.TemporaryDirectory() as place:
        second = pool.submit(repetition, given, 0, Path(place), waiting, None, waits=said)
        time.sleep(0.5)
        assert not said.called, "so short a wait is not worth a word"
        time.sleep(1.0)
        assert not second.done(), "it waits"
        assert said.call_count == 1
        waiting.cancel()
        with pytest.raises(Interrupted):
            second.result(timeout=10)


@on_the_kernel
@pytest.mark.parametrize(("arguments", "lines"), [([], 1), (["--quiet"], 0), (["--json"], 0)])
def test_a_command_that_waits_for_its_turn_says_so(tmp_path: Path, arguments: list[str], lines: int) -> None:
    path = tmp_path / "short.toml"
    path.write_text(scenario(BULK, seconds=1).toml(), encoding="utf-8")
    command = [sys.executable, "-m", "parshall", "emulate", str(path), "-o", str(tmp_path / "run"), "--accept-invalid"]
    said = tmp_path / "said"
    waits = "another emulation is under way"
    with turn(Monitor()), said.open("wb") as errors:
        child = subprocess.Popen([*command, "--no-page", *arguments], stdout=subprocess.DEVNULL, stderr=errors)
        if lines:
            assert eventually(lambda: waits in said.read_text(encoding="utf-8"))
        else:
            time.sleep(4)
        assert child.poll() is None, "it waits"
    assert child.wait(timeout=60) == 0
    assert said.read_text(encoding="utf-8").count(waits) == lines


@on_the_kernel
def test_an_emulation_that_is_told_so_does_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(scenario(BULK, seconds=0.5).toml(), encoding="utf-8")
    command = ["emulate", str(path), "-o", str(tmp_path / "run"), "--no-page", "--at-once", "--accept-invalid", "-q"]
    with turn(Monitor()):
        done = CliRunner().invoke(application(["emulate"]), command)
    assert done.exit_code == 0, done.stderr


def held_by_somebody() -> str:
    """Whose turn it is, told by waiting for it no longer than it takes to look."""
    found: list[str] = []
    monitor = Monitor()
    monitor.cancel()
    try:
        with turn(monitor):
            found.append("mine")
    except Interrupted:
        found.append("another's")
    return found[0]


@pytest.mark.skipif(sys.platform != "linux", reason="emulations are of Linux")
@pytest.mark.parametrize(("at_once", "said"), [(True, "mine"), (False, "another's")])
def test_what_a_worker_calls_waits_for_its_turn_unless_it_is_told_otherwise(
    at_once: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "FAMILY", f"\0parshall/tests/{uuid.uuid4()}/")
    with turn(Monitor()):
        assert execute(Call("held", Function(held_by_somebody), at_once=at_once)) == Returned("held", said)
    assert execute(Call("free", Function(held_by_somebody))) == Returned("free", "mine")


@on_the_kernel
def test_a_sweep_emulates_as_many_at_a_time_as_it_is_told(tmp_path: Path) -> None:
    """While this test holds the turn: it would wait for ever."""
    document = {"duration": "1 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": [BULK]}
    plan = ps.Plan(name="both", scenario=document, repetitions=2, instrument="emulate", accept_invalid=True)
    with turn(Monitor()):
        made = ps.sweep(plan, tmp_path / "store", workers=2, at_once=True)
    assert (made.record.runs, made.record.failed) == (2, {})


def with_turn(code: str, folder: Path, *, as_nobody: bool) -> subprocess.Popen[str]:
    """Python that takes its turn, with its own folder for temporary files, and of root as another user."""
    imports = "import os\nfrom parshall.instruments.emulation.turns import turn\n"
    imports += "from parshall.instruments.simulation.single import Monitor\n"
    gives_up = "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
    return subprocess.Popen(
        [sys.executable, "-c", imports + (gives_up if as_nobody and os.getuid() == 0 else "") + code],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="emulations are of Linux")
@pytest.mark.parametrize("nobody_first", [True, False])
def test_users_with_other_temporary_folders_wait_for_each_other(tmp_path: Path, nobody_first: bool) -> None:
    says = "lambda _: print('waits', flush=True)"
    code = f"with turn(Monitor(), {says}):\n    print('holds', flush=True); input()\n"
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    with (
        with_turn(code, tmp_path / "one", as_nobody=nobody_first) as first,
        turn_is_held(first),
        with_turn(code, tmp_path / "other", as_nobody=not nobody_first) as second,
    ):
        assert second.stdout is not None
        assert second.stdout.readline() == "waits\n"
        first.kill()  # it gives up its turn however it ends
        assert second.stdout.readline() == "holds\n"
        second.kill()


@contextmanager
def turn_is_held(process: subprocess.Popen[str]) -> Iterator[None]:
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    yield


@on_the_kernel
@pytest.mark.parametrize("size", [100, 65530])
def test_packets_that_hosts_cannot_send_are_refused_by_the_scenarios_key(tmp_path: Path, size: int) -> None:
    path = tmp_path / "short.toml"
    path.write_text(scenario({**BULK, "packet_size": f"{size} B"}, seconds=1).toml(), encoding="utf-8")
    done = CliRunner().invoke(application(["emulate"]), ["emulate", str(path), "-o", str(tmp_path / "run")])
    assert done.exit_code == 2
    found = f"flows.0.packet_size: found {size} bytes; hosts of an emulation send packets of 128 to 65521 bytes"
    assert found in done.stderr
    assert not (tmp_path / "run").exists()
    simulated = scenario(BULK, {**BULK, "packet_size": f"{size} B", "endpoint": "simulated"})
    assert emulated(simulated)["flows"][1]["packet_bytes"] == size, "no host sends them"


def test_a_machine_that_permits_no_emulation_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    able = {
        "administrator": False,
        "user_namespaces": True,
        "tun_problem": "cannot open /dev/net/tun: Permission denied; let users open the device",
        "congestion_controls": [],
        "real_time_priority": 0,
        "bpf_controls": [],
        "open_files": 1024,
        "may_begin": False,
    }
    monkeypatch.setattr(_core, "emulation_abilities", lambda: json.dumps(able))
    path = tmp_path / "short.toml"
    path.write_text(scenario(BULK).toml(), encoding="utf-8")
    done = CliRunner().invoke(application(["emulate"]), ["emulate", str(path), "-o", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert done.stderr.startswith("parshall: this machine cannot emulate: cannot open /dev/net/tun: ")
    assert not (tmp_path / "run").exists()


@on_the_kernel
def test_what_the_kernel_lacks_is_named_with_what_it_has() -> None:
    with pytest.raises(ps.ScenarioError) as refused:
        ps.emulate(scenario({**BULK, "congestion_control": "copa"}))
    (problem,) = refused.value.problems
    assert problem.startswith('flows.0.congestion_control: found "copa"; this kernel has ')
    assert "reno" in problem
    assert 'endpoint = "simulated"' in problem


@needs_the_kernel
@pytest.mark.parametrize(
    ("control", "key", "found"),
    [
        (
            {"name": "reno", "decrease": 0.8},
            "decrease",
            "found 0.8; the kernel's reno takes no parameters, and is as with 0.5",
        ),
        ({"name": "cubic", "fast_convergence": False}, "fast_convergence", "found false; the kernel's cubic"),
    ],
)
def test_parameters_that_a_kernels_control_does_not_have_are_refused(
    control: dict[str, Any], key: str, found: str
) -> None:
    with pytest.raises(ps.ScenarioError) as refused:
        emulated(scenario({**BULK, "congestion_control": control}))
    (problem,) = refused.value.problems
    assert problem.startswith(f"flows.0.congestion_control.{key}: {found}")
    assert 'endpoint = "simulated"' in problem
    emulated(scenario({**BULK, "congestion_control": {"name": control["name"]}}))
    emulated(scenario(BULK, {**BULK, "congestion_control": control, "endpoint": "simulated"}))


@on_the_kernel
def test_logs_that_real_hosts_do_not_write_are_refused() -> None:
    with pytest.raises(ps.ScenarioError, match=r"probes\.qlog: "):
        ps.emulate(scenario(BULK, probes={"qlog": True}))


def test_a_scenario_without_real_hosts_is_no_emulation() -> None:
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    with pytest.raises(ps.ScenarioError, match='each of them has endpoint = "simulated"'):
        ps.emulate(scenario({**BULK, "endpoint": "simulated"}))


def test_keys_that_the_kernel_decides_are_named() -> None:
    given = scenario({**BULK, "delayed_ack": "40 ms", "initial_window": "4 packets"}, BULK)
    assert left_to_the_kernel(given) == ["flows.0: the kernel decides for itself about delayed_ack"]


def test_a_run_is_as_good_as_its_worst_repetition() -> None:
    def finding(level: str, reason: str) -> dict[str, str]:
        return {"level": level, "reason": reason, "remedy": "wait"}

    def bias(rtt_bias_s: float | None) -> dict[str, float | None]:
        return {"rtt_bias_s": rtt_bias_s}

    totals = [
        {"emulation": {"level": "valid", "findings": [finding("valid", "no priority")], "emulator": bias(100e-6)}},
        {
            "emulation": {
                "level": "invalid",
                "findings": [finding("invalid", "late"), finding("valid", "no priority")],
                "emulator": {**bias(300e-6), "lateness_p99_s": 2e-3},
            }
        },
        {"emulation": {"level": "valid", "findings": [], "emulator": bias(None)}},
    ]
    (judged,) = described(totals).values()
    assert judged.pop("rtt_bias_s") == pytest.approx(200e-6)
    measured = judged.pop("measured")
    assert (measured["repetition"], measured["lateness_p99_s"], measured["steal"]) == (1, 2e-3, None)
    assert judged == {"level": "invalid", "reasons": ["late; wait", "no priority; wait"]}


def test_of_repetitions_of_a_level_the_latest_is_the_worst() -> None:
    def repetition(late_s: float) -> dict[str, Any]:
        return {"emulation": {"level": "valid", "findings": [], "emulator": {"lateness_p99_s": late_s}}}

    measured = described([repetition(50e-6), repetition(90e-6), repetition(70e-6)])["emulation"]["measured"]
    assert (measured["repetition"], measured["lateness_p99_s"]) == (1, 90e-6)


@on_the_kernel
def test_the_command_line_says_how_far_to_believe_it(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(scenario(BULK, seconds=1.5).toml(), encoding="utf-8")
    arguments = ["emulate", str(path), "-o", str(tmp_path / "run"), "--accept-invalid"]
    done = CliRunner().invoke(application(["emulate", "run"]), [*arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["instrument"] == "emulate"
    assert said["emulation"]["level"] in {"valid", "doubtful", "invalid"}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"the emulation is {said['emulation']['level']}" in page
    assert "Predicted and emulated" in page
    bias_s = said["emulation"]["rtt_bias_s"]
    assert 10e-6 < bias_s < 10e-3
    assert "longer than those of the network, which is not corrected" in page
    run = ps.load(tmp_path / "run")
    assert isinstance(run, ps.Run)
    answer_s = run.totals[0]["emulation"]["emulator"]["answer_p99_s"]
    assert 1e-6 < answer_s < 1, "the hosts answered the echoes that they were asked for"
    measured = said["emulation"]["measured"]
    assert measured["answer_p99_s"] == answer_s
    assert 0 < measured["lateness_p50_s"] <= measured["lateness_p99_s"] <= measured["lateness_max_s"]
    assert 0 < measured["emulator_cpu_s"] < measured["wall_s"]
    assert measured["senders_cpu_s"] > 0
    assert "Lateness that 99 % did not exceed" in page


@pytest.mark.gate
@on_the_kernel
def test_predicted_simulated_and_emulated_stand_side_by_side(tmp_path: Path) -> None:
    path, made = tmp_path / "short.toml", tmp_path / "run"
    path.write_text(scenario(BULK, seconds=2, warm_up="500 ms").toml(), encoding="utf-8")
    command = ["run", str(path), "-o", str(made), "--also", "emulate", "--accept-invalid"]
    done = CliRunner().invoke(application(["run"]), [*command, "--json"])
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["simulated"]["instrument"], said["emulated"]["instrument"]) == ("simulate", "emulate")
    assert said["predicted"]["throughput"]
    compared = said["compared"]
    assert [each["name"] for each in compared["results"]] == ["simulated", "predicted", "emulated"]
    assert compared["results"][2]["emulation"]["level"] == said["emulated"]["emulation"]["level"]
    (goodput,) = (each for each in compared["metrics"] if each["key"] == "goodput_bps")
    simulated, predicted, emulation = (each.get("mean", each.get("value")) for each in goodput["intervals"])
    assert [each.get("kind") for each in goodput["intervals"]] == [None, "range", None]
    assert simulated == said["simulated"]["goodput_bps"]
    assert emulation == said["emulated"]["goodput_bps"]
    assert predicted == pytest.approx(9.7e6, rel=0.05), "the link is full"
    differences = [each["difference"].get("mean", each["difference"].get("value")) for each in goodput["differences"]]
    assert differences == pytest.approx([predicted - simulated, emulation - simulated])
    page = (made / "compared.html").read_text(encoding="utf-8")
    assert "<h1>simulated, predicted, emulated</h1>" in page
    assert f"C: real Linux TCP; the emulation is {said['emulated']['emulation']['level']}." in page
    assert {each.name for each in tmp_path.iterdir()} == {"short.toml", "run", "run-emulated"}
    told = CliRunner().invoke(application(["run"]), [*command, "--force"])
    assert told.exit_code == 0, told.stderr
    assert "A: simulated   B: predicted   C: emulated" in told.stdout


@on_the_kernel
def test_each_verb_that_emulates_ends_with_3_where_it_cannot_be_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invalid = Validity("invalid", ["packets were late; have fewer flows"])
    monkeypatch.setattr("parshall.instruments.emulation.emulating.verdict_of", lambda _: invalid)
    path, first = tmp_path / "short.toml", str(tmp_path / "first")
    path.write_text(scenario(BULK, seconds=0.5).toml(), encoding="utf-8")
    both = tmp_path / "both"
    for number, command in enumerate(
        (
            ["emulate", str(path), "-o", first],
            ["rerun", first, "-o", str(tmp_path / "again")],
            ["run", str(path), "-o", str(both), "--also", "emulate"],
        )
    ):
        done = CliRunner().invoke(application(["emulate", "rerun", "run"]), [*command, "--json"])
        assert done.exit_code == 3, done.stderr
        assert "the emulation is invalid: packets were late" in done.stderr
        said = json.loads(done.stdout)
        assert (said["emulated"] if number == 2 else said)["emulation"]["level"] == "invalid"
        accepted = CliRunner().invoke(
            application(["emulate", "rerun", "run"]), [*command, "--force", "--accept-invalid", "-q"]
        )
        assert accepted.exit_code == 0, accepted.stderr
    assert said["compared"] is None
    assert (both / "compared.html").exists(), "written when it was accepted"


# --- against what can be computed (benches/emulation.py has more of it) ---


def replayed(given: ps.Scenario) -> dict[str, Any]:
    """Emulates, hands what came from the hosts once more into the network, and compares, in a process of its own."""
    code = (
        "import sys; from parshall import _core; print(_core.emulate_and_replay(sys.stdin.read(), 0, _core.Monitor()))"
    )
    order = json.dumps(emulated(given))
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, input=order, capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 0, said.stderr
    answer: dict[str, Any] = json.loads(said.stdout)["replayed"]
    return answer


@on_the_kernel
@pytest.mark.parametrize(
    "queue",
    [
        {"name": "red", "min_threshold": "10 packets", "max_threshold": "40 packets", "ecn": True},
        {"name": "codel", "ecn": True},
        {"name": "rio"},
    ],
    ids=lambda queue: queue["name"],
)
def test_a_replay_of_what_came_meets_the_same_decisions(queue: dict[str, Any]) -> None:
    """The emulator steps the network a look at a time, the replay from packet to packet."""
    ecn = queue.get("ecn", False)
    flows = {**BULK, "count": 5, "ecn": ecn, "marker": {"name": "token_bucket", "rate": "1 Mbit/s", "burst": "9 kB"}}
    given = scenario(flows, bottleneck={"rate": "20 Mbit/s", "queue": queue})
    counts = replayed(given)
    assert counts["packets"] > 3000
    assert counts["marked" if ecn else "lost"] > 0, "the queue had something to decide"
    assert counts["different"] == 0, counts


RIO = {
    "name": "rio",
    "limit": "100 packets",
    "in_min": "30 packets",
    "in_max": "60 packets",
    "in_probability": 0.02,
    "out_min": "5 packets",
    "out_max": "30 packets",
    "out_probability": 0.1,
}


@on_the_kernel
@pytest.mark.parametrize(
    "queue",
    [
        {"name": "red", "limit": "100 packets", "min_threshold": "10 packets", "max_threshold": "40 packets"},
        {"name": "codel", "limit": "200 packets"},
        {**RIO, "in_length": "in", "out_length": "total", "averaging": 0.002},
        {**RIO, "in_length": "total", "out_length": "total", "averaging": "instantaneous"},
    ],
    ids=["red", "codel", "rio, averaged", "rio, instantaneous"],
)
def test_tens_of_thousands_of_packets_meet_the_same_decisions(queue: dict[str, Any]) -> None:
    """Averages, counts since the last drop, control laws go on for 40,000 packets of ten flows, half in profile."""
    marker = {"name": "token_bucket", "rate": "2.5 Mbit/s", "burst": "20 packets"}
    flows = {**BULK, "count": 10, "rtt": {"first": "10 ms", "step": "5 ms"}, "marker": marker}
    counts = replayed(scenario(flows, seconds=10, bottleneck={"rate": "50 Mbit/s", "queue": queue}))
    assert counts["packets"] > 35_000
    assert counts["lost"] > 200, "the queue had something to decide"
    assert counts["different"] == 0, counts


@on_the_kernel
def test_a_gigabit_of_datagrams_a_second_keeps_its_rate() -> None:
    sender = {"rtt": "10 ms", "workload": {"name": "cbr", "rate": "1 Gbit/s"}}
    queue = {"name": "drop_tail", "limit": "1000 packets"}
    made = ps.emulate(scenario(sender, seconds=9, warm_up="1 s", bottleneck={"rate": "2 Gbit/s", "queue": queue}))
    judged = validity(made)
    assert judged is not None
    if judged.level != "valid":
        pytest.skip(f"this machine is too busy: {judged}")
    assert made.links["arrivals_bytes"][0] * 8 / 8 == pytest.approx(1e9, rel=0.001)


@on_the_kernel
def test_random_losses_are_as_many_as_the_scenario_says() -> None:
    probability = 0.02
    loss = {"name": "bernoulli", "probability": probability}
    sender = {"rtt": "20 ms", "workload": {"name": "cbr", "rate": "20 Mbit/s"}}
    made = ps.emulate(scenario(sender, seconds=4, warm_up="1 s", bottleneck={"rate": "100 Mbit/s", "loss": loss}))
    link = made.links.row(0, named=True)
    arrivals = link["arrivals_packets"]
    assert arrivals == pytest.approx(3 * 20e6 / 12_000, rel=0.02)
    error = (probability * (1 - probability) / arrivals) ** 0.5
    assert link["medium_losses_packets"] / arrivals == pytest.approx(probability, abs=4 * error)
    assert made.flows["loss_rate"][0] == pytest.approx(link["medium_losses_packets"] / arrivals, rel=0.01)


# --- whatever process is killed, at whatever moment, nothing is left ---

MOMENTS = 30
LONGEST_S = 2.5
"""From the start of either process past the end of the run, which lasts a second."""

AT_A_TIME = 3
MARK = "PARSHALL_TEST_MARK"


def marked(mark: str) -> list[int]:
    """Processes that have this mark in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def namespaces(processes: list[int]) -> set[str]:
    """Network namespaces of their threads, but for the one of this test."""
    found = set()
    for process in processes:
        for thread in Path("/proc").glob(f"{process}/task/*/ns/net"):
            try:
                found.add(str(thread.readlink()))
            except OSError:
                continue
    return found - {str(Path("/proc/self/ns/net").readlink())}


def held(wanted: set[str]) -> set[str]:
    """Those of some network namespaces that a thread is in, a file is open on, or a mount keeps."""
    found = {name for name in wanted if name in Path("/proc/self/mountinfo").read_text(encoding="utf-8")}
    for link in (*Path("/proc").glob("[0-9]*/task/*/ns/net"), *Path("/proc").glob("[0-9]*/fd/*")):
        try:
            name = str(link.readlink())
        except OSError:
            continue
        if name in wanted:
            found.add(name)
    return found


def kill_at(place: Path, moment_s: float, which: str, *, of_child: bool) -> tuple[str, set[str]]:
    """Emulates, kills the parent or the child so long after the parent's start, or the child's, and sees what is left.

    How it ended, and the namespaces that there were.
    """
    place.mkdir()
    path, directory, mark = place / "scenario.toml", place / "run", uuid.uuid4().hex
    path.write_text(scenario({**BULK, "count": 20}, seconds=1).toml(), encoding="utf-8")
    command = [sys.executable, "-m", "parshall", "emulate", str(path), "-o", str(directory), "--quiet"]
    environment = {**os.environ, MARK: mark, "TMPDIR": str(place)}  # the lock by which emulations take turns is there
    with subprocess.Popen(
        [*command, "--accept-invalid"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as parent:
        if of_child:
            assert eventually(lambda: len(marked(mark)) > 1 or parent.poll() is not None, within_s=60)
        time.sleep(moment_s)
        processes = marked(mark)
        there = namespaces(processes)
        victims = [parent.pid] if which == "parent" else [number for number in processes if number != parent.pid]
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
        ended = parent.wait(timeout=30)
    assert eventually(lambda: not marked(mark)), f"processes are left: {marked(mark)}"
    assert eventually(lambda: not held(there)), f"namespaces are left: {held(there)}"
    if (directory / "run.json").exists():
        assert ps.load(directory).metadata["status"] == "complete", "what can be read is whole"
    elif which == "child" and victims:
        assert ended == 1, "the command says that it failed"
        assert not directory.exists(), "and takes back what it began"
    return f"{which} at {moment_s:.2f} s: {ended}", there


@on_the_kernel
@pytest.mark.parametrize("seed", [19])
def test_nothing_is_left_whatever_is_killed_and_when(tmp_path: Path, seed: int) -> None:
    """Half-written runs: a directory without ``run.json`` is none (parshall.results.records.storage)."""
    drawn = random.Random(seed)
    cases = [(drawn.uniform(0.0, LONGEST_S), drawn.choice(["parent", "child"])) for _ in range(MOMENTS)]
    devices = sorted(Path("/sys/class/net").iterdir())
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        killed = [
            pool.submit(kill_at, tmp_path / str(number), *case, of_child=number % 3 > 0)
            for number, case in enumerate(cases)
        ]
        ends = [each.result() for each in killed]
    assert sorted(Path("/sys/class/net").iterdir()) == devices, "devices were in the namespaces"
    assert any(there for _, there in ends), f"no moment was while hosts were there: {[said for said, _ in ends]}"


@on_the_kernel
def test_applications_of_hosts_draw_what_simulated_ones_draw() -> None:
    """Sizes and starts, of the same seed: what pairs an emulation with a simulation."""
    workload = {
        "name": "on_off",
        "size": {"name": "pareto", "mean": "20 kB", "tail_index": 1.5},
        "off": {"name": "constant", "value": "20 ms"},
    }
    given = scenario({**BULK, "count": 3, "start": {"uniform": "200 ms"}, "workload": workload})
    sizes, starts = [], []
    for run in (ps.run(given, workers=1), ps.emulate(given)):
        transfers = run.transfers
        assert transfers is not None
        first = transfers.filter(pl.col("transfer") < 3).sort("flow", "transfer")
        sizes.append(first["size_bytes"].to_list())
        starts.append(first.filter(pl.col("transfer") == 0)["start_s"].to_list())
    assert sizes[0] == sizes[1]
    assert len(set(sizes[0])) == 9
    assert starts[1] == pytest.approx(starts[0], abs=1e-6)
