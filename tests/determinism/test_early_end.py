"""A run that ends with its transfers has the records of one that was asked to last so long: to the byte."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import ScenarioError
from parshall.report import description

FILES: dict[str, Any] = {
    "name": "files",
    "count": 3,
    "rtt": {"list": ["40 ms", "80 ms", "20 ms"]},
    "start": {"uniform": "200 ms"},
    "workload": {"name": "transfer", "sizes": ["300 kB", "1 B", "100 kB"]},
}
OTHERS: dict[str, Any] = {"name": "others", "count": 2, "rtt": "300 ms", "start": {"uniform": "1 s"}}
DUMBBELL: dict[str, Any] = {
    "duration": "60 s",
    "ends_with": ["files"],
    "bottleneck": {"rate": "10 Mbit/s"},
    "flows": [FILES, OTHERS],
    "probes": {"flow_samples": "10 ms", "rounds": 2, "link_samples": "70 ms"},
}
TABLES = ("flows", "links", "delay_histogram", "transfers", "rounds", "flow_samples", "link_samples")


def made(*groups: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """The dumbbell with other keys, and more groups."""
    document = deepcopy({**DUMBBELL, **keys})
    document["flows"] += groups
    return document


SCENARIOS: dict[str, dict[str, Any]] = {
    "dumbbell": DUMBBELL,
    "warm-up": made(warm_up="500 ms"),
    "lossy": made(bottleneck={"rate": "10 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.02}}),
    "codel": made(bottleneck={"rate": "5 Mbit/s", "queue": {"name": "codel"}}),
    # A packet's transmission takes longer than all delays.
    "slow codel": {
        **made(bottleneck={"rate": "2 Mbit/s", "delay": "0 s", "queue": {"name": "codel"}}),
        "flows": [{**FILES, "rtt": "2 ms"}, {**OTHERS, "rtt": "2 ms"}],
    },
    "both ways": made(
        {"name": "back", "count": 2, "rtt": "50 ms", "direction": "reverse", "congestion_control": "bbr"},
        bottleneck={"rate": "8 Mbit/s", "reverse": {"rate": "2 Mbit/s", "queue": {"name": "fq_codel"}}},
    ),
    "datagrams": made(
        {"name": "cbr", "rtt": "700 ms", "workload": {"name": "cbr", "rate": "1 Mbit/s"}},
        {
            "name": "controlled",
            "rtt": "50 ms",
            "congestion_control": "rate_based",
            "workload": "rate_controlled",
        },
    ),
    "web": made(
        {
            "name": "web",
            "rtt": "30 ms",
            "workload": {
                "name": "open_loop",
                "size": {"name": "pareto", "mean": "30 kB", "tail_index": 1.5},
                "arrivals_per_s": 10,
            },
        }
    ),
    "two links": {
        **{key: value for key, value in DUMBBELL.items() if key != "bottleneck"},
        "links": [
            {"name": "first", "rate": "10 Mbit/s", "delay": "5 ms"},
            {"name": "second", "rate": "6 Mbit/s", "delay": "5 ms"},
        ],
        "flows": [{**FILES, "path": ["first", "second"]}, {**OTHERS, "path": ["second"], "reverse_path": ["first"]}],
    },
}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", SCENARIOS)
def test_same_records_as_a_run_of_that_length(name: str, seed: int) -> None:
    document = {**SCENARIOS[name], "seed": seed}
    early = ps.run(ps.Scenario.from_document(document))
    end_s = early.totals[0]["simulated_s"]
    document.pop("ends_with")
    lasting = ps.run(ps.Scenario.from_document({**document, "duration": f"{end_s:.12f} s"}))
    for table in TABLES:
        frame = getattr(early, table)
        assert frame.height > 0
        assert frame.equals(getattr(lasting, table)), table
    assert early.transfers is not None
    files = early.transfers.filter(early.transfers["group"] == "files")
    assert files.height == 9
    assert files["completion_s"].null_count() == 0
    assert files["completion_s"].max() < end_s < files["completion_s"].max() + 2


def test_the_duration_is_the_latest_end() -> None:
    run = ps.run(ps.Scenario.from_document(made(duration="100 ms")))
    assert run.totals[0]["simulated_s"] == 0.1
    assert run.transfers is not None
    assert run.transfers["completion_s"].null_count() > 0


def test_all_groups_are_waited_for_and_each_repetition_ends_on_its_own() -> None:
    late = {**FILES, "name": "late", "start": "3 s"}
    run = ps.run(ps.Scenario.from_document(made(late, ends_with=["files", "late", "files"], repetitions=2)))
    ends = [totals["simulated_s"] for totals in run.totals]
    assert min(ends) > 3
    assert ends[0] != ends[1]
    assert run.transfers is not None
    assert run.transfers["completion_s"].null_count() == 0


def test_nothing_would_be_measured() -> None:
    with pytest.raises(ScenarioError, match=r"warm_up: lasts 50 s, .* done before, at [0-9.]+ s; write a shorter"):
        ps.run(ps.Scenario.from_document(made(warm_up="50 s")))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["file"], r'ends_with.0: found "file"; .* "files". Did you mean "files"\?'),
        (["files", "others"], r'ends_with.1: found "others"; write a group whose workload is "transfer": "files"'),
        ([], r"ends_with: found \[\]"),
    ],
)
def test_bad_groups_are_refused(value: list[str], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        ps.Scenario.from_document(made(ends_with=value))


def test_without_files_there_is_nothing_to_end_with() -> None:
    with pytest.raises(ScenarioError, match="there is none here"):
        ps.Scenario.from_document({**DUMBBELL, "flows": [OTHERS], "ends_with": ["others"]})


def test_the_page_says_until_when() -> None:
    document = ps.run(ps.Scenario.from_document(made())).metadata["scenario"]
    assert description.sentences(document)[-1] == "It lasts until the transfers of files are done, at most 60\u00a0s."
