"""Scenarios inferred from captures: the path, the applications, the control, the check, and what would help."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import application
from parshall.foundations.errors import InputError
from parshall.inference import Inferred, infer
from parshall.inference.facts import directions
from parshall.inference.path import sides
from parshall.inference.response import QUEUES
from parshall.inference.what_if import what_if

DATA = Path(__file__).parents[2] / "fuzz" / "corpus" / "captures"
FEW = ("cubic", "bbr", "reno")
"""Controls that tests choose from; `benches/infer.py` has all."""
RATE_BPS, RTT_S, LIMIT = 20e6, 0.04, 60


def captured(folder: Path, **given: Any) -> Path:
    """A capture of 15 s at the bottleneck; `given` changes the group of flows, `loss` and `queue` the bottleneck."""
    bottleneck: dict[str, Any] = {"rate": "20 Mbit/s", "delay": "1 ms"}
    bottleneck["queue"] = given.pop("queue", {"name": "drop_tail", "limit": f"{LIMIT} packets"})
    if "loss" in given:
        bottleneck["loss"] = {"name": "bernoulli", "probability": given.pop("loss")}
    group = {"rtt": "40 ms", "congestion_control": "cubic", "tcp": "linux", "handshake": True, "header_size": "52 B"}
    scenario = {
        "duration": "15 s",
        "warm_up": "0 s",
        "bottleneck": bottleneck,
        "flows": [group | given],
        "probes": {"pcap": True, "flow_samples": False, "link_samples": False},
    }
    return ps.run(scenario, folder / "run").captures("bottleneck")[0]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Inferred:
    """Of a CUBIC flow that fills the queue."""
    return infer(captured(tmp_path_factory.mktemp("full")), controls=FEW)


class TestAFullQueue:
    def test_the_path_is_that_which_was_simulated(self, full: Inferred) -> None:
        """3 % and 15 %: half of what a reader would act on; 2 %: one packet at this rate is 1.5 % of the round trip."""
        assert full.path.rate_bps.value == pytest.approx(RATE_BPS, rel=0.03)
        assert not full.path.rate_bps.guess
        assert full.path.buffer_bytes is not None
        assert full.path.buffer_bytes.value == pytest.approx(LIMIT * 1500, rel=0.15)
        assert full.path.loss is None
        (group,) = full.scenario.resolve()["flows"]
        assert group["rtt_ps"]["constant"] == pytest.approx(RTT_S * 1e12, rel=0.02)

    def test_the_control_is_told(self, full: Inferred) -> None:
        assert full.response is not None
        assert (full.response.control, full.response.queue, full.response.told) == ("cubic", "drop_tail", True)

    def test_it_explains_the_capture(self, full: Inferred) -> None:
        check = full.check(repetitions=2)
        assert check.explains
        assert {"goodput_bps", "rtt_p50_s"} <= {each.quantity for each in check.claims}

    def test_another_path_does_not(self, full: Inferred) -> None:
        """The null of the check: a scenario with half the buffer is not taken for the capture's."""
        tables = tomllib.loads(full.text)
        tables["bottleneck"]["queue"]["limit"] = f"{LIMIT // 3} packets"
        from parshall.inference.checking import check

        assert not check(ps.Scenario.from_document(tables), full.forward, repetitions=2).explains

    def test_each_inferred_key_says_from_what(self, full: Inferred) -> None:
        for line in full.text.splitlines():
            key = line.partition(" = ")[0]
            if key in {"rate", "queue", "rtt", "congestion_control", "tcp", "workload", "header_size"}:
                assert " # " in line, line


class TestWhatLimits:
    def test_a_window(self, tmp_path: Path) -> None:
        """Nothing stands in the queue, but behind it packets that were sent at once are spaced by its rate."""
        made = infer(captured(tmp_path, receive_window="40 kB"), controls=())
        assert made.path.rate_bps.value == pytest.approx(RATE_BPS, rel=0.03)
        assert not made.path.has_full_queue
        (group,) = made.scenario.resolve()["flows"]
        assert group["tcp"]["receive_window"] * (1500 - 52) == pytest.approx(40_000, rel=0.05)
        effects = {each.change: each for each in made.what_if(repetitions=2)}
        assert effects["twice the receiver's window"].helps == ["goodput_bps"]

    def test_losses(self, tmp_path: Path) -> None:
        made = infer(captured(tmp_path, loss=0.005), controls=())
        assert made.path.loss is not None
        assert made.path.loss.low is not None
        assert made.path.loss.high is not None
        assert made.path.loss.low < 0.005 < made.path.loss.high

    def test_an_application(self, tmp_path: Path) -> None:
        size, off = {"name": "constant", "value": "400 kB"}, {"name": "exponential", "mean": "0.5 s"}
        workload = {"name": "on_off", "size": size, "off": off}
        made = infer(captured(tmp_path, workload=workload), controls=())
        (group,) = made.groups
        assert group.kind == "on_off"
        sizes = np.concatenate([each.sizes_bytes for each in group.activities])
        assert np.median(sizes) == pytest.approx(400_000, rel=0.01)

    def test_a_managed_queue(self, tmp_path: Path) -> None:
        path = captured(tmp_path, queue={"name": "codel", "limit": "1000 packets"}, count=4, start={"uniform": "1 s"})
        made = infer(path, controls=FEW)
        assert made.response is not None
        assert made.response.queue in QUEUES
        assert made.scenario.resolve()["links"][0]["queue"]["name"] == made.response.queue


def test_transfers_are_replayed_as_they_were(tmp_path: Path) -> None:
    workload = {
        "name": "on_off",
        "size": {"name": "constant", "value": "400 kB"},
        "off": {"name": "constant", "value": "1 s"},
    }
    path = captured(tmp_path, workload=workload)
    made, replayed = infer(path, controls=()), infer(path, controls=(), replay=True)
    assert len(replayed.scenario.flows) == made.groups[0].activities[0].starts_s.size > 5
    ran = ps.run(replayed.scenario).transfers
    assert ran is not None
    assert ran["size_bytes"].median() == pytest.approx(400_000, rel=0.01)


def test_both_directions_are_told_apart(tmp_path: Path) -> None:
    scenario = {
        "duration": "6 s",
        "bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms"},
        "flows": [
            {"name": "there", "rtt": "40 ms", "count": 2, "handshake": True, "header_size": "52 B", "tcp": "linux"},
        ],
        "probes": {"pcap": True},
    }
    seen = ps.observe(*ps.run(scenario, tmp_path / "run").captures("bottleneck"))
    there, back = sides(directions(seen))
    assert (len(there), len(back)) == (2, 0)


class TestNothingToTell:
    @pytest.mark.parametrize("name", ["ethernet.pcap", "cwnd.csv"])
    def test_a_capture_that_shows_no_path(self, name: str) -> None:
        folder = DATA if name.endswith("pcap") else DATA.parent / "series"
        with pytest.raises(InputError, match=r"cannot tell|needs packets"):
            infer(folder / name)

    def test_a_flow_without_losses_shows_no_control(self, tmp_path: Path) -> None:
        made = infer(captured(tmp_path, receive_window="40 kB"), controls=FEW)
        assert made.response is not None
        assert not made.response.told
        assert made.response.control == "cubic"
        assert "cannot tell" in made.text


def test_no_change_helps_where_nothing_limits() -> None:
    """The null of advice: a datagram flow on an idle link."""
    group = {"workload": {"name": "transfer", "sizes": "10 kB"}, "rtt": "20 ms", "congestion_control": "cubic"}
    scenario = ps.Scenario.from_document(
        {
            "duration": "2 s",
            "bottleneck": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}},
            "flows": [group],
        }
    )
    assert [each.helps for each in what_if(scenario, 0.02, repetitions=3)] == [[]] * len(
        what_if(scenario, 0.02, repetitions=3)
    )


def test_the_command_writes_scenario_and_page(tmp_path: Path) -> None:
    capture, output = captured(tmp_path), tmp_path / "made.toml"
    command = ["infer", str(capture), "-o", str(output), "--controls", "cubic,reno", "--no-what-if"]
    invoke = CliRunner().invoke
    done = invoke(application(["infer"]), command)
    assert done.exit_code == 0, done.output
    assert ps.Scenario.load(output).name == capture.stem
    assert "The scenario" in output.with_suffix(".html").read_text(encoding="utf-8")
    again = invoke(application(["infer"]), command)
    assert again.exit_code == 2
    assert "exists already" in again.output
    shown = invoke(
        application(["infer"]), ["infer", str(capture), "--controls", "", "--no-check", "--no-what-if", "--json"]
    )
    assert json.loads(shown.stdout)["rate_bps"]["value"] == pytest.approx(RATE_BPS, rel=0.03)


def test_controls_that_need_timestamps_are_tried_on_a_capture_without_them() -> None:
    made = infer(DATA.parents[2] / "docs" / "example.pcap.gz", controls=("vegas", "cubic"))
    assert made.response is not None
    assert set(made.response.likelihoods) == {"vegas", "cubic"}
    assert ("timestamps" in made.text) is (made.response.control == "cubic")
