"""Sweeps whose points have these values, and what is said of them."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from saying import State, folder, moves
from scipy.stats import ttest_1samp, ttest_rel

import parshall as ps
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.quantiles import NoValue, Pooled
from parshall.campaign import Sweep
from parshall.campaign import page as sweep_page
from parshall.campaign.finding import sentences
from parshall.campaign.record import SweepRecord
from parshall.campaign.store_page import of_store
from parshall.cli import sweep as verb

LIMITS = ("0.5 BDP", "2 BDP", "8 BDP")
KEY = "bottleneck.queue.limit"
DELAY = "queueing_delay_s"
Point = Sequence[float] | NoValue | None
"""A value a repetition, or why there is none; None: no run."""

NOT_ENDED = NoValue("0 % ended: no median", 0, 20)


SCENARIO: Mapping[str, Any] = {
    "duration": "2 s",
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [{"rtt": "20 ms", "congestion_control": "reno", "start": {"uniform": "0.5 s"}}],
    "probes": {"flow_samples": False, "link_samples": False},
}


@cache
def swept(key: str = KEY, values: Sequence[str] = LIMITS, **more: Any) -> Sweep:
    """A sweep with two repetitions a point."""
    store = folder()
    plan = ps.Plan(
        name="limits", scenario=SCENARIO, parameters={key: list(values)}, repetitions=2, metrics=[DELAY], **more
    )
    return ps.sweep(plan, store, workers=1)


class _Given(Sweep):
    """A sweep of which the points have given values."""

    points_given: Sequence[Point] = ()

    def estimate(self, metric: str, point: int) -> Pooled | None:
        values = self.points_given[point] if metric == DELAY else None
        if values is None or isinstance(values, NoValue):
            return None
        return Pooled(mean_interval(values), dict(enumerate(values)))

    def lacking(self, metric: str, point: int) -> NoValue | None:
        values = self.points_given[point] if metric == DELAY else None
        return values if isinstance(values, NoValue) else None


@dataclass(frozen=True)
class Points:
    """Each point of a sweep, what its record says, and the words for it, recomputed with SciPy."""

    values: Sequence[Point]
    record: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, Sequence[str]] = (KEY, LIMITS)

    def sweep(self) -> Sweep:
        made = swept(self.names[0], tuple(self.names[1]))
        record = replace(made.record, **self.record)
        record = replace(record, points=tuple(self._points(record)))
        given = _Given(made.store, record)
        given.points_given = self.values
        return given

    def _points(self, record: SweepRecord) -> list[Any]:
        """A point without a value has no runs."""
        return [
            replace(point, runs=()) if value is None and not self.record.get("failed") else point
            for point, value in zip(record.points, self.values, strict=True)
        ]

    def says(self) -> str:
        sweep = self.sweep()
        page = sweep_page.document(sweep)
        terminal = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(terminal):
            verb._show(sweep, None)
            if sweep.record.failed:
                verb._tell_failures(sweep)
        store = of_store(sweep.store, [sweep], [page])
        assert page.finding in "\n".join(text for each in store.sections for text in each.paragraphs)
        texts = (text for each in page.sections for text in each.paragraphs)
        return "\n".join([page.finding, *texts, terminal.getvalue()])

    def oracle(self, text: str) -> None:
        first = text.split("\n", maxsplit=1)[0]
        moves(first)
        known = {n: np.asarray(x) for n, x in enumerate(self.values) if x is not None and not isinstance(x, NoValue)}
        lacking = [n for n, value in enumerate(self.values) if isinstance(value, NoValue)]
        for number in lacking[:4]:
            assert f"{self.names[1][number]} ({self.values[number].reason})" in first, first  # type: ignore[union-attr]
        assert f"at {len(lacking) - 4} more" in first or len(lacking) <= 4
        if len(known) < 2:
            assert not re.search(r"rises|falls|highest|equal|the same", first)
            return
        means = {n: x.mean() for n, x in known.items()}
        least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        spread = np.ptp(known[most] - known[least]) > 1e-9 and known[least].size > 1
        p = float(ttest_rel(known[most], known[least]).pvalue) if spread else 1.0
        relative = means[most] / means[least] - 1
        if " is highest, " in first:
            assert f"{self.names[1][most]}, and lowest" in first
        if re.search(r"rises|falls|highest", first):
            assert p < 0.05, first
            assert relative >= 0.01, first
        elif "more than chance is not known" in first:
            assert not spread, first
            assert relative > 0, first
        elif "equal everywhere" in first:
            assert relative == 0, first
        elif "the same within 1 %" in first:
            assert relative < 0.01, first
        else:
            assert "is not shown to differ" in first, first
            assert p > 0.05 / 3 or relative < 0.01, first


def state(values: Sequence[Point], *templates: str, **more: Any) -> State:
    made = Points(values, **more)
    return State(made.says, {f"sweep.{name}" for name in templates}, made.oracle)


LOW, MIDDLE, HIGH = (1.0, 1.1, 1.2), (1.5, 1.6, 1.76), (2.0, 2.11, 2.19)


def failed(*points: int) -> dict[str, Any]:
    """The record of a sweep in which the first runs of these points failed."""
    record = swept().record
    return {"status": "failures", "failed": {record.points[n].runs[0]: "out of memory" for n in points}}


def all_failed(point: int) -> dict[str, Any]:
    record = swept().record
    return {"status": "failures", "failed": dict.fromkeys(record.points[point].runs, "out of memory")}


SHARE = "group/bbr/share"


class _Shared(Sweep):
    """A sweep of two groups of as many flows, whose first one has given shares."""

    shares: Sequence[Sequence[float]] = ()
    fair_shares = {"bbr": 0.5, "cubic": 0.5}  # type: ignore[assignment]  # noqa: RUF012

    def estimate(self, metric: str, point: int) -> Pooled | None:
        return (
            Pooled(mean_interval(self.shares[point]), dict(enumerate(self.shares[point]))) if metric == SHARE else None
        )

    def lacking(self, metric: str, point: int) -> NoValue | None:  # noqa: ARG002
        return None


@dataclass(frozen=True)
class Shares:
    """The share of BBR at each point, and who has more by the sign of its difference from one half."""

    values: Sequence[Sequence[float]]

    def says(self) -> str:
        made = swept(KEY, LIMITS[: len(self.values)])
        shared = _Shared(made.store, replace(made.record, metrics=(SHARE,)))
        shared.shares = self.values
        return " ".join(each.text for each in sentences(shared))

    def oracle(self, text: str) -> None:
        first = text.split(". ", maxsplit=1)[0]
        for limit, values in zip(LIMITS, self.values, strict=False):
            p = float(ttest_1samp(values, 0.5).pvalue)
            more = "bbr" if np.mean(values) > 0.5 else "cubic"
            if limit in first and f"at {limit} neither" not in first:
                assert p < 0.05
                assert re.search(rf"{more} (has more )?(at|up to|from) {limit}", first), first
            elif f"at {limit} neither" in first:
                assert p > 0.05 / 3
            elif "everywhere" in first:
                assert p < 0.05
                assert first.startswith(f"{more} has more")


def shares(values: Sequence[Sequence[float]], *templates: str) -> State:
    made = Shares(values)
    return State(made.says, {f"sweep.{name}" for name in templates}, made.oracle)


MOST, HALF, LEAST = (0.7, 0.71, 0.72), (0.4, 0.5, 0.61), (0.2, 0.21, 0.22)


def says_of_failures(text: str) -> None:
    assert "failed" in text.split("\n", maxsplit=1)[0]


def says_of_how_many(text: str) -> None:
    """Also where the value stands: a mean of what did not fail is of fewer repetitions."""
    says_of_failures(text)
    made = swept()
    without = Sweep(made.store, replace(made.record, **failed(0)))
    assert [f"{n} of 2 repetitions" in without.text(DELAY, 0) for n in (1, 2)] == [True, False]
    assert "repetitions" not in without.text(DELAY, 1)


@cache
def with_baseline(*, seeds: bool) -> Sweep:
    """A real sweep with a baseline; seeds are the same at all points, or are swept too."""
    parameters = {KEY: list(LIMITS[:2]), **({"seed": [1, 2]} if seeds else {})}
    compare = {"parameter": KEY, "baseline": LIMITS[0]}
    plan = ps.Plan(
        name="baseline",
        scenario=SCENARIO,
        parameters=parameters,
        repetitions=3,
        metrics=[DELAY],
        compare=compare,  # type: ignore[arg-type]
    )
    return ps.sweep(plan, folder(), workers=1)


def page_of(sweep: Sweep) -> str:
    page = sweep_page.document(sweep)
    return "\n".join([page.finding, *(text for each in page.sections for text in each.paragraphs)])


def pairs(seeds: bool, text: str) -> None:
    """Repetitions are pairs where the seed is one for all points: as those of the judgements are."""
    sweep = with_baseline(seeds=seeds)
    ((_, judged),) = sweep.judged([(DELAY, 1 + seeds, 0)]).items()
    assert judged.paired == (not seeds)
    assert ("compared one by one" in text) == judged.paired
    assert ("independent samples" in text) != judged.paired


class _Large(_Given):
    """A sweep with more points than a page lists."""

    points_given = (LOW,) * 501


def large() -> str:
    made = swept()
    record = replace(made.record, points=made.record.points * 167)
    sweep = _Large(made.store, record)
    terminal = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(terminal):
        verb._show(sweep, None)
    return "\n".join([*sweep_page._left_out(sweep), terminal.getvalue()])


def left_out(text: str) -> None:
    assert "1\xa0more point is in the store" in text
    assert "and 461 more points" in text


class _Emulated(_Given):
    """A sweep whose runs were emulated, one of them doubtful."""

    points_given = (LOW, MIDDLE, HIGH)

    @property
    def runs(self) -> pl.DataFrame:
        return pl.DataFrame({"validity": ["valid"] * 5 + ["doubtful"]})


def levels(text: str) -> None:
    assert "5 valid, 1 doubtful" in text


def emulated() -> str:
    made = swept()
    record = replace(made.record, plan={**made.record.plan, "instrument": "emulate"})
    return "\n".join(sweep_page._summary(_Emulated(made.store, record)))


MANY = tuple(f"{n} BDP" for n in range(1, 8))

STATES: dict[str, State] = {
    "a metric that rises": state([LOW, MIDDLE, HIGH], "course", "done", "made", "ended"),
    "a metric that falls": state([HIGH, MIDDLE, LOW], "course"),
    "a metric with a maximum": state([LOW, HIGH, MIDDLE], "extremes"),
    "points of one repetition": state([(1.0,), (2.0,), (3.0,)], "chance"),
    "points of one repetition, all alike": state([(1.0,), (1.0,), (1.0,)], "not_shown"),
    "points that are copies": state([(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], "chance"),
    "points that are equal": state([(1.0, 1.0)] * 3, "equal"),
    "points that differ by nothing that matters": state(
        [(1.0, 1.1, 1.2), (1.0001, 1.10012, 1.2001), (1.0002, 1.1002, 1.20021)], "same"
    ),
    "points that chance makes differ": state([(1.0, 2.0, 3.0), (2.2, 1.1, 2.9), (3.1, 1.2, 2.0)], "not_shown"),
    "no transfer of one point ended": state([LOW, NOT_ENDED, HIGH], "course", "no_value"),
    "no transfer of any point ended": state([NOT_ENDED] * 3, "none", "no_value"),
    "transfers of one point alone ended": state([NOT_ENDED, LOW, NOT_ENDED], "one_point", "no_value"),
    "too few values at one point": state([NoValue("too few values: 12 of 20", 12, 20), LOW, HIGH], "no_value"),
    "more points without a value than are named": state(
        [LOW, *[NOT_ENDED] * 6], "one_point", "no_values", names=(KEY, MANY)
    ),
    "an interrupted sweep": state([LOW, HIGH, None], "unfinished", "goes_on", record={"status": "interrupted"}),
    "an interrupted sweep, all points of which have runs": state(
        [LOW, MIDDLE, HIGH], "unfinished", record={"status": "interrupted"}
    ),
    "a shard of a sweep": state([LOW, None, None], "unfinished", "shards", record={"status": "shard"}),
    "a sweep with a baseline": State(
        lambda: page_of(with_baseline(seeds=False)), {"sweep.baseline", "sweep.paired"}, partial(pairs, False)
    ),
    "a sweep with a baseline and seeds": State(
        lambda: page_of(with_baseline(seeds=True)), {"sweep.baseline", "sweep.independent"}, partial(pairs, True)
    ),
    "more points than are listed": State(large, {"sweep.left_out", "sweep.more"}, left_out),
    "an emulated sweep": State(emulated, {"sweep.emulated"}, levels),
    "one group has more behind short buffers": shares([MOST, MOST, LEAST], "sharing"),
    "another has more behind long ones": shares([LEAST, MOST, MOST], "sharing"),
    "between both neither has more": shares([MOST, HALF, LEAST], "sharing_open"),
    "one group has more everywhere": shares([LEAST, LEAST, LEAST], "sharing_all"),
    "a few runs failed": State(
        lambda: Points([LOW, MIDDLE, HIGH], failed(0, 1)).says(),
        {"sweep.failures", "sweep.failed", "sweep.errors"},
        says_of_how_many,
    ),
    "all runs of a point failed": State(
        lambda: Points([None, MIDDLE, HIGH], all_failed(0)).says(), {"sweep.missing"}, says_of_failures
    ),
}
