"""The sentences that open a sweep's page: what they say is what its points have."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import parshall as ps
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.quantiles import Pooled
from parshall.campaign import Sweep
from parshall.campaign.finding import _shown, finding
from parshall.campaign.page import document
from parshall.cli.open import page_of
from parshall.foundations.numbers import quantity

SCENARIO: dict[str, Any] = {
    "duration": "6 s",
    "warm_up": "2 s",
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [{"rtt": "20 ms", "count": 2, "congestion_control": "reno", "start": {"uniform": "0.5 s"}}],
}


def swept(tmp_path: Path, parameters: dict[str, Any], *metrics: str) -> Sweep:
    scenario, plan = tmp_path / "scenario.toml", tmp_path / "swept.toml"
    scenario.write_text(ps.Scenario.from_document(SCENARIO).toml())
    lines = ['scenario = "scenario.toml"', "repetitions = 3", f"metrics = {json.dumps(metrics)}", "[parameters]"]
    lines += [f'"{key}" = {json.dumps(values)}' for key, values in parameters.items()]
    plan.write_text("\n".join(lines))
    return ps.sweep(plan, store=tmp_path / "store")


def test_a_metric_that_goes_one_way_is_told_from_end_to_end(tmp_path: Path) -> None:
    limits = ["0.5 BDP", "2 BDP", "8 BDP"]
    sweep = swept(tmp_path, {"bottleneck.queue.limit": limits}, "queueing_delay_s")
    values = [sweep.interval("queueing_delay_s", number) for number in range(3)]
    low, high = (quantity(each.mean, "s") for each in (values[0], values[2]) if each is not None)
    assert f"rises from {low} at limit = 0.5 BDP to {high} at limit = 8 BDP." in finding(sweep)
    page = document(sweep)
    assert page.finding == finding(sweep)
    assert page.sections[0].is_opening
    assert page.sections[0].figures


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["0.707107 BDP", "1.41421 BDP"], ["0.71 BDP", "1.4 BDP"]),
        (["0.707107 BDP", "0.709999 BDP"], ["0.707107 BDP", "0.709999 BDP"]),
        (["12.75 ms", "50 ms"], ["12.75 ms", "50 ms"]),
        ([1_000_000, 20.0, "drop_tail"], ["1000000", "20.0", "drop_tail"]),
        ([0.00316228, 123456], ["0.0032", "123\u202f456"]),
    ],
)
def test_values_of_a_grid_have_two_digits_where_these_tell_them_apart(values: list[Any], words: list[str]) -> None:
    assert [_shown(value, values) for value in values] == words


def test_names_have_a_highest_and_a_lowest(tmp_path: Path) -> None:
    sweep = swept(tmp_path, {"bottleneck.queue.name": ["drop_tail", "fq_codel"]}, "queueing_delay_s", "goodput_bps")
    text = finding(sweep)
    assert "Mean queueing delay" in text
    assert " is highest, " in text
    assert "at queue = drop_tail, and lowest, " in text


def test_what_the_judge_does_not_see_is_not_said(tmp_path: Path) -> None:
    """Intervals may overlap where repetitions, compared one by one, differ: what decides is the judge."""
    sweep = swept(tmp_path, {"seed": [1, 2]}, "jain")
    difference = ("jain", 1, 0)
    judged = sweep.judged([difference])[difference]
    assert not judged.paired, "points with different seeds do not share their random numbers"
    assert judged.matters == (" rises from " in finding(sweep) or " falls from " in finding(sweep))


def told(sweep: Sweep, monkeypatch: pytest.MonkeyPatch, *found: Pooled) -> str:
    """What is said of a sweep whose points have these estimates of its first metric, and no other."""
    first = sweep.record.metrics[0]
    monkeypatch.setattr(Sweep, "estimate", lambda _, metric, point: found[point] if metric == first else None)
    return finding(sweep)


def estimated(*values: float, resolution: float = 0.0) -> Pooled:
    return Pooled(mean_interval(values), dict(enumerate(values)), resolution)


@pytest.fixture(name="three", scope="module")
def _three(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    limits = ["0.5 BDP", "2 BDP", "8 BDP"]
    return swept(tmp_path_factory.mktemp("three"), {"bottleneck.queue.limit": limits}, "queueing_delay_s")


def test_one_bucket_of_a_histogram_is_no_rise(three: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    buckets = [(1.0, 1.001, 1.002), (1.0, 1.001, 1.003), (1.05, 1.051, 1.0515)]
    said = told(three, monkeypatch, *(estimated(*values, resolution=0.05) for values in buckets))
    assert said == "Mean queueing delay is not shown to differ anywhere by as much as matters."
    exact = told(three, monkeypatch, *(estimated(*values) for values in buckets))
    assert " rises from " in exact, "it is the bucket that hides it"


def test_a_step_back_is_no_rise(three: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is shown; another does not count."""
    low, middle, high = (1.0, 1.1, 1.2), (1.5, 1.6, 1.76), (2.0, 2.11, 2.19)
    back = told(three, monkeypatch, *(estimated(*each) for each in (low, high, middle)))
    assert " is highest, 2.10\xa0s, at limit = 2 BDP, and lowest, 1.10\xa0s, at limit = 0.5 BDP." in back
    unsure = told(three, monkeypatch, estimated(*low), estimated(1.9, 2.6, 2.2), estimated(*high))
    assert " rises from 1.10\xa0s at limit = 0.5 BDP to 2.10\xa0s at limit = 8 BDP." in unsure


def test_the_highest_of_many_may_be_chance(three: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs most was chosen from three pairs: what chance does in 3 % of all pairs is no news."""
    low, high = (1.0, 1.1, 1.2), (1.3, 1.6, 1.6)
    chosen, alone = (mean_interval([0.3, 0.5, 0.4], level).low for level in (1 - 0.05 / 3, 0.95))
    assert chosen is not None
    assert alone is not None
    assert chosen < 0 < alone
    said = told(three, monkeypatch, estimated(*low), estimated(*high), estimated(*low))
    assert said == "Mean queueing delay is not shown to differ anywhere by as much as matters."
    planned = told(three, monkeypatch, estimated(*low), estimated(1.2, 1.3, 1.4), estimated(*high))
    assert " rises from 1.10\xa0s " in planned, "both ends are no choice"


def test_what_matters_is_what_the_sweep_says(three: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sweep, "at_least", 0.5)
    near = [(1.0, 1.01, 1.02), (1.05, 1.07, 1.08), (1.2, 1.21, 1.23)]
    said = told(three, monkeypatch, *(estimated(*values) for values in near))
    assert said == "Mean queueing delay is the same within 50 % everywhere."


@pytest.mark.parametrize("metrics", [("goodput_bps", "jain", "loss_rate", "utilisation")])
def test_few_metrics_are_spoken_of(tmp_path: Path, metrics: tuple[str, ...]) -> None:
    sweep = swept(tmp_path, {"bottleneck.rate": ["2 Mbit/s", "8 Mbit/s"]}, *metrics)
    assert sum(finding(sweep).count(each) for each in ("at rate = 2 Mbit/s", " everywhere", " anywhere")) <= 3
    assert finding(sweep).startswith("Goodput, all flows rises from ")


def test_the_page_of_a_store_has_what_its_sweeps_show_and_leads_to_their_pages(
    three: Sweep, cli: Callable[..., Result]
) -> None:
    pages = three.store.directory / "pages"
    done = cli("report", three.store.directory)
    assert done.exit_code == 0, done.stderr
    written = three.store.directory / "report.html"
    assert [str(pages / f"{three.name}.html"), str(written)] == done.stderr.split()
    page = written.read_text()
    assert finding(three) in html.unescape(page)
    links = re.findall(r'href="(pages/[^"]+)"', page)
    assert [(written.parent / link).resolve() for link in links] == [(pages / f"{three.name}.html").resolve()]
    assert page.count("<figure") == 1
    assert page_of(three.store.directory) == written, "parshall open shows the store's page"
    written.unlink()
