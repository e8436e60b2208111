"""Congestion controls in the kernel by BPF, and recordings of calls; skipped, with the reason, where it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from emulations import BECOME_NOBODY, BULK, ON_THE_KERNEL, REQUIRED, WHY_NOT, answer_of_a_child, eventually, scenario

import parshall as ps
from parshall.foundations.debian import find
from parshall.foundations.errors import InputError, NoEmulationError, ScenarioError
from parshall.instruments.emulation import abilities, validity
from parshall.instruments.emulation.process import CALLS_FILE
from parshall.instruments.replaying import Replay

BPF = Path(__file__).parents[2] / "bpf"


CLANG = find("clang")
SET_STATE, RECOVERY = 5, 3
"""Of the calls that are recorded (crates/replay/src/call.rs), and of the states of a connection (`TCP_CA_Recovery`)."""


def why_not() -> str | None:
    """Why the kernel takes no BPF programs, where clang has built some."""
    there = CLANG is None or REQUIRED or WHY_NOT or abilities().bpf_controls
    return None if there else "no rights to load BPF programs, or no libbpf, or built without clang"


pytestmark = [
    *ON_THE_KERNEL,
    pytest.mark.needs("clang", "bpf_helpers.h", "libbpf.so.1"),
    pytest.mark.skipif(why_not() is not None, reason=f"{why_not()}"),
]


def calls(run: ps.Run) -> Path:
    return Path(run.place) / "repetitions" / "0000" / CALLS_FILE


def available() -> list[str]:
    return abilities().congestion_controls


@pytest.mark.gate
def test_calls_are_recorded_with_the_state_around_them(tmp_path: Path) -> None:
    before = available()
    flows = [{**BULK, "congestion_control": control} for control in ("reno", "cubic", "bbr")]
    made = ps.emulate(scenario(*flows), tmp_path / "run", record_controls=True)
    assert made.metadata["recording"]["dropped"] == 0
    table = pl.read_csv(calls(made), comment_prefix="#")
    assert table.height == made.metadata["recording"]["calls"] > 1000
    assert set(table["control"]) == {"reno", "cubic", "bbr"}
    assert set(table["flow"]) == {0, 1, 2}
    assert table["time_ns"].max() < 3.2e9  # type: ignore[operator]
    of_reno = table.filter((pl.col("control") == "reno") & (pl.col("kind") == 2))  # ssthresh
    assert (of_reno["returned"] == pl.Series((of_reno["cwnd"] // 2).clip(2))).all()
    assert ps.replay(calls(made), "reno", recorded="reno").calls > 100
    assert available() == before, "nothing stays in the kernel"


@pytest.mark.gate
def test_nothing_stays_after_sigkill(tmp_path: Path) -> None:
    before = available()
    file = tmp_path / "s.toml"
    file.write_text(
        'duration = "60 s"\n[bottleneck]\nrate = "10 Mbit/s"\n[[flows]]\nrtt = "20 ms"\ncongestion_control = "cubic"\n'
    )
    command = [sys.executable, "-m", "parshall", "emulate", str(file), "-o", str(tmp_path / "run"), "--record-controls"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        assert eventually(lambda: any(name.startswith("cubic_") for name in available()))
        running.send_signal(signal.SIGKILL)
    assert eventually(lambda: available() == before)


def test_recoveries_that_follow_each_other_are_counted_each(tmp_path: Path) -> None:
    """As often as the kernel's calls say, but for a fifth that readings a quarter of a round trip apart may miss."""
    queue = {"name": "drop_tail", "limit": "20 packets"}
    flows = [{"name": name, "rtt": "100 ms", "congestion_control": "bbr"} for name in "abc"]
    given = scenario(*flows, seconds=8, bottleneck={"rate": "10 Mbit/s", "queue": queue})
    made = ps.emulate(given, tmp_path / "run", record_controls=True)
    table = pl.read_csv(calls(made), comment_prefix="#").filter(kind=SET_STATE, argument=RECOVERY)
    assert table.height > 30
    assert 0.8 * table.height <= made.flows["loss_events"].sum() <= table.height


@pytest.mark.parametrize(
    "control",
    [
        *("bic", "highspeed", "scalable", "htcp", "vegas", "westwood", "cubic_2005"),
        {"name": "cubic_2005", "scaling_error": True},
    ],
    ids=str,
)
def test_the_kernel_has_our_controls_for_a_run(control: str | dict[str, Any], tmp_path: Path) -> None:
    """Each fills the link, and each is that of the simulator: within a packet at 97 % of the calls."""
    given = scenario({**BULK, "rtt": "40 ms", "congestion_control": control}, seconds=6)
    made = ps.emulate(given, tmp_path / "run", record_controls=True)
    assert made.flows["goodput_bps"][0] > 7e6
    assert made.flows["congestion_control"][0] == (control if isinstance(control, str) else control["name"])
    replayed = ps.replay(calls(made), control)
    windows = next(each for each in replayed.compared if each.quantity == "cwnd")
    assert windows.calls > 1000
    assert windows.within > 0.97 * windows.calls, replayed.causes


def test_groups_with_the_kernels_cubic_have_its_hystart_or_not(tmp_path: Path) -> None:
    """Each alone at first: the windows are those of the simulator, slow start ends or not; then beside each other."""
    without = {"name": "cubic_linux", "hystart": False}
    flows = [
        {**BULK, "rtt": "40 ms", "congestion_control": control, "start": start}
        for control, start in (("cubic_linux", "0 s"), (without, "2.5 s"))
    ]
    for flow in flows:
        alone = scenario({**flow, "start": "0 s"}, seconds=3)
        made = ps.emulate(alone, tmp_path / "alone", record_controls=True, overwrite=True)
        replayed = ps.replay(calls(made), flow["congestion_control"])
        windows = next(each for each in replayed.compared if each.quantity == "cwnd")
        assert windows.calls > 500
        assert windows.within == windows.calls, replayed.causes
        losses = made.flows["retransmissions"][0]
        assert (losses > 50) == (flow is flows[1]), "slow start that nothing ends overshoots by the window"
    both = ps.emulate(scenario(*flows, seconds=4), tmp_path / "both", record_controls=True)
    assert set(both.flows["congestion_control"]) == {"cubic_linux"}
    assert both.metadata["recording"]["dropped"] == 0


def test_many_flows_have_windows_that_make_sense_or_the_run_is_invalid() -> None:
    """A kernel may leave out calls of programs, where there are many flows (docs/emulation.md)."""
    flows = {**BULK, "rtt": "30 ms", "count": 40, "congestion_control": "bic"}
    made = ps.emulate(scenario(flows, rate="50 Mbit/s", seconds=6))
    assert made.flows["retransmissions"].sum() > 1000
    judged = validity(made)
    assert judged is not None
    if any("congestion window" in reason for reason in judged.reasons):
        assert judged.level == "invalid"
    else:
        assert made.flows["mean_cwnd_packets"].max() < 2**22  # type: ignore[operator]


STEERED = {"name": "multiple_time_scale", "interval": "200 ms"}


def shares(replayed: Replay) -> dict[str, float]:
    """Of the calls, those after which a quantity is that of the simulator's control."""
    assert all(each.calls > 200 for each in replayed.compared)
    return {each.quantity: each.within / each.calls for each in replayed.compared}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"schedule": "threshold", "threshold": 3.0, "quantiser": "running_range", "levels": 6},
        {"schedule": "generalised", "slopes": [8, 6, 4, 3, 2, 1, 1, 1], "quantiser": "fixed_range", "peak": 1000},
        {"schedule": "inverse", "memory": 10, "learning": "1 s", "conservativeness": 0.5},
    ],
)
def test_the_kernel_is_steered_as_the_simulator_is(parameters: dict[str, Any], tmp_path: Path) -> None:
    """Whatever it is told: the same slopes, but for single intervals, and the windows that follow from them."""
    control = {**STEERED, **parameters}
    given = scenario({**BULK, "rtt": "40 ms", "congestion_control": control}, seconds=6)
    made = ps.emulate(given, tmp_path / "run", record_controls=True)
    assert made.flows["goodput_bps"][0] > 7e6
    within = shares(ps.replay(calls(made), control))
    assert within["slope"] > 0.85
    assert within["cwnd"] > 0.97


@pytest.mark.parametrize("shared", ["flow", "group"])
def test_connections_to_a_destination_share_what_they_learn(shared: str, tmp_path: Path) -> None:
    """Transfers of half a second, one after another, of two flows: alone, none of them would see three intervals."""
    size = {"name": "constant", "value": "300 kB"}
    off = {"name": "constant", "value": "10 ms"}
    control = {**STEERED, "shared": shared}
    flow = {**BULK, "rtt": "40 ms", "count": 2, "congestion_control": control, "persistent": False}
    given = scenario({**flow, "workload": {"name": "on_off", "size": size, "off": off}}, seconds=6)
    made = ps.emulate(given, tmp_path / "run", record_controls=True)
    replayed = ps.replay(calls(made), control)
    assert replayed.connections > 8
    assert shares(replayed)["slope"] > 0.8
    alone = ps.replay(calls(made), STEERED)
    assert shares(alone)["slope"] < shares(replayed)["slope"], "who shares nothing has other slopes"


@pytest.mark.gate
def test_groups_are_steered_each_as_it_says(tmp_path: Path) -> None:
    flows = [{**BULK, "congestion_control": {**STEERED, "aggressiveness": largest}} for largest in (1, 1, 6)]
    made = ps.emulate(scenario(*flows), tmp_path / "run", record_controls=True)
    assert list(made.flows["congestion_control"]) == ["multiple_time_scale"] * 3
    slopes = pl.read_csv(calls(made), comment_prefix="#").group_by("control", "flow").agg(pl.max("inner_0"))
    by_flow = {flow: (control, slope) for control, flow, slope in slopes.iter_rows()}
    assert by_flow[0] == by_flow[1] == ("multiple_time_scale", 1024)
    assert by_flow[2][0] == "multiple_time_scale_2"
    assert by_flow[2][1] > 2048


def test_what_the_kernels_program_cannot_do_is_refused() -> None:
    refused = {**STEERED, "control": "cubic"}
    with pytest.raises(
        ScenarioError, match=r'flows\.0\.congestion_control\.control: found cubic; the kernel.s program steers "reno"'
    ):
        ps.emulate(scenario({**BULK, "congestion_control": refused}, seconds=1))
    with pytest.raises(
        ScenarioError, match=r"congestion_control\.s_max: found 64\.0; the kernel's bic takes no parameters"
    ):
        ps.emulate(scenario({**BULK, "congestion_control": {"name": "bic", "s_max": 64}}, seconds=1))
    refused = {"name": "cubic_linux", "reno_friendly": False}
    with pytest.raises(ScenarioError, match=r"congestion_control\.reno_friendly.*as its module is set"):
        ps.emulate(scenario({**BULK, "congestion_control": refused}, seconds=1))
    with pytest.raises(
        ScenarioError, match=r"flows\.0\.congestion_control\.levels: found 16; .* has room for 8 levels"
    ):
        ps.emulate(scenario({**BULK, "congestion_control": {**STEERED, "levels": 16}}, seconds=1))


@pytest.mark.gate
def test_a_control_of_ones_own_is_loaded(tmp_path: Path) -> None:
    assert CLANG is not None
    before = available()
    mine = tmp_path / "mine.bpf.o"
    source = BPF / "scalable.bpf.c"
    subprocess.run([CLANG, "--target=bpf", "-g", "-O2", "-c", str(source), "-o", str(mine)], check=True)
    ps.controls.declare({"mine_in_bpf": mine})
    given = scenario({**BULK, "congestion_control": "mine_in_bpf"}, seconds=1)
    made = ps.emulate(given, tmp_path / "run", record_controls=True)
    assert set(pl.read_csv(calls(made), comment_prefix="#")["control"]) == {"mine_in_bpf"}
    assert available() == before


def compiled(source: str, folder: Path) -> Path:
    """An object of clang, of a source that is beside those of Parshall."""
    assert CLANG is not None
    text, made = folder / "bad.bpf.c", folder / "bad.bpf.o"
    text.write_text(source, encoding="utf-8")
    command = [CLANG, "--target=bpf", "-g", "-O2", f"-I{BPF}", "-c", str(text), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def test_a_program_that_the_verifier_refuses_is_named_with_its_reason(tmp_path: Path) -> None:
    before = available()
    good = (BPF / "scalable.bpf.c").read_text(encoding="utf-8")
    bad = good.replace("u32 cwnd = tp->snd_cwnd;", "u32 cwnd = *(volatile u32 *)(unsigned long)tp->snd_cwnd;")
    assert bad != good, "a number is taken for an address"
    ps.controls.declare({"bad_in_bpf": compiled(bad, tmp_path)})
    with pytest.raises(NoEmulationError, match=r"cannot load .*bad\.bpf\.o(.|\n)*invalid mem access"):
        ps.emulate(scenario({**BULK, "congestion_control": "bad_in_bpf"}, seconds=1), tmp_path / "run")
    assert available() == before
    assert not (tmp_path / "run").exists()


def loaded_after(preparation: str) -> str:
    """Why an emulation with a control by BPF is not permitted to a process that was prepared so."""
    made = scenario({**BULK, "congestion_control": "bic"}, seconds=1)
    extras = {"programs": None, "controls": {"objects": {"bic": None}, "recording": None}}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        answered = answer_of_a_child(made, f"{folder}/out", preparation, extras)
    assert set(answered) == {"not_permitted"}, answered
    return str(answered["not_permitted"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_rights_to_bpf_is_told_so() -> None:
    said = loaded_after(BECOME_NOBODY)
    assert said.startswith("the kernel does not let this user load BPF programs; run it as root, or with CAP_BPF")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can hide a part of /sys")
def test_a_kernel_without_a_description_of_its_types_is_named() -> None:
    hides = (
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.unshare(0x20000) == 0  # CLONE_NEWNS\n"
        "assert libc.mount(b'none', b'/', None, 0x44000, None) == 0  # MS_REC | MS_PRIVATE\n"
        "assert libc.mount(b'none', b'/sys/kernel/btf', b'tmpfs', 0, None) == 0, ctypes.get_errno()"
    )
    said = loaded_after(hides)
    assert said.startswith("this kernel has no /sys/kernel/btf/vmlinux")
    assert "CONFIG_DEBUG_INFO_BTF" in said


def test_what_is_no_control_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.bpf.o"
    text.write_text("int main;")
    ps.controls.declare({"text_in_bpf": text})
    with pytest.raises(NoEmulationError, match=r"text\.bpf\.o: it is no ELF file; accepted: an object of clang"):
        ps.emulate(scenario({**BULK, "congestion_control": "text_in_bpf"}, seconds=1))
    with pytest.raises(InputError, match="No such file"):
        ps.controls.declare({"missing_in_bpf": tmp_path / "missing.bpf.o"})
