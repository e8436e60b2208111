"""Runs: their tables and summaries, and that workers change nothing."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.foundations.errors import InputError, OutputExistsError, ParshallError, RunNotFoundError
from parshall.instruments.simulation import Progress, Run


@pytest.fixture
def repeated(document: dict[str, Any]) -> ps.Scenario:
    document |= {"repetitions": 3, "seed": 7}
    document["flows"][0]["start"] = {"uniform": "0.2 s"}
    return ps.Scenario.from_document(document)


def _contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*.parquet"))}


def test_a_run_can_be_read_again(repeated: ps.Scenario, tmp_path: Path) -> None:
    made = ps.run(repeated, tmp_path / "run")
    read = Run.load(tmp_path / "run")
    assert read.status == "complete"
    assert read.repetitions == [0, 1, 2]
    assert read.summary == made.summary
    assert read.predicted == made.predicted
    assert read.flows.equals(made.flows)
    assert read.scenario.resolve() == repeated.resolve()
    assert read.metadata["seed"] == 7
    assert {"parshall", "python", "polars"} <= read.metadata["versions"].keys()
    assert read.metadata["host"]["cores"] >= 1


def test_tables_have_a_row_for_each_thing_in_each_repetition(repeated: ps.Scenario) -> None:
    run = ps.run(repeated)
    assert run.flows["repetition"].value_counts().sort("repetition")["count"].to_list() == [3, 3, 3]
    assert run.flows["group"].unique().sort().to_list() == ["bulk", "web"]
    assert run.links["link"].to_list() == ["bottleneck"] * 3
    assert run.transfers is not None
    assert run.transfers.filter(pl.col("group") == "web")["size_bytes"].unique().sort().to_list() == [28960, 50000]
    assert run.flow_samples is not None
    assert run.link_samples is not None
    assert run.delay_histogram is not None
    assert run.rounds is None
    assert run.scan("flows") is not None
    assert len(run.flows.to_pandas()) == 9


def test_probes_that_are_off_have_no_table(document: dict[str, Any]) -> None:
    document["probes"] = {"flow_samples": False, "link_samples": False, "transfers": False, "rounds": 1}
    run = ps.run(ps.Scenario.from_document(document))
    assert (run.flow_samples, run.link_samples, run.transfers) == (None, None, None)
    assert run.rounds is not None
    assert run.rounds["flow"].unique().sort().to_list() == [0, 2]
    assert run.summary["completion_s"] is None


def test_the_summary_is_what_the_tables_say(repeated: ps.Scenario) -> None:
    run = ps.run(repeated)
    summary, links = run.summary, run.links
    assert summary["packets_forwarded"] == links["forwarded_packets"].sum()
    assert summary["packets_dropped"] == links["dropped_packets"].sum()
    assert summary["utilisation"] == pytest.approx(links["utilisation"].to_numpy().mean())
    goodputs = run.flows.group_by("repetition").agg(pl.col("goodput_bps").sum())["goodput_bps"].to_list()
    assert summary["goodput_bps"] == pytest.approx(statistics.mean(goodputs))
    interval = summary["intervals"]["goodput_bps"]
    assert interval["n"] == 3
    # Student's t for n = 3: 4.3027 standard errors.
    assert (interval["high"] - interval["low"]) / 2 == pytest.approx(4.3027 * statistics.stdev(goodputs) / 3**0.5, 1e-4)
    assert summary["flows"] == 3
    assert summary["simulated_s"] == 6.0
    assert summary["cpu_s"] > 0
    assert summary["peak_rss_bytes"] > 10_000_000
    assert run.transfers is not None
    ended = run.transfers.drop_nulls("completion_s")
    assert summary["transfers"] == len(ended)
    for repetition in range(3):
        first = ended.filter((pl.col("repetition") == repetition) & (pl.col("transfer") == 0))
        assert (first["completion_s"] > first["start_s"]).all()


def test_what_cannot_be_known_is_none_and_never_zero(document: dict[str, Any]) -> None:
    document["flows"] = [
        {"rtt": "50 ms", "start": {"uniform": "1 s"}, "workload": {"name": "transfer", "sizes": ["1 kB"]}}
    ]
    document["warm_up"] = "1.99 s"  # nothing is sent any more
    summary = ps.run(ps.Scenario.from_document(document)).summary
    assert summary["packets_forwarded"] == 0
    assert summary["loss_rate"] is None
    assert summary["queueing_delay_s"] is None
    assert summary["jain"] is None
    assert summary["intervals"]["loss_rate"] is None


def test_the_bottleneck_of_several_links_is_the_one_used_most(document: dict[str, Any]) -> None:
    del document["bottleneck"]
    document["links"] = [{"name": "wide", "rate": "50 Mbit/s"}, {"name": "narrow", "rate": "5 Mbit/s"}]
    for group in document["flows"]:
        group["path"] = ["wide", "narrow"]
    run = ps.run(ps.Scenario.from_document(document))
    narrow = run.links.filter(pl.col("link") == "narrow")
    assert run.summary["packets_forwarded"] == narrow["forwarded_packets"].item()


def test_any_number_of_workers_gives_the_same_bytes(repeated: ps.Scenario, tmp_path: Path) -> None:
    for workers in (1, 3):
        ps.run(repeated, tmp_path / str(workers), workers=workers)
    one, three = _contents(tmp_path / "1"), _contents(tmp_path / "3")
    tables = {"flows", "links", "transfers", "flow_samples", "link_samples", "group_samples", "delay_histogram"}
    tables |= {"groups", "latency_histogram"}  # of the probe `latency`, which is on unless it would slow the run
    assert {Path(name).stem for name in one} == tables
    assert len(one) == 3 * len(tables)
    assert one == three


def test_seeds_and_repetitions_differ(repeated: ps.Scenario) -> None:
    first = ps.run(repeated).flows
    starts = first.filter(pl.col("flow") == 0)["start_s"].to_list()
    assert len(set(starts)) == 3
    other = ps.run(repeated.with_values({"seed": 8})).flows
    assert set(starts).isdisjoint(other.filter(pl.col("flow") == 0)["start_s"].to_list())


def test_progress_reaches_the_end(repeated: ps.Scenario) -> None:
    seen: list[Progress] = []
    ps.run(repeated, progress=seen.append)
    assert seen[-1].repetitions_finished == 3
    assert seen[-1].total_s == 6.0
    assert seen[-1].simulated_s == pytest.approx(6.0)
    assert seen[-1].packets > 0


def test_a_directory_with_something_in_it_is_refused(scenario: ps.Scenario, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputExistsError, match="exists and is not empty"):
        ps.run(scenario, tmp_path)
    with pytest.raises(OutputExistsError, match=r"holds notes\.txt, which is no part of a result"):
        ps.run(scenario, tmp_path, overwrite=True)
    with pytest.raises(OutputExistsError, match="is a file"):
        ps.run(scenario, tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_run_is_replaced_only_if_asked(scenario: ps.Scenario, tmp_path: Path) -> None:
    ps.run(scenario.with_values({"repetitions": 2}), tmp_path / "run")
    with pytest.raises(OutputExistsError):
        ps.run(scenario, tmp_path / "run")
    assert Run.load(tmp_path / "run").repetitions == [0, 1]
    ps.run(scenario, tmp_path / "run", overwrite=True)
    assert Run.load(tmp_path / "run").repetitions == [0]
    assert sorted(path.name for path in (tmp_path / "run" / "repetitions").iterdir()) == ["0000"]


def test_an_empty_directory_is_fine(scenario: ps.Scenario, tmp_path: Path) -> None:
    assert ps.run(scenario, tmp_path).status == "complete"


def test_directories_that_are_no_runs(tmp_path: Path) -> None:
    with pytest.raises(RunNotFoundError, match="does not exist"):
        Run.load(tmp_path / "nothing")
    with pytest.raises(RunNotFoundError, match="not the directory of a result"):
        Run.load(tmp_path)
    for content in ("{", "[]", json.dumps({"format": 99})):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(RunNotFoundError):
            Run.load(tmp_path)


def test_workers_are_counted_from_one(scenario: ps.Scenario) -> None:
    with pytest.raises(InputError, match="workers: found 0"):
        ps.run(scenario, workers=0)


def test_a_notebook_shows_a_table_and_figures(scenario: ps.Scenario) -> None:
    shown = ps.run(scenario)._repr_html_()
    assert "<table" in shown
    assert "<img" in shown or "<svg" in shown


def test_a_model_that_fails_costs_no_results(
    scenario: ps.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ParshallError("beta: found 0")

    monkeypatch.setattr("parshall.instruments.simulation.execute.predict", fail)
    ps.run(scenario, tmp_path / "run")
    run = Run.load(tmp_path / "run")
    assert run.predicted == []
    assert run.metadata["prediction_problem"] == "beta: found 0"


@pytest.mark.parametrize("name", ["on_off", "on_off_cbr"])
def test_a_source_begins_with_what_it_is_told(name: str) -> None:
    """Sending from the flow's start, as by default, or after an OFF time."""
    own = {"size": {"name": "constant", "value": "10 kB"}} if name == "on_off" else {}
    if name == "on_off_cbr":
        own = {"rate": "1 Mbit/s", "on": {"name": "constant", "value": "0.1 s"}}
    sent = {}
    for begins in (None, "on", "off"):
        workload = {"name": name, "off": {"name": "constant", "value": "0.7 s"}, **own}
        if begins is not None:
            workload["begins"] = begins
        flows = [{"rtt": "20 ms", "workload": workload, "start": "0.1 s"}]
        scenario = ps.Scenario.from_document(
            {"duration": "1 s", "processing_time": "0 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": flows}
        )
        run = ps.run(scenario)
        sent[begins] = int(run.links["forwarded_packets"].sum())
        if name == "on_off":
            assert run.transfers["start_s"][0] == pytest.approx(0.8 if begins == "off" else 0.1, abs=1e-6)
    assert sent[None] == sent["on"]
    assert 0 < sent["off"] < sent["on"]
