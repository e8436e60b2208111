"""Comparisons of results and of sweeps, and what is said of them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from saying import State
from scipy.stats import ttest_ind, ttest_rel
from statsmodels.stats.multitest import multipletests

import parshall as ps
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.quantiles import NoValue
from parshall.analysis.stats.verdict import Verdict
from parshall.campaign import comparing as of_sweeps
from parshall.campaign import comparison_page as sweeps_page
from parshall.cli import compare as verb
from parshall.report import comparison_page
from parshall.report.comparison import compare
from parshall.results.records import Result

LEAST = 0.01
Values = Mapping[str, Sequence[float]]
"""The goodputs of groups, bit/s, one a repetition."""


def result(values: Values, seed: int = 1, **metadata: Any) -> Result:
    """Flows with these goodputs, one a group."""
    alike = {"packets_sent": 100, "packets_dropped": 0, "retransmissions": 0, "timeouts": 0}
    alike |= {"mean_cwnd_packets": 10.0, "mean_rtt_s": 0.05, "rtt_base_s": 0.04}
    rows = [
        {"repetition": n, "flow": flow, "group": group, "congestion_control": "", "goodput_bps": x, **alike}
        for flow, (group, own) in enumerate(values.items())
        for n, x in enumerate(own)
    ]
    return Result(None, {"seed": seed, **metadata}, {"flows": pl.DataFrame(rows)})


@dataclass(frozen=True)
class Compared:
    """Two results, and the words for them, recomputed with SciPy and statsmodels."""

    a: Values
    b: Values
    paired: bool = True

    def says(self) -> str:
        one, two = result(self.a), result(self.b, 1 if self.paired else 2)
        return page_and_terminal(compare(one, two, names=["a", "b"]))

    def rows(self) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
        """The values of each quantity that is shown: a goodput of each group, that of all, and Jain's index."""
        names = [name for name in self.a if name in self.b]
        rows = {name: (self.a[name], self.b[name]) for name in names}
        every = [np.array([*zip(*each.values(), strict=True)]) for each in (self.a, self.b)]
        rows["all"] = tuple(each.sum(axis=1) for each in every)  # type: ignore[assignment]
        several = any(len(each) > 1 for each in (self.a, self.b))
        for name in names if several else ():
            places = [[*each].index(name) for each in (self.a, self.b)]
            shares = [each[:, place] / each.sum(axis=1) for each, place in zip(every, places, strict=True)]
            rows[f"share of {name}"] = (shares[0], shares[1])
        if all(len(each) > 1 for each in (self.a, self.b)):
            jain = [each.sum(axis=1) ** 2 / (each.shape[1] * (each**2).sum(axis=1)) for each in every]
            rows["jain"] = (jain[0], jain[1])
        return rows

    def differing(self) -> int:
        """How many quantities differ at a false discovery rate of 5 %, by 1 % of A's value or more."""
        found, sizes = [], []
        for a, b in self.rows().values():
            x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
            if self.paired:
                x, y = (each[: min(x.size, y.size)] for each in (x, y))
            difference = y[: x.size] - x[: y.size]
            if x.size < 2 or (np.ptp(difference) < 1e-9 * max(x.max(), y.max()) if self.paired else False):
                continue
            test = ttest_rel(y, x) if self.paired else ttest_ind(y, x, equal_var=False)
            found.append(float(test.pvalue))
            sizes.append(abs(y.mean() - x.mean()) / abs(x.mean()))
        if not found:
            return 0
        rejected = multipletests(found, alpha=0.05, method="fdr_bh")[0]
        return sum(bool(each) and size >= LEAST for each, size in zip(rejected, sizes, strict=True))

    def oracle(self, text: str) -> None:
        expected = self.differing()
        told = re.search(r"Of \d+\s\w+ (none|\d+) (?:is|are|can)", text)
        assert told is not None
        assert (0 if told[1] == "none" else int(told[1])) == expected, text
        repetitions = min(len(each) for each in (*self.a.values(), *self.b.values()))
        assert ("one repetition" in text) == (repetitions == 1), text
        assert ("false discovery rate" in text) == (repetitions > 1 and not self.copies), text
        if repetitions > 1:
            assert ("repetitions are compared in pairs" in text) == self.paired, text

    @property
    def copies(self) -> bool:
        return all(len(set(each)) == 1 and len(each) > 1 for each in (*self.a.values(), *self.b.values()))


def page_and_terminal(comparison: ps.Comparison) -> str:
    """The first sentences and the remarks of the page, and what the terminal prints beside the table."""
    page = comparison_page.document(comparison)
    terminal = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(terminal):
        verb.show(comparison)
    return "\n".join([page.finding, *(text for each in page.sections for text in each.paragraphs), terminal.getvalue()])


EIGHT = {"x": [8.0e6, 8.1e6, 8.05e6]}
NOISE = {"x": [5.0e6, 6.0e6, 4.0e6]}


def state(a: Values, b: Values, *templates: str, paired: bool = True) -> State:
    made = Compared(a, b, paired)
    return State(made.says, {f"comparison.{name}" for name in templates}, made.oracle)


def transfers(ended: int, begun: int, lasted_s: float = 9.0, took_s: float = 1.0) -> Result:
    """Three repetitions in each of which so many of so many transfers ended in about `took_s`; the others not."""
    rows = [
        {
            "repetition": n,
            "flow": flow,
            "group": "files",
            "start_s": 0.0,
            "size_bytes": 1000,
            "completion_s": took_s * (1.0 + 0.01 * flow + 0.001 * n) if flow < ended else None,
        }
        for n in range(3)
        for flow in range(begun)
    ]
    late = [{**row, "start_s": lasted_s, "completion_s": lasted_s} for row in rows if row["flow"] == 0]
    run = result({"files": [8e6, 8.1e6, 8.05e6]})
    tables = {"flows": run.tables["flows"], "transfers": pl.DataFrame([*rows, *late], infer_schema_length=None)}
    return Result(None, {"seed": 1}, tables)


def beyond() -> str:
    """Of one side hardly any transfer ended, of the other all."""
    return page_and_terminal(compare(transfers(30, 30, took_s=0.1), transfers(1, 30), names=["a", "b"]))


def beyond_is_told(text: str) -> None:
    assert "Of 2\xa0quantities too few transfers ended on one side" in text
    assert "cannot be compared: too few" in text


def few_values() -> str:
    return page_and_terminal(compare(transfers(4, 4), transfers(4, 4, 8.0), names=["a", "b"]))


def few_are_told(text: str) -> None:
    """Fifteen transfers of three repetitions are too few for a 95th percentile, and all ended."""
    assert "cannot be compared: too few values." in text
    assert "transfers ended" not in text


@cache
def predicted() -> ps.Comparison:
    scenario = ps.Scenario.from_document(
        {
            "duration": "6 s",
            "warm_up": "2 s",
            "repetitions": 2,
            "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "30 packets"}},
            "flows": [{"name": "reno", "rtt": "60 ms", "congestion_control": "reno", "start": {"uniform": "1 s"}}],
        }
    )
    return ps.compare(ps.run(scenario), ps.predict(scenario), names=["a", "b"])


STATES: dict[str, State] = {
    "results that differ": state(EIGHT, {"x": [4.0e6, 4.1e6, 4.2e6]}, "some", "values", "first", "intervals", "pairs"),
    "results that differ, other seeds": state(EIGHT, {"x": [4.0e6, 4.1e6, 4.2e6]}, "some", "independent", paired=False),
    "one of several quantities differs": state(
        {"x": [5.0e6, 6.0e6, 4.0e6], "y": [2.0e6, 2.1e6, 2.2e6]},
        {"x": [6.0e6, 4.0e6, 5.2e6], "y": [1.0e6, 1.1e6, 1.21e6]},
        "some",
        "family",
    ),
    "results that chance makes differ": state(NOISE, {"x": [6.0e6, 4.0e6, 5.5e6]}, "none", "family", "order", "how"),
    "a difference too small to matter": state(EIGHT, {"x": [8.001e6, 8.102e6, 8.0513e6]}, "none"),
    "results of one repetition": state({"x": [8e6]}, {"x": [4e6]}, "no_chance", "no_intervals", "order"),
    "results that are copies": state({"x": [8e6] * 3}, {"x": [4e6] * 3}, "none", "copies"),
    "results that are equal": state({"x": [8e6] * 3}, {"x": [8e6] * 3}, "none"),
    "a group that one result does not have": state({"x": NOISE["x"], "z": [1e6] * 3}, {"x": NOISE["x"]}, "copies"),
    "an interrupted run beside a whole one": state(EIGHT, {"x": [4.0e6, 4.15e6]}, "some"),
    "results with nothing in common": State(
        lambda: page_and_terminal(compare(Result(None, {}, {}), result(EIGHT), names=["a", "b"])),
        {"comparison.nothing"},
    ),
    "few transfers ended on one side": State(beyond, {"comparison.bounds", "comparison.no_value"}, beyond_is_told),
    "few transfers, all of which ended": State(few_values, {"comparison.no_value"}, few_are_told),
    "a run and its prediction": State(
        lambda: page_and_terminal(predicted()), {"comparison.range", "comparison.ranges", "comparison.only"}
    ),
}


# --- sweeps ---


def difference(a: Sequence[float], b: Sequence[float], verdict: Verdict, *, matters: bool) -> of_sweeps.Difference:
    one, two = mean_interval(a), mean_interval(b)
    both = mean_interval(np.subtract(b, a))
    return of_sweeps.Difference(
        metric="goodput_bps",
        point={"count": "1"},
        a=one,
        b=two,
        difference=both,
        relative=both.mean / one.mean,
        p_value=None if both.low is None else 0.001,
        significant=True,
        resolution=0.0,
        verdict=verdict,
        matters=matters,
    )


HIGHER = difference([1.0, 1.1, 1.2], [2.0, 2.2, 2.1], Verdict.HIGHER, matters=True)
ONCE = difference([1.0], [2.0], Verdict.UNKNOWN, matters=False)
UNREACHED = replace(
    HIGHER, b=None, difference=None, p_value=None, lacking=(None, NoValue("10 % ended: no median", 1, 10, above=9.0))
)


def swept(*differences: of_sweeps.Difference, **more: Any) -> Callable[[], str]:
    """The page and the terminal of two sweeps with these differences."""
    keys = {"a": "old", "b": "new", "paired": True, "only_a": 0, "only_b": 0, **more}
    comparison = of_sweeps.Comparison(differences=differences, **keys)

    def says() -> str:
        page = sweeps_page.document(comparison)
        terminal = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(terminal):
            verb._show_sweeps(comparison, quiet=False)
        texts = (text for each in page.sections for text in each.paragraphs)
        return "\n".join([page.finding, *texts, terminal.getvalue()])

    return says


def counts(of: str, differ: str, text: str) -> None:
    assert f"Of {of}\xa0value" in text
    assert f" {differ} shown to differ" in text
    assert f"first: {differ.split(' ', maxsplit=1)[0].replace('none', '0')} that are shown" in text


def no_interval(text: str) -> None:
    assert "one repetition" in text
    assert "with 95 % confidence intervals" not in text


STATES |= {
    "sweeps that differ": State(
        swept(HIGHER, replace(HIGHER, verdict=Verdict.NOT_SHOWN, matters=False), only_b=1),
        {"comparison.sweeps", "comparison.sweep_values", "comparison.some", "comparison.alone", "comparison.family"},
        lambda text: counts("2", "1 is", text),
    ),
    "sweeps of one repetition": State(
        swept(ONCE, ONCE), {"comparison.no_chance", "comparison.no_intervals"}, no_interval
    ),
    "sweeps with a point that too few transfers reached": State(
        swept(UNREACHED), {"comparison.bounds"}, lambda text: counts("1", "1 is", text)
    ),
    "sweeps with more differences than the page lists": State(
        swept(*[HIGHER] * 501), {"comparison.left_out"}, lambda text: counts("501", "501 are", text)
    ),
}
