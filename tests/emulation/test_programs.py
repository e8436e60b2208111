"""Programs of your own in the network of a scenario, and sweeps of emulations."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from emulations import BULK, eventually, on_the_kernel, scenario

import parshall as ps
from parshall.campaign import Plan, sweep
from parshall.campaign.call import Call, Failed, Repetition
from parshall.campaign.work import execute
from parshall.foundations.errors import ClusterError, InputError
from parshall.instruments.emulation import process, run_programs, validity

# A server that counts what it gets, and a client that measures how long a connection and an answer take.
SERVER = """
import socket
listener = socket.create_server(("", 7000))
while True:
    connection, _ = listener.accept()
    got = 0
    while (data := connection.recv(65536)):
        got += len(data)
        if data.endswith(b"."):
            connection.sendall(b"%d" % got)
"""
CLIENT = """
import json, os, socket, sys, time
begin = time.monotonic()
connection = socket.create_connection((sys.argv[1], 7000))
opened = time.monotonic()
connection.sendall(b"x" * (int(sys.argv[2]) - 1) + b".")
said = int(connection.recv(100))
control = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\\0").decode()
print(json.dumps({"open_s": opened - begin, "all_s": time.monotonic() - begin, "got": said, "control": control,
                  "ends": [connection.getsockname()[0], connection.getpeername()[0]],
                  "environment": os.environ["PARSHALL_SERVER"]}))
"""


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


@pytest.mark.gate
@on_the_kernel
def test_a_client_and_a_server_meet_over_the_links(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = scenario({**BULK, "rtt": "60 ms", "name": "mine"}, {**BULK, "name": "other"}, seconds=30)
    made = run_programs(
        given, python(CLIENT, "{server}", "1500000"), tmp_path / "run", server=python(SERVER), flows="mine"
    )
    said = json.loads(capfd.readouterr().out)
    assert said["got"] == 1_500_000
    assert said["open_s"] == pytest.approx(0.060, abs=0.030), "a connection takes a round trip"
    assert said["all_s"] > 1.2, "12 Mbit at 10 Mbit/s, beside another flow"
    assert said["control"] == "cubic"
    assert said["ends"] == ["10.1.0.1", "10.2.0.1"]
    assert said["environment"] == "10.2.0.1"
    ended = made.metadata["programs"]
    assert (ended["group"], ended["client"]["status"], ended["server"]["status"]) == ("mine", 0, None)
    goodput = made.flows.filter(pl.col("group") == "mine")["goodput_bps"][0]
    with pytest.raises(InputError):
        made.quantity("group/mine/retransmitted")  # only its sockets know
    assert goodput * made.summary["simulated_s"] == pytest.approx(8 * 1_500_000, rel=0.01), "each byte once"
    assert made.summary["simulated_s"] == pytest.approx(said["all_s"], abs=1.0), "it ends with the client"
    sent = dict(made.flows.select("group", "packets_sent").iter_rows())
    assert sent["mine"] > 1_500_000 / 1448
    assert sent["other"] > 100
    assert validity(ps.load(tmp_path / "run")) is not None
    assert made.predicted == []
    assert "programs" in made.metadata["prediction_problem"]


@on_the_kernel
@pytest.mark.needs("ping")
def test_pings_take_as_long_as_the_scenario_says_and_the_stated_bias(capfd: pytest.CaptureFixture[str]) -> None:
    given = scenario({**BULK, "rtt": "20 ms"}, rate="1 Gbit/s", seconds=20)
    made = run_programs(given, ["ping", "-q", "-c", "200", "-i", "0.01", "{server}"])
    mean_ms = float(capfd.readouterr().out.rpartition("= ")[2].split("/")[1])
    judged = validity(made)
    assert judged is not None
    assert judged.rtt_bias_s is not None
    assert mean_ms > 20, "the network is never faster than the scenario's"
    assert mean_ms - 20 == pytest.approx(1e3 * judged.rtt_bias_s, rel=0.3, abs=0.1)


@on_the_kernel
def test_what_is_downloaded_takes_the_path_of_data(capfd: pytest.CaptureFixture[str]) -> None:
    flow = {**BULK, "congestion_control": "reno"}
    made = run_programs(
        scenario(flow, seconds=30), python(CLIENT, "{server}", "400000"), server=python(SERVER), download=True
    )
    said = json.loads(capfd.readouterr().out)
    assert said["ends"] == ["10.2.0.1", "10.1.0.1"]
    assert said["control"] == "reno"
    assert made.flows["packets_sent"][0] < 250, "the client sends; what crosses the links are the ACKs"


@on_the_kernel
@pytest.mark.needs("ps")
def test_a_program_that_does_not_end_is_ended_with_all_that_it_started() -> None:
    sleeper = "import subprocess, sys, time; subprocess.Popen(['sleep', '3333']); time.sleep(3333)"
    made = run_programs(scenario(BULK, seconds=1.5), python(sleeper))
    assert made.metadata["programs"]["client"]["status"] is None
    assert made.metadata["programs"]["server"] is None
    assert made.summary["simulated_s"] == pytest.approx(1.5)
    assert not sleepers()


def sleepers() -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.startswith("sleep 3333")]


@pytest.mark.gate
@on_the_kernel
@pytest.mark.needs("ps")
def test_nothing_is_left_of_programs_whose_emulation_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(scenario(BULK, seconds=60).toml(), encoding="utf-8")
    command = [sys.executable, "-m", "parshall", "shell", str(path), "-o", str(tmp_path / "run")]
    both = ["--server", "sh -c 'sleep 3333 & sleep 3333'", "--", "sh", "-c", "sleep 3333 & sleep 3333"]
    with subprocess.Popen([*command, *both]) as run:
        assert eventually(lambda: len(sleepers()) == 4, within_s=30)
        run.send_signal(signal.SIGKILL)
    assert eventually(lambda: not sleepers())


@on_the_kernel
def test_the_shell_ends_as_its_program_does(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(scenario(BULK, seconds=2).toml(), encoding="utf-8")

    def ended(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "parshall", "shell", str(path), "-o", str(tmp_path / "run"), "--force"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stderr

    assert ended("--no-page", "--accept-invalid", "--", "true")[0] == 0
    assert ended("--no-page", "--", "sh", "-c", "exit 7")[0] == 7
    status, said = ended("--no-page", "--", "sleep", "30")
    assert status == 124, said
    assert "the scenario's 2 s were over" in said
    assert ended("--accept-invalid", "--", "true")[0] == 0
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "true at the sending end" in page
    assert "always with data to send" not in page
    assert "of no operating system" not in page, "it is one's"
    status, said = ended("--", "no-such-program")
    assert (status, "no-such-program" in said) == (2, True)
    status, said = ended("--flows", "nobody", "--", "true")
    assert (status, '"flows0"' in said) == (2, True)
    status, said = ended("--server", "false", "--", "true")
    assert status == 1
    assert "ended before it listened" in said


@on_the_kernel
@pytest.mark.needs("pgrep")
def test_an_interruption_is_for_the_program_and_the_records_stay(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(scenario(BULK, seconds=60).toml(), encoding="utf-8")
    command = [sys.executable, "-m", "parshall", "shell", str(path), "-o", str(tmp_path / "run"), "--no-page"]
    with subprocess.Popen([*command, "--", "sleep", "3334"], start_new_session=True, stderr=subprocess.PIPE) as run:
        listed = ["pgrep", "-f", "^sleep 3334"]
        assert eventually(lambda: subprocess.run(listed, capture_output=True, check=False).returncode == 0)
        time.sleep(0.5)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        run.communicate(timeout=30)
    assert run.returncode == 130
    assert ps.load(tmp_path / "run").metadata["programs"]["client"]["status"] == 130


@on_the_kernel
def test_programs_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="no-such-program"):
        run_programs(scenario(BULK), ["no-such-program"])
    with pytest.raises(InputError, match="found 'nobody'; accepted: \"flows0\""):
        run_programs(scenario(BULK), ["true"], flows="nobody")


# --- sweeps of emulations ---


@pytest.mark.gate
@on_the_kernel
def test_a_sweep_of_emulations_goes_on_where_it_was(tmp_path: Path) -> None:
    plan = Plan(
        scenario=scenario(BULK, seconds=1.2),
        parameters={"bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]},
        repetitions=2,
        instrument="emulate",
        accept_invalid=True,
    )
    begun = time.monotonic()
    made = sweep(plan, tmp_path / "store")
    assert made.record.status == "complete", made.record.failed
    assert time.monotonic() - begun > 4 * 1.2, "in real time, one after another"
    assert made.runs["validity"].is_in(["valid", "doubtful", "invalid"]).all()
    goodput = made.points["goodput_bps"].to_list()
    assert goodput[1] > 1.5 * goodput[0]
    again = time.monotonic()
    assert sweep(plan, tmp_path / "store").points.equals(made.points)
    assert time.monotonic() - again < 4 * 1.2, "nothing is done again"


@on_the_kernel
def test_a_cluster_may_emulate(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    plan = Plan(scenario=scenario(BULK, seconds=1.2), instrument="emulate")
    with pytest.raises(ClusterError):  # nobody listens there: it was asked
        sweep(plan, tmp_path / "store", scheduler="tcp://127.0.0.1:1")


@on_the_kernel
def test_an_emulation_that_cannot_be_believed_is_no_run_of_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = {"level": "invalid", "reason": "packets were late", "remedy": "wait"}
    totals = {"emulation": {"level": "invalid", "findings": [finding]}}
    monkeypatch.setattr(process, "repetition", lambda *_, **__: totals)
    does = Repetition("{}", 0, (str(tmp_path), "nobody"), instrument="emulate")
    monkeypatch.setattr("parshall.campaign.work.most_flows", lambda _: None)
    outcome = execute(Call("a", does))
    assert isinstance(outcome, Failed)
    assert str(outcome.error) == "the emulation is invalid: packets were late; wait"


# --- numbers of flows ---


@on_the_kernel
def test_an_open_loop_before_other_flows_does_not_change_their_numbers() -> None:
    loop = {
        **BULK,
        "name": "loop",
        "workload": {"name": "open_loop", "size": {"name": "constant", "value": "20 kB"}, "arrivals_per_s": 10.0},
    }
    given = scenario(loop, {**BULK, "name": "bulk", "count": 2}, seconds=3)
    made = ps.emulate(given)
    numbers = {group: set(rows["flow"]) for (group,), rows in made.flows.group_by("group")}
    assert made.transfers is not None
    assert made.flow_samples is not None
    transfers = made.transfers.filter(pl.col("group") == "loop")
    assert set(transfers["flow"]) == numbers["loop"]
    assert transfers["transfer"].is_unique().all()
    samples = (
        made.flow_samples.filter(pl.col("group") == "bulk")
        if "group" in made.flow_samples.columns
        else made.flow_samples
    )
    assert set(samples["flow"]) >= numbers["bulk"]
