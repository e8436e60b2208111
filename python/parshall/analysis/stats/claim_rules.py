"""The rules by which claims are made, a function each (`parshall.analysis.stats.claims`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.claims import BOUND, SIGN, Basis, Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval, prediction_interval
from parshall.analysis.stats.region import exactly

EXACT = Tolerance(0.0, "")
"""No tolerance: a count, or what was printed in full."""


def equal(
    artefact: str,
    quantity: str,
    reference: float,
    value: Interval | None,
    *,
    within: Tolerance = EXACT,
    note: str = "",
    basis: Basis = "published",
    reading: str = "",
    nulls: Sequence[Null] = (),
    null_reason: str = "",
) -> Claim:
    """A value that is to be equal to a reference, within a tolerance.

    Examples
    --------
    >>> digits = Tolerance(0.05, "half of the last digit")
    >>> equal("table1", "mean, s", 2.0, Interval(2.01, 1.98, 2.04, n=8), within=digits).verdict
    'reproduced'
    >>> equal("table1", "mean, s", 2.0, Interval(2.01, 1.90, 2.12, n=8), within=digits).verdict
    'compatible'
    """
    return Claim(
        artefact,
        quantity,
        value,
        "equal",
        float(reference),
        within.value,
        within.reason,
        basis,
        nulls=tuple(nulls),
        null_reason=null_reason,
        reading=reading,
        note=note,
    )


def one_run(
    artefact: str,
    quantity: str,
    published: float,
    runs: ArrayLike,
    *,
    within: Tolerance,
    note: str = "",
    reading: str = "",
) -> Claim:
    """A published value that is one run, of which one more run of ours would miss the mean by as much as it varies.

    The source's own value is uncertain by the half-width of the interval in which one run of ours falls.

    Parameters
    ----------
    runs
        One value a run of ours, shape (n,), n at least 2.

    Examples
    --------
    >>> digits = Tolerance(0.005, "half of the last digit")
    >>> one_run("table2", "gain", 0.31, [0.28, 0.31, 0.30, 0.33], within=digits).verdict
    'undecided'
    >>> one_run("table2", "gain", 0.61, [0.28, 0.31, 0.30, 0.33], within=digits).verdict
    'not_reproduced'
    """
    claim = equal(artefact, quantity, published, mean_interval(runs), within=within, note=note, reading=reading)
    return replace(claim, uncertain=prediction_interval(runs).half_width or 0.0)


def at_most(artefact: str, quantity: str, bound: float, value: Interval | None, note: str = "") -> Claim:
    """A criterion: a value that may not be above a bound.

    >>> at_most("rule 2", "delay, s", 0.02, Interval(0.01, 0.008, 0.012, n=5)).verdict
    'holds'
    """
    return Claim(artefact, quantity, value, "at_most", float(bound), basis="asked", null_reason=BOUND, note=note)


def at_least(artefact: str, quantity: str, bound: float, value: Interval | None, note: str = "") -> Claim:
    """A criterion: a value that may not be below a bound.

    >>> at_least("rule 1", "used share", 0.9, Interval(0.8, 0.75, 0.85, n=5)).verdict
    'fails'
    """
    return Claim(artefact, quantity, value, "at_least", float(bound), basis="asked", null_reason=BOUND, note=note)


def reported(
    artefact: str,
    quantity: str,
    value: Interval | None,
    note: str = "",
    *,
    reading: str = "",
    basis: Basis = "published",
) -> Claim:
    """A value that is held against nothing.

    >>> reported("fig2", "median, s", Interval(1.5, 1.4, 1.6, n=5)).verdict
    'reported'
    """
    return Claim(artefact, quantity, value, basis=basis, reading=reading, note=note)


def sign(
    artefact: str,
    quantity: str,
    published: int | None,
    difference: Interval | None,
    note: str = "",
    *,
    negligible: Tolerance = EXACT,
    reading: str = "",
) -> Claim:
    """A published sign (1, -1, or 0: no change) of a difference; None: the source has none.

    Parameters
    ----------
    negligible
        What counts as no change, in the difference's unit.

    Examples
    --------
    >>> sign("fig9", "gain", 1, Interval(0.2, 0.1, 0.3, n=8)).verdict
    'reproduced'
    >>> sign("fig9", "gain", 1, Interval(0.2, -0.1, 0.5, n=8)).verdict
    'compatible'
    >>> sign("fig9", "gain", 1, Interval(-0.2, -0.3, -0.1, n=8)).verdict
    'not_reproduced'
    >>> sign("fig2", "change", 0, Interval(0.01, -0.01, 0.03, n=8), negligible=Tolerance(0.05, "a line")).verdict
    'reproduced'
    """
    named = f"{quantity}{SIGN}"
    if published is None:
        return reported(artefact, named, difference, note, reading=reading)
    return Claim(
        artefact,
        named,
        difference,
        "sign",
        float(published),
        negligible.value,
        negligible.reason,
        reading=reading,
        note=note,
    )


def monotone(
    artefact: str, quantity: str, values: Sequence[float], direction: int, note: str = "", *, reading: str = ""
) -> Claim:
    """A curve of exact values that is to rise (1) or fall (-1) at each step.

    Its nulls are a curve the other way, and a flat one.

    Examples
    --------
    >>> monotone("fig3", "width", [4.0, 2.0, 1.0], -1).verdict, monotone("fig3", "width", [4.0, 2.0, 3.0], -1).verdict
    ('reproduced', 'not_reproduced')
    """
    steps = direction * np.diff(np.asarray(values, dtype=np.float64))
    backwards = exactly(-float(np.abs(steps).max()))
    nulls = (Null("a curve the other way", backwards), Null("a flat curve", exactly(0.0)))
    least = exactly(float(steps.min()))
    return Claim(artefact, quantity, least, "monotone", nulls=nulls, reading=reading, note=note)


def ordering(artefact: str, quantity: str, margins: Sequence[Interval], note: str = "", *, reading: str = "") -> Claim:
    """An order of several values: all differences between neighbours are to be above 0.

    The null is that all are equal, and known as well.

    Parameters
    ----------
    margins
        Each neighbour less the next, with its interval.

    Examples
    --------
    >>> ordering("fig7", "use", [Interval(0.2, 0.1, 0.3, n=4), Interval(0.1, -0.1, 0.3, n=4)]).verdict
    'compatible'
    """
    least = min(margins, key=lambda each: each.mean if each.low is None else each.low)
    half = least.half_width or 0.0
    highs = [each.high for each in margins if each.high is not None]
    value = least if least.low is None or len(highs) < len(margins) else replace(least, high=min(highs))
    if value.low is not None and value.high is not None and not value.low <= value.mean <= value.high:
        value = replace(value, mean=(value.low + value.high) / 2)
    null = Null("all equal, known as well", Interval(0.0, -half, half, 1))
    return Claim(artefact, quantity, value, "ordering", nulls=(null,), reading=reading, note=note)


def line(
    artefact: str,
    quantity: str,
    x: Sequence[float],
    y: Sequence[float],
    *,
    within: Tolerance,
    note: str = "",
    reading: str = "",
) -> Claim:
    """Points that are to lie on a line that rises: their largest distance from the fitted line, over its rise.

    Its nulls are a curve that falls, and those of the square and of the logarithm over the same abscissas.

    Parameters
    ----------
    within
        The largest distance that is still a line; a curve of the square has to be beyond it.

    Examples
    --------
    >>> drawn = Tolerance(0.02, "the width of a line")
    >>> [line("fig8", "t", [1.0, 2.0, 3.0], y, within=drawn).outcome for y in ([1.0, 2.0, 3.01], [3.0, 2.0, 1.0])]
    ['holds', 'fails']
    """
    at = np.asarray(x, dtype=np.float64)
    curves = {"a line that falls": -at, "a curve of the square": at**2, "a logarithm": np.log(at)}
    nulls = tuple(Null(name, exactly(bent(at, curve))) for name, curve in curves.items())
    value = exactly(bent(at, np.asarray(y, dtype=np.float64)))
    return Claim(
        artefact,
        quantity,
        value,
        "line",
        tolerance=within.value,
        tolerance_reason=within.reason,
        nulls=nulls,
        reading=reading,
        note=note,
    )


def bent(x: ArrayLike, y: ArrayLike) -> float:
    """The largest distance of points from the fitted line, over its rise; negative where it falls, -1 where it is flat.

    >>> round(bent([1.0, 2.0, 3.0], [1.0, 4.0, 9.0]), 3)
    0.083
    """
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    slope, level = np.polyfit(at, values, 1)
    rise = float(slope * np.ptp(at))
    distance = float(np.max(np.abs(level + slope * at - values)))
    scale = float(np.max(np.abs(values))) or 1.0
    if rise <= 1e-12 * scale:
        return -max(distance / abs(rise), 1e-6) if rise < -1e-12 * scale else -1.0
    return distance / rise
