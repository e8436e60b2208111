"""Controls driven through recordings of Linux 6.18, and what is said of recordings that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import application
from parshall.foundations.errors import ControlError, InputError, ScenarioError
from parshall.instruments import replaying

RECORDINGS = Path(__file__).parents[1] / "data" / "linux-6.18"
RENO = RECORDINGS / "reno-overflow.csv.zst"

runner = CliRunner()


def test_reno_is_that_of_linux() -> None:
    made = ps.replay(RENO, "reno")
    assert made.agrees
    assert made.recorded == "reno"
    assert made.kernel.startswith("6.18")
    assert made.complete
    assert made.dropped == 0
    assert made.left_out == 0
    windows = {each.quantity: each for each in made.compared}
    assert windows["cwnd"].within == windows["cwnd"].calls > 500
    assert windows["cwnd"].largest <= 1.0


def test_calls_that_the_kernel_left_out_are_counted() -> None:
    """Before each burst of a recorded BBR flow one is missing."""
    clean = RECORDINGS / "bbr-clean.csv.zst"
    assert ps.replay(clean, "bbr_linux").left_out == 6
    said = runner.invoke(application(["replay"]), ["replay", str(clean), "--control", "bbr_linux"])
    assert "left out 6 calls" in said.stderr


def test_parameters_of_the_control_count() -> None:
    made = ps.replay(RENO, {"name": "reno", "decrease": 0.7})
    assert not made.agrees
    assert made.first[0].quantity == "ssthresh"
    assert made.first[0].function == "ssthresh"
    assert made.first[0].ours == pytest.approx(0.7 / 0.5 * (made.first[0].kernel or 0), rel=0.1)


class Mine:
    """Reno, again."""

    def __init__(self, start: object) -> None:
        self.cwnd, self.ssthresh = float(start.cwnd), float("inf")  # type: ignore[attr-defined]

    def on_ack(self, ack: object) -> None:
        if ack.may_grow:  # type: ignore[attr-defined]
            credit = ack.credit  # type: ignore[attr-defined]
            self.cwnd += credit if self.cwnd < self.ssthresh else credit / self.cwnd

    def on_loss(self, _: object) -> None:
        self.cwnd = self.ssthresh = max(2.0, self.cwnd / 2)

    def on_timeout(self, event: object) -> None:
        self.on_loss(event)
        self.cwnd = 1.0


class Failing(Mine):
    def on_loss(self, _: object) -> None:
        raise ValueError("no")


def test_an_own_control_is_driven() -> None:
    clean = ps.replay(RECORDINGS / "reno-clean.csv.zst", "mine_replayed", controls={"mine_replayed": Mine})
    assert clean.agrees
    with pytest.raises(ControlError, match="no"):
        ps.replay(RENO, "failing_replayed", controls={"failing_replayed": Failing})


def test_a_recording_that_was_cut_off_is_replayed_as_far_as_it_is_whole(tmp_path: Path) -> None:
    whole = RENO.read_bytes()
    cut = tmp_path / "cut.csv.zst"
    cut.write_bytes(whole[: len(whole) * 9 // 10])
    made = ps.replay(cut, "reno")
    assert not made.complete
    assert made.dropped is None
    assert 100 < made.calls < ps.replay(RENO, "reno").calls
    assert made.agrees
    said = runner.invoke(application(["replay"]), ["replay", str(cut), "--control", "reno"])
    assert said.exit_code == 0
    assert "cut off" in said.stderr


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("a,b\n")
    with pytest.raises(InputError, match=r"other: found a first line that is no header.*accepted: a recording"):
        ps.replay(other, "reno")
    with pytest.raises(InputError, match="No such file"):
        ps.replay(tmp_path / "missing", "reno")
    with pytest.raises(InputError, match=r'recorded control: found "cubic"; accepted: reno'):
        ps.replay(RENO, "cubic", recorded="cubic")
    with pytest.raises(ScenarioError, match="renno"):
        ps.replay(RENO, "renno")


def test_the_command_says_what_differs_first() -> None:
    said = runner.invoke(
        application(["replay"]), ["replay", str(RECORDINGS / "cubic-clean.csv.zst"), "--control", "cubic"]
    )
    assert said.exit_code == 1
    assert "HyStart of Linux ended slow start" in said.stdout
    assert "first difference: flow 0" in said.stdout
    arguments = ["replay", str(RENO), "--control", "reno", "--set", "decrease=0.7", "--json"]
    said = runner.invoke(application(["replay"]), arguments)
    assert json.loads(said.stdout)["agrees"] is False


# --- as qlog ---


def test_a_recording_as_qlog_is_observed_with_the_windows_that_were_recorded(tmp_path: Path) -> None:
    (log,) = replaying.qlog(RENO, tmp_path / "logs")
    events = [json.loads(text) for text in log.read_text().split("\x1e")[1:]]
    calls = [event for event in events if event.get("name", "").startswith("linux:")]
    assert len(calls) >= ps.replay(RENO, "reno").calls, "those before a connection begins are not replayed"
    windows = [
        event["data"]["congestion_window"]
        for event in events
        if "congestion_window" in event.get("data", {}) and event["name"] == "recovery:metrics_updated"
    ]
    datagram = events[1]["data"]["max_datagram_size"]
    seen = ps.observe(log, output=tmp_path / "seen")
    sampled = seen.flow_samples["cwnd_packets"]
    assert sampled.len() > 20
    assert {round(packets * datagram) for packets in sampled} <= set(windows)
    states = [event["data"]["new"] for event in events if event.get("name") == "recovery:congestion_state_updated"]
    assert set(states) >= {"slow_start", "congestion_avoidance", "recovery"}


def test_logs_go_into_a_new_directory(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = runner.invoke(application(["replay"]), ["replay", str(RENO), "--qlog", str(tmp_path)])
    assert done.exit_code == 2
    assert "is not empty" in done.stderr
    with pytest.raises(InputError, match="accepted: a recording"):
        replaying.qlog(tmp_path / "mine", tmp_path / "logs")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"], "nothing half-written"
    done = runner.invoke(application(["replay"]), ["replay", str(RENO), "--qlog", str(tmp_path / "logs"), "--json"])
    assert json.loads(done.stdout) == {"logs": [str(path) for path in (tmp_path / "logs").iterdir()]}
    assert runner.invoke(application(["replay"]), ["replay", str(RENO)]).exit_code == 2
