"""Every refusal names the file, the key path, what was found, and what is accepted."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parshall as ps
from parshall import _core
from parshall.foundations.errors import InputError, ScenarioError

EMPIRICAL = 'flows.1.workload.size={name="empirical", file="sizes.txt"}'

RIO = 'bottleneck.queue={name="rio", %s}'
BUCKET = 'flows.0.marker={name="token_bucket", %s}'

REFUSED = {
    # what: (override, key path, what was found, what is accepted)
    "unknown key": ("flows.0.cuont=3", "flows.0.cuont", "unknown key", 'Did you mean "count"?'),
    "unknown table": ("botleneck.rate=1", "botleneck", "unknown key", 'Did you mean "bottleneck"?'),
    "wrong unit": ('bottleneck.rate="10 ms"', "bottleneck.rate", '"10 ms"', '"48 Mbit/s"'),
    "no unit": ("bottleneck.rate=10", "bottleneck.rate", '"10", which has no unit', '"48 Mbit/s"'),
    "negative rate": ('bottleneck.rate="-1 Mbit/s"', "bottleneck.rate", "negative", '"48 Mbit/s"'),
    "zero rate": ('bottleneck.rate="0 Mbit/s"', "bottleneck.rate", "zero", '"48 Mbit/s"'),
    "zero buffer": ('bottleneck.queue.limit="0 packets"', "bottleneck.queue.limit", '"0 packets"', "at least one"),
    "zero BDP": ('bottleneck.queue.limit="0 BDP"', "bottleneck.queue.limit", '"0 BDP"', "at least one"),
    "buffer below a packet": ('bottleneck.queue.limit="100 B"', "bottleneck.queue.limit", '"100 B"', "1500 B"),
    "RTT below the path's delay": ('flows.0.rtt="0.5 ms"', "flows.0.rtt", '"500 us"', '"2 ms" or more'),
    "first of a linear RTT": (
        'flows.0.rtt={first="0.1 ms", step="1 s"}',
        "flows.0.rtt",
        '"100 us"',
        '"2 ms" or more',
    ),
    "unknown control": ("flows.0.congestion_control=cubik", "flows.0.congestion_control", '"cubik"', '"cubic"?'),
    "unknown parameter": (
        'flows.0.congestion_control={name="cubic", bata=0.7}',
        "flows.0.congestion_control.bata",
        "unknown key",
        '"beta"?',
    ),
    "unknown queue": ("bottleneck.queue=taildrop", "bottleneck.queue", '"taildrop"', '"drop_tail", "red"'),
    "crossed thresholds of in": (RIO % 'in_min="101 packets"', "bottleneck.queue.in_min", "101 packets", "in_max, 100"),
    "crossed thresholds of out": (RIO % 'out_min="101 packets"', "bottleneck.queue.out_min", "101", "out_max, 100"),
    "out dropped after in": (
        RIO % 'in_length="total", out_max="101 packets"',
        "bottleneck.queue.out_max",
        "101 packets",
        "out packets are to be dropped first",
    ),
    "in dropped more than out": (
        RIO % "in_probability=0.1",
        "bottleneck.queue.in_probability",
        "found 0.1",
        "out_probability, 0.06, or less",
    ),
    "a probability above 1": (RIO % "out_probability=1.5", "bottleneck.queue.out_probability", "1.5", "1 or less"),
    "unknown average": (RIO % 'averaging="ewma"', "bottleneck.queue.averaging", '"ewma"', '"instantaneous", or the'),
    "weight above 1": (RIO % "averaging=2", "bottleneck.queue.averaging", "found 2", "1e-09 to 1"),
    "unknown coin": (RIO % 'coin="fair"', "bottleneck.queue.coin", '"fair"', '"independent" or "spaced"'),
    "crossed thresholds of RED": (
        'bottleneck.queue={name="red", min_threshold="20 packets"}',
        "bottleneck.queue.min_threshold",
        '"20 packets"',
        "max_threshold",
    ),
    "unknown marker": ("flows.0.marker=token_buckt", "flows.0.marker", '"token_buckt"', '"token_bucket"?'),
    "no tokens": (BUCKET % 'rate="0 bit/s", burst="5 kB"', "flows.0.marker.rate", "which is zero", '"48 Mbit/s"'),
    "marked above the access rate": (
        'flows.0={rtt="9 ms", access_rate="1 Mbit/s", marker={name="token_bucket", rate="2 Mbit/s", burst="5 kB"}}',
        "flows.0.marker.rate",
        "found 2 Mbit/s",
        "the access rate, 1 Mbit/s, or less",
    ),
    "a queue without a link": (
        'flows.0={rtt="9 ms", access_queue="10 packets"}',
        "flows.0.access_queue",
        "without a rate",
        "write an access_rate",
    ),
    "an interface that holds nothing": (
        'flows.0={rtt="9 ms", access_rate="1 Mbit/s", access_queue="0 packets"}',
        "flows.0.access_queue",
        '"0 packets"',
        "at least one packet",
    ),
    "datagrams at an interface that loses": (
        'flows.0={rtt="9 ms", access_rate="1 Mbit/s", access_queue="9 packets",workload={name="cbr", rate="1 kbit/s"}}',
        "flows.0.access_queue",
        "sends datagrams",
        "accepted with TCP",
    ),
    "no packet fits a bucket": (
        BUCKET % 'rate="1 Mbit/s", burst="500 B"',
        "flows.0.marker.burst",
        "500 B",
        '"1 packet"',
    ),
    "an empty bucket": (BUCKET % 'rate="1 Mbit/s", burst="0 B"', "flows.0.marker.burst", '"0 B"', "1 B or more"),
    "unknown recovery": ("flows.0.recovery=sak", "flows.0.recovery", '"sak"', '"sack"?'),
    "nameless table": ('flows.0.workload={sizes=["1 kB"]}', "flows.0.workload", "without a name", '"transfer"'),
    "missing parameter": ("flows.0.workload=cbr", "flows.0.workload.rate", "missing", "no default"),
    "parameter out of range": (
        'flows.0.congestion_control={name="cubic", beta=1.5}',
        "flows.0.congestion_control.beta",
        "1.5",
        "0.999 or less",
    ),
    "0 flows": ("flows.0.count=0", "flows.0.count", "found 0", "1 or more"),
    "no groups": ("flows=[]", "flows", "[]", "1 or more"),
    "no repetitions": ("repetitions=0", "repetitions", "found 0", "1 or more"),
    "a fraction of a flow": ("flows.0.count=1.5", "flows.0.count", "1.5", "a whole number"),
    "warm-up past the end": ('warm_up="2 s"', "warm_up", '"2 s"', "less than the duration"),
    "no duration": ('duration="0 s"', "duration", '"0 s"', "above zero"),
    "start past the end": ('flows.0.start="3 s"', "flows.0.start", '"3 s"', 'before the end, "2 s"'),
    "too few starts": ('flows.0.start={list=["1 s"]}', "flows.0.start.list", "1 for 2 flows", "one value for each"),
    "no form of an RTT": ('flows.0.rtt={mean="1 s"}', "flows.0.rtt", '{mean = "1 s"}', '{first = "100 ms"'),
    "half a form of an RTT": ('flows.0.rtt={first="50 ms"}', "flows.0.rtt.step", "missing", "no default"),
    "interval upside down": (
        'flows.0.rtt={uniform=["9 ms", "5 ms"]}',
        "flows.0.rtt.uniform",
        '["9 ms", "5 ms"]',
        "smaller end first",
    ),
    "infinite mean": (
        "flows.1.workload.size.tail_index=1",
        "flows.1.workload.size.tail_index",
        "found 1",
        "the mean is infinite",
    ),
    "missing distribution file": (EMPIRICAL, "flows.1.workload.size.file", '"sizes.txt"', "there is no file"),
    "missing rate trace": ('bottleneck={rate_trace="x"}', "bottleneck.rate_trace", '"x"', "there is no file"),
    "two rates": ("bottleneck.rate_trace=x", "bottleneck", "both rate and rate_trace", "one of them"),
    "no rate": ("bottleneck={}", "bottleneck", "neither rate nor rate_trace", "one of them"),
    "two networks": ('links=[{name="a", rate="1 Mbit/s"}]', "", "both [bottleneck] and [[links]]", "one of them"),
    "a path in a dumbbell": ('flows.0.path=["a"]', "flows.0.path", "no use for", "[[links]]"),
    "TCP's keys without TCP": (
        'flows.0.workload={name="cbr", rate="1 Mbit/s"}',
        "flows.0",
        "sends datagrams",
        '"congestion_control"',
    ),
    "header as large as the packet": ('flows.0.header_size="1500 B"', "flows.0.header_size", '"1500 B"', "smaller"),
    "packet too large": ('flows.0.packet_size="70 kB"', "flows.0.packet_size", '"70 kB"', "1 to 65535 bytes"),
    "timeouts upside down": ('flows.0.min_rto="61 s"', "flows.0.min_rto", '"61 s"', 'max_rto, "60 s", or less'),
    "thresholds upside down": (
        'bottleneck.queue={name="red", min_threshold="30 packets"}',
        "bottleneck.queue.min_threshold",
        '"30 packets"',
        'max_threshold, "15 packets", or less',
    ),
    "no rule for ssthresh": ('flows.0.ssthresh_cached="lower"', "flows.0.ssthresh_cached", '"lower"', '"lowest"'),
    "delayed ACK too long": ('flows.0.delayed_ack="1 s"', "flows.0.delayed_ack", '"1 s"', "500 ms or less"),
    "name with a dot": ("flows.0.name=a.b", "flows.0.name", '"a.b"', "letters, digits"),
    "name twice": ("flows.1.name=bulk", "flows.1.name", '"bulk" again', "differ"),
    "probability": ('bottleneck.loss={name="bernoulli", probability=2}', "probability", "found 2", "1 or less"),
    "true for a number": ("seed=true", "seed", "true", "a whole number"),
    "samples without a unit": ("probes.link_samples=0.1", "probes.link_samples", '"0.1"', '"10 ms"'),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_says_where_what_and_what_is_accepted(case: tuple[str, str, str, str], toml: Path) -> None:
    override, key, found, accepted = case
    with pytest.raises(ScenarioError) as refusal:
        ps.Scenario.load(toml, [override])
    message = str(refusal.value)
    assert message.startswith(f"{toml}: ")
    assert key in message
    assert found in message
    assert accepted in message


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "no point found"),
        ("# nothing but a comment\n", "no point found"),
        ("100 0.5\n200 0.4\n300 1\n", "line 2: found the probability 0.4"),
        ("100 0.5\n50 0.6\n300 1\n", "line 2: found the value 50"),
        ("100 0.5\n200 0.9\n", "line 2: found 0.9 as the last probability"),
        ("100 0.5\nhello\n", 'line 2: found "hello"'),
        ("100 -0.5\n200 1\n", "line 1"),
    ],
)
def test_a_distribution_file_is_refused_with_its_line(content: str, problem: str, toml: Path) -> None:
    (toml.parent / "sizes.txt").write_text(content)
    with pytest.raises(ScenarioError) as refusal:
        ps.Scenario.load(toml, [EMPIRICAL])
    message = str(refusal.value)
    assert message.startswith(f"{toml}: flows.1.workload.size.file: sizes.txt: ")
    assert problem in message


@pytest.mark.parametrize(
    ("content", "problem"),
    [("", "no timestamps"), ("5\n4\n", "line 2: 4 ms comes after 5 ms"), ("x\n", "line 1"), ("0\n", "lasts 0 ms")],
)
def test_a_rate_trace_is_refused_with_its_line(content: str, problem: str, toml: Path) -> None:
    (toml.parent / "lte.down").write_text(content)
    with pytest.raises(ScenarioError, match=r"bottleneck\.rate_trace: lte\.down: ") as refusal:
        ps.Scenario.load(toml, ['bottleneck={rate_trace="lte.down"}'])
    assert problem in str(refusal.value)


def test_every_problem_is_told_at_once(toml: Path) -> None:
    with pytest.raises(ScenarioError) as refusal:
        ps.Scenario.load(toml, ["flows.0.count=0", "bottleneck.rate=3", "wram_up=1"])
    assert [problem.split(":")[0] for problem in refusal.value.problems] == [
        "bottleneck.rate",
        "flows.0.count",
        "wram_up",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b'duration = "1 s', "not TOML"), (b"\xff", "not TOML: byte 0 is not UTF-8"), (b"", "duration: missing")],
)
def test_a_file_that_is_no_scenario(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as refusal:
        ps.Scenario.load(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert problem in str(refusal.value)


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no such file"):
        ps.Scenario.load(tmp_path / "missing.toml")
    with pytest.raises(ScenarioError, match="not readable"):
        ps.Scenario.load(tmp_path)


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(leaf for key, item in items for leaf in _leaves(item, (*path, key)))]


def _replaced(document: Any, path: tuple[str | int, ...], junk: Any) -> Any:
    if not path:
        return junk
    changed = copy.copy(document)
    changed[path[0]] = _replaced(document[path[0]], path[1:], junk)
    return changed


FULL: dict[str, Any] = ps.Scenario(
    duration="2 s",
    bottleneck={"rate": "5 Mbit/s", "reverse": {"rate": "1 Mbit/s", "queue": "red"}},
    flows=[
        {"count": 2, "rtt": {"first": "50 ms", "step": "1 ms"}, "start": {"list": ["0 s", "1 s"]}},
        {"rtt": {"distribution": {"name": "uniform", "low": "10 ms", "high": "20 ms"}}, "workload": "bulk"},
        {
            "rtt": "30 ms",
            "workload": {
                "name": "on_off",
                "size": {"name": "empirical", "points": [["1 kB", 0.5], ["2 kB", 1.0]]},
                "off": {"name": "exponential", "mean": "1 s"},
            },
        },
    ],
).complete_document()

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["-1 s", "1e3 ms", "0 packets", "99999999999999999999 TB", "∞ s", "1 BDP", "cubic"]),
    st.just([]),
    st.just({}),
    st.just([["1 kB", 2.0]]),
    st.dictionaries(st.sampled_from(["name", "list", "first", "x"]), st.text(max_size=3), max_size=2),
)


@settings(max_examples=500, deadline=None)
@given(path=st.sampled_from(_leaves(FULL)[1:]), junk=JUNK)
def test_junk_anywhere_is_refused_here_or_accepted_by_the_simulator_too(path: tuple[str | int, ...], junk: Any) -> None:
    try:
        resolved = ps.Scenario.from_document(_replaced(FULL, path, junk)).resolve()
    except InputError:
        return
    if sum(group["count"] for group in resolved["flows"]) < 1000:
        monitor = _core.Monitor()
        monitor.cancel()
        with contextlib.suppress(_core.Interrupted):
            _core.simulate(json.dumps(resolved), 0, None, monitor)
