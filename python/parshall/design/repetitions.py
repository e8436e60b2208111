"""The number of repetitions with which a scenario's interval is narrow enough.

A few are simulated first. The half width of a confidence interval shrinks as t(n - 1)/sqrt(n), t being Student's
quantile, which says how many are needed. So many are then simulated, of which the first ones are there already. Where
their interval is still too wide, as the spread of few values is not known well, the same is asked of them.

An interval that is looked at again and again holds a little less often than it says: with ten repetitions and more the
difference is small (Law, Simulation Modeling and Analysis, 5th ed., 2015, section 9.4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.campaign import Execution, Plan
from parshall.campaign.plan import slug
from parshall.design.judging import Asked, Judged
from parshall.foundations import notebook
from parshall.foundations.distributions import student_quantile
from parshall.foundations.errors import InputError
from parshall.foundations.has_figures import HasFigures
from parshall.report.uncertainty import interval_text
from parshall.results.quantities.naming import named
from parshall.scenario import Scenario

PILOT = 8
MOST = 2000
_ROUNDS = 6


@dataclass(frozen=True)
class Look:
    """So many repetitions, and what was found."""

    repetitions: int
    interval: Interval


@dataclass(frozen=True)
class RepetitionsDesign(HasFigures, page="parshall.design.network_page:repetitions_page"):
    """The looks, one after the other; the last one is the answer, if its interval is narrow enough.

    Parameters
    ----------
    key, label, unit
        Of the quantity.
    within
        The half width that is asked, as a share of the mean.
    values
        Of the last look, a value a repetition; empty for a quantile of all repetitions together.
    predicted
        The half width that was expected of the last look, in the unit of the quantity.
    """

    scenario: Scenario
    key: str
    label: str
    unit: str
    within: float
    looks: tuple[Look, ...]
    values: tuple[float, ...]
    predicted: float

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer, and what was found on the way."""
        rows = ([each.repetitions, interval_text(each.interval, self.unit)] for each in self.looks)
        shown = notebook.table(("repetitions", self.label), rows)
        return notebook.fragment("Repetitions", "", notebook.sentences(sentences(self)), shown)

    @property
    def repetitions(self) -> int:
        """The answer."""
        return self.looks[-1].repetitions

    @property
    def judged(self) -> Judged:
        """The half width that was asked, expected and simulated."""
        last = self.looks[-1].interval
        asked = Asked(self.key, f"half width of the interval, {self.label}", self.unit, self.within * abs(last.mean))
        half = last.half_width
        width = float("inf") if half is None else half
        return Judged(asked, self.predicted, Interval(width, width, width, self.repetitions))


def expected(half_width: float, had: int, n: int) -> float:
    """The half width of n repetitions, from that of those that there were.

    >>> round(expected(1.0, 10, 40), 3)  # 4 times as many: half as wide, and Student's quantile is less
    0.447
    """
    quantiles = [student_quantile(0.975, number - 1) for number in (n, had)]
    return float(half_width * quantiles[0] / quantiles[1] * np.sqrt(had / n))


def needed(half_width: float, had: int, wanted: float, most: int = MOST) -> int:
    """The smallest number of repetitions whose half width is expected to be small enough; at most `most`."""
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        if expected(half_width, had, middle) <= wanted:
            high = middle
        else:
            low = middle
    return high


def choose(
    scenario: Scenario,
    key: str = "goodput_bps",
    within: float = 0.05,
    *,
    pilot: int = PILOT,
    most: int = MOST,
    execution: Execution | None = None,
) -> RepetitionsDesign:
    """Simulate until the interval is narrow enough.

    Parameters
    ----------
    scenario
        Its own number of repetitions does not matter.
    key
        A quantity, as `Result.quantity` takes it.
    within
        Half width over mean, in (0, 1).
    pilot
        How many are simulated first, 3 at least.
    most
        So many at most.
    execution
        Who simulates, and where that is kept.

    Raises
    ------
    InputError
        A number is out of its bounds, nothing was measured of the quantity, or its mean is 0.
    ParshallError
        As `parshall.sweep`.

    Examples
    --------
    >>> flows = [{"count": 2, "rtt": "40 ms", "start": {"uniform": "1 s"}}]
    >>> two = Scenario(duration="5 s", warm_up="2 s", bottleneck={"rate": "10 Mbit/s"}, flows=flows)
    >>> found = choose(two, "queueing_delay_s", 0.1)
    >>> found.judged.verdict, found.repetitions == len(found.values)
    ('holds', True)
    """
    if not 0 < within < 1:
        raise InputError(f"within: found {within:g}; accepted: between 0 and 1, e.g. 0.05 for 5 %")
    if not 3 <= pilot <= most:
        raise InputError(f"pilot: found {pilot}; accepted: 3 to {most} repetitions")
    n, looks = pilot, list[Look]()
    before = np.inf
    name = slug(f"{scenario.name}-repetitions")
    with (execution or Execution()).sweeping() as swept:
        while True:
            made = swept(Plan(name=name, scenario=scenario, repetitions=n, metrics=[key]))
            estimate = made.estimate(key, 0)
            if estimate is None:
                lacking = made.lacking(key, 0)
                raise InputError(f"{key}: {lacking.reason if lacking else 'nothing was measured of it'}")
            interval = estimate.interval
            if interval.half_width is None:
                raise InputError(f"{key}: found no interval with {n} repetitions: {interval.how}")
            if interval.mean == 0:
                raise InputError(f"{key}: found a mean of 0, of which no share can be asked; choose another")
            looks.append(Look(n, interval))
            wanted = within * abs(interval.mean)
            half = interval.half_width
            if half <= wanted or n >= most or len(looks) >= _ROUNDS:
                break
            n = max(n + 1, needed(half, n, wanted, most))
            before = expected(half, looks[-1].repetitions, n)
        label = made.label(key)
    predicted = half if np.isinf(before) else before
    values = tuple(estimate.by_repetition[number] for number in sorted(estimate.by_repetition))
    return RepetitionsDesign(
        scenario, key, label, named(key).unit, within, tuple(looks), values if len(values) == n else (), predicted
    )


def widths(values: tuple[float, ...]) -> list[tuple[int, float]]:
    """The half width of the first n values, for each n from 3 on."""
    halves = [(n, mean_interval(values[:n]).half_width) for n in range(3, len(values) + 1)]
    return [(n, half) for n, half in halves if half is not None]


def sentences(design: RepetitionsDesign) -> list[str]:
    """The answer in words."""
    last = design.looks[-1]
    half = last.interval.half_width or 0.0
    share = 100 * half / abs(last.interval.mean)
    if design.judged.verdict == "holds":
        first = design.looks[0]
        was = 100 * (first.interval.half_width or 0.0) / abs(first.interval.mean)
        of_pilot = f" With {first.repetitions} it is {was:.3g} %." if last is not first else ""
        return [
            f"Set repetitions = {last.repetitions}: the half width of the 95 % interval is then {share:.3g} % of the "
            f"{design.label}.{of_pilot}"
        ]
    return [
        f"{last.repetitions} repetitions are not enough: the half width of the 95 % interval is {share:.3g} % of the "
        f"{design.label}, {100 * design.within:g} % are asked. Longer repetitions may do."
    ]
