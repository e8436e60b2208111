"""Warnings about scenarios: numbers that depend on phases, repetitions that are copies, thresholds out of reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import VERBS, application
from parshall.scenario.schema.catalog import family

Document = dict[str, Any]

TIED = """
duration = "2 s"
repetitions = 2
processing_time = "0 s"
[bottleneck]
rate = "20 Mbit/s"       # 0.6 ms a packet
[[flows]]
count = 2
rtt = { first = "30 ms", step = "6 ms" }
congestion_control = "reno"
"""


def scenario(rtt: Any, **changes: Any) -> ps.Scenario:
    flows = {"count": 2, "rtt": rtt, "congestion_control": "reno", "start": {"uniform": "1 s"}}
    document = {"duration": "2 s", "bottleneck": {"rate": "20 Mbit/s"}, "flows": [flows], "processing_time": "0 s"}
    return ps.Scenario.from_document({**document, **changes})


@pytest.mark.parametrize(
    "rtt",
    [
        "30 ms",
        {"first": "30 ms", "step": "0.6 ms"},
        {"first": "30 ms", "step": "12 ms"},
        {"list": ["30 ms", "29.401 ms"]},  # 1 us from a multiple: in step for as long
        {"list": ["29.401 ms", "30 ms"]},
    ],
)
def test_whole_service_times_between_rtts(rtt: Any) -> None:
    (warning,) = scenario(rtt).warnings()
    assert "2 flows" in warning
    assert "600 us" in warning
    assert "bottleneck" in warning


@pytest.mark.parametrize(
    ("rtt", "changes"),
    [
        ({"first": "30 ms", "step": "0.3 ms"}, {}),
        ({"uniform": ["30 ms", "60 ms"]}, {}),
        ("30 ms", {"processing_time": "1 packet"}),
        ("30 ms", {"processing_time": "10 us"}),
        ("30 ms", {"bottleneck": {"rate": "20 Mbit/s", "queue": "red"}}),
        ("30 ms", {"flows": [{"rtt": "30 ms"}]}),
    ],
)
def test_no_phase_effects(rtt: Any, changes: Document) -> None:
    assert scenario(rtt, **changes).warnings() == []


def test_flows_of_several_groups_share_a_link() -> None:
    groups = [{"rtt": "30 ms"}, {"rtt": "42 ms"}]
    assert len(scenario("30 ms", flows=groups).warnings()) == 1
    groups[1]["processing_time"] = "1 packet"
    assert scenario("30 ms", flows=groups).warnings() == []


def test_only_links_that_both_cross() -> None:
    links = [{"name": "a", "rate": "20 Mbit/s"}, {"name": "b", "rate": "20 Mbit/s"}]
    flows = [{"rtt": "30 ms", "path": ["a"]}, {"rtt": "30 ms", "path": ["b"]}]
    document = {"duration": "2 s", "processing_time": "0 s", "links": links}
    assert ps.Scenario.from_document({**document, "flows": flows}).warnings() == []
    flows[1]["path"] = ["b", "a"]
    (warning,) = ps.Scenario.from_document({**document, "flows": flows}).warnings()
    assert "link a" in warning


def test_repetitions_that_are_copies() -> None:
    flows: list[Document] = [{"rtt": "30 ms"}]
    (warning,) = scenario("30 ms", flows=flows, repetitions=3).warnings()
    assert "3 repetitions are copies" in warning
    assert scenario("30 ms", flows=flows).warnings() == []
    assert scenario("30 ms", flows=flows, repetitions=3, processing_time="1 packet").warnings() == []
    flows = [{"rtt": "30 ms", "start": {"uniform": "1 s"}}]
    assert scenario("30 ms", flows=flows, repetitions=3).warnings() == []


# --- timers ---


def hasty(rtt: Any = "40 ms", queue: str = "1 BDP", **group: Any) -> ps.Scenario:
    """A group of one flow, on 10 Mbit/s, with TCP of the RFCs unless it names another."""
    flow = {"tcp": "rfc", "name": "far", "rtt": rtt, "congestion_control": "reno", **group}
    bottleneck = {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": queue}}
    return ps.Scenario.from_document({"duration": "12 s", "bottleneck": bottleneck, "flows": [flow]})


TIMERS: list[tuple[Document, bool]] = [
    ({"rtt": "0.9 s"}, False),
    ({"rtt": "2.5 s"}, True),
    ({"rtt": "2.5 s", "initial_rto": "3 s"}, False),
    ({"rtt": "2.5 s", "handshake": True}, True),
    ({"rtt": "2.5 s", "handshake": True, "initial_rto": "3 s"}, False),
    ({"rtt": "2.5 s", "tcp": "linux", "timestamps": False}, True),
    ({"rtt": "1.5 s", "tcp": "linux", "timestamps": False}, False),
    ({"rtt": "2.5 s", "tcp": "linux", "handshake": False}, True),
    ({"count": 4, "queue": "1500 packets", "start": {"staggered": "2 s"}}, True),
    ({"count": 4, "queue": "1500 packets", "start": {"staggered": "2 s"}, "initial_rto": "3 s"}, False),
    ({"queue": "1500 packets"}, False),
]


@pytest.mark.parametrize(("keys", "needless"), TIMERS)
def test_needless_timeouts_are_warned_of(keys: Document, needless: bool) -> None:
    """And a run has them: sent again before anything was lost, in the first five seconds of a connection."""
    far = hasty(**keys)
    warnings = [warning for warning in far.warnings() if "needless timeouts" in warning]
    assert bool(warnings) == needless
    run = ps.run(far)
    if run.links["dropped_packets"].sum() == 0:
        assert bool(run.flows["timeouts"].sum() > (1 if keys.get("rtt") == "1.5 s" else 0)) == needless


def test_late_syns_cost_linux_nothing_with_timestamps() -> None:
    far = hasty(rtt="2.5 s", tcp="linux")
    assert far.warnings() == []
    assert ps.run(far).flows["timeouts"].to_list() == [2]


def test_the_warning_of_timers_says_what_to_set() -> None:
    (warning,) = hasty(rtt={"uniform": ["0.1 s", "2.5 s"]}).warnings()
    assert warning == (
        "connections of group far begin with needless timeouts, as a round trip takes up to 2.5 s, "
        'and they wait 1 s for the first answer: set initial_rto = "3 s"'
    )
    assert hasty(rtt={"uniform": ["0.1 s", "2.5 s"]}, initial_rto="3 s").warnings() == []
    (queued,) = hasty(queue="1500 packets", count=2, start={"uniform": "5 s"}).warnings()
    assert "up to 1.8 s, behind full queues, and" in queued
    assert queued.endswith('set initial_rto = "3 s"')


# --- thresholds ---


def with_queue(**queue: Any) -> list[str]:
    return scenario("30 ms", bottleneck={"rate": "20 Mbit/s", "queue": queue}, processing_time="1 packet").warnings()


def test_thresholds_beyond_the_limit() -> None:
    red = {"name": "red", "min_threshold": "5 packets", "max_threshold": "15 packets"}
    (warning,) = with_queue(**red, limit="14 packets")
    assert "link bottleneck never comes to its max_threshold: it holds 14 packets, and max_threshold is 15" in warning
    assert with_queue(**red, limit="15 packets") == []
    # Packets have 1500 bytes.
    (warning,) = with_queue(**red, limit="22499 B")
    assert "holds 14 packets" in warning
    assert with_queue(**red, limit="22500 B") == []


def test_thresholds_of_rio_and_of_marking_at_a_step() -> None:
    rio = _EXAMPLES["queue"]["rio"]
    assert with_queue(name="rio", **rio, limit="40 packets") == []
    by_class = with_queue(name="rio", **rio, limit="39 packets")
    assert [warning.split("never comes to its ")[1].split(":")[0] for warning in by_class] == ["in_max", "out_max"]
    (warning,) = with_queue(name="step", threshold="20 packets", limit="10 packets")
    assert "threshold is 20 packets" in warning
    assert with_queue(name="step", threshold="20 packets", limit="20 packets") == []


def test_a_queue_never_comes_to_a_threshold_beyond_its_limit() -> None:
    """A run shows what the warning says: a step above the limit marks nothing."""
    flows = [{"rtt": "30 ms", "ecn": True}]

    def marked(threshold: str) -> int:
        queue = {"name": "step", "limit": "10 packets", "threshold": threshold}
        run = ps.run(scenario("30 ms", bottleneck={"rate": "20 Mbit/s", "queue": queue}, flows=flows))
        return int(run.links["marked_packets"].sum())

    assert marked("11 packets") == 0 < marked("9 packets")


# --- which entries of the catalogs draw random numbers, as a run shows it ---

_EXAMPLES: dict[str, dict[str, Document]] = {
    "loss": {
        "bernoulli": {"probability": 0.01},
        "periodic": {"every": "100 packets"},
        "gilbert_elliott": {"good_to_bad": 0.01, "bad_to_good": 0.3, "loss_bad": 0.5},
    },
    "queue": {
        "rio": {
            "in_min": "5 packets",
            "in_max": "40 packets",
            "in_probability": 0.1,
            "out_min": "5 packets",
            "out_max": "40 packets",
            "out_probability": 0.1,
        },
        "step": {"threshold": "20 packets"},
        "cake": {"limit": "20 packets"},
    },
    "workload": {
        "transfer": {"sizes": "100 packets"},
        "on_off": {
            "size": {"name": "exponential", "mean": "40 packets"},
            "off": {"name": "exponential", "mean": "50 ms"},
        },
        "on_off_bulk": {
            "on": {"name": "exponential", "mean": "50 ms"},
            "off": {"name": "exponential", "mean": "50 ms"},
        },
        "request_response": {
            "request": "500 B",
            "response": {"name": "exponential", "mean": "40 packets"},
            "think": {"name": "exponential", "mean": "50 ms"},
        },
        "open_loop": {"size": {"name": "exponential", "mean": "40 packets"}, "arrivals_per_s": 20.0},
        "cbr": {"rate": "5 Mbit/s"},
        "on_off_cbr": {
            "rate": "5 Mbit/s",
            "on": {"name": "exponential", "mean": "0.1 s"},
            "off": {"name": "exponential", "mean": "0.1 s"},
        },
        "poisson": {"rate": "5 Mbit/s", "size": {"name": "constant", "value": "1000 B"}},
    },
}
_CONTROLLED = {"name": "rate_based", "increase": 1000.0, "decrease": 1.0, "congestion": "loss"}


def example(part: str, name: str) -> ps.Scenario:
    """A scenario with this entry, and otherwise nothing random."""
    entry = {"name": name, **_EXAMPLES[part].get(name, {})}
    group: Document = {"rtt": "40 ms"}
    link: Document = {"rate": "10 Mbit/s"}
    if part == "workload":
        group["workload"] = entry
        if name == "rate_controlled":
            group["congestion_control"] = _CONTROLLED
    else:
        link[part] = entry
    return ps.Scenario.from_document(
        {
            "duration": "4 s",
            "processing_time": "0 s",
            "repetitions": 2,
            "bottleneck": link,
            "flows": [group],
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (part, entry.name)
        for part, named in (("queue", "queues"), ("loss", "losses"), ("workload", "workloads"))
        for entry in family(named)
    ],
)
def test_what_is_random(part: str, name: str) -> None:
    made = example(part, name)
    run = ps.run(made)
    first, second = (run.links.filter(pl.col("repetition") == number).drop("repetition") for number in (0, 1))
    copies = first.equals(second)
    assert copies == any("copies" in warning for warning in made.warnings())


# --- where they are said ---


def test_validate_says_it_and_accepts(tmp_path: Path) -> None:
    path = tmp_path / "tied.toml"
    path.write_text(TIED, encoding="utf-8")
    done = CliRunner().invoke(application(VERBS), ["validate", str(path)])
    assert done.exit_code == 0
    assert "tied.toml: valid" in done.stdout
    assert done.stderr.count("warning: ") == 2
    assert "phase effects" in done.stderr
    assert "copies" in done.stderr
    done = CliRunner().invoke(application(VERBS), ["validate", str(path), "--json"])
    (found,) = json.loads(done.stdout)
    assert found["valid"]
    assert not found["problems"]
    assert len(found["warnings"]) == 2


def test_run_and_page_say_it(tmp_path: Path) -> None:
    path = tmp_path / "tied.toml"
    path.write_text(TIED, encoding="utf-8")
    done = CliRunner().invoke(application(VERBS), ["run", str(path), "-o", str(tmp_path / "run")])
    assert done.exit_code == 0
    assert done.stderr.count("warning: ") == 2
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('<p class="warning">') == 2
    assert "Phase effects decide who gets what" in page
    quiet = CliRunner().invoke(
        application(VERBS), ["run", str(path), "-o", str(tmp_path / "json"), "--no-page", "--json"]
    )
    assert len(json.loads(quiet.stdout)["warnings"]) == 2


def test_shipped_scenarios_need_none() -> None:
    folder = Path(__file__).parents[2] / "scenarios"
    for path in sorted(folder.glob("*.toml")):
        assert ps.Scenario.load(path).warnings() == [], path.name
