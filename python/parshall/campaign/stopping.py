"""The rule that ends the repetitions of a point.

A fixed number, or until the 95 % interval of a metric is narrower than asked. The interval is looked at after n_0 (the
minimum) repetitions, and then each time their number has grown by 30 %, up to the maximum. A look at n uses
the first n repetitions and nothing else, so where a point ends does not depend on how many workers there are, or on
which run came first.

Stopping when an interval happens to be narrow makes it cover the mean a little less often than 95 %: with n_0 = 10 and
looks 30 % apart, 94 % for normal values, against 92 % with n_0 = 5. That is why the looks are few and the minimum is 10
by default (Law 2015, §9.4.1, on the procedure with relative precision).

A completion time that too few transfers reached has no interval, so its point goes on to the maximum.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from parshall.analysis.stats.confidence import Interval, mean_interval, paired_difference
from parshall.analysis.stats.estimates import Censored, Means, Series, joined
from parshall.campaign.plan import Stopping
from parshall.campaign.shard import Shard

Value = float | Series | None
"""The value of the metric in a repetition: a number, the values of which a quantile is made, or nothing."""

GROWTH = 1.3
_LEAST = 3
"""Values without which there is no telling."""

Reason = Literal["fixed", "precise", "maximum", "budget", "time", "shard", "going on"]


def looks(stopping: Stopping) -> list[int]:
    """The numbers of repetitions after which the interval is looked at.

    >>> looks(Stopping(metric="goodput_bps", half_width=1.0, minimum=10, maximum=30))
    [10, 13, 17, 23, 30]
    """
    numbers, n = [], stopping.minimum
    while n < stopping.maximum:
        numbers.append(n)
        n = math.ceil(n * GROWTH)
    return [*numbers, stopping.maximum]


@dataclass(frozen=True)
class StoppingCell:
    """Points that are repeated equally often, and the series whose intervals decide.

    Parameters
    ----------
    points
        Their numbers.
    series
        A point each, and for a difference the point that is its baseline.
    """

    points: tuple[int, ...]
    series: tuple[tuple[int, int | None], ...]


@dataclass
class _State:
    """The progress of a cell."""

    cell: StoppingCell
    look: int = 0
    """Index of the look that is being prepared."""
    repetitions: int = 0
    """Handed out, of each point."""
    missing: int = 0
    """Of these, how many results are not there yet."""
    reason: Reason = "going on"


@dataclass
class Planner:
    """Hands out repetitions, takes results, and says when there are enough.

    Parameters
    ----------
    cells
        What is decided together; their points are all points, each once.
    rule
        The number of repetitions, or the rule that ends them.
    most
        The budget of runs. With one, cells are looked at in rounds, so that the order of results changes nothing.
    shard
        The part that is handed out, which has no budget of runs: of a fixed number of repetitions every n-th run, of a
        rule every n-th cell, for what ends its repetitions are all of its values.
    """

    cells: Sequence[StoppingCell]
    rule: int | Stopping
    most: int | None = None
    shard: Shard | None = None
    _states: list[_State] = field(init=False)
    _queue: deque[tuple[int, int]] = field(init=False, default_factory=deque)
    _values: dict[int, dict[int, Value]] = field(init=False, default_factory=dict)
    _round: list[_State] = field(init=False, default_factory=list)
    _granted: int = 0

    def __post_init__(self) -> None:
        self._looks = looks(self.rule) if isinstance(self.rule, Stopping) else [self.rule]
        self._states = [_State(cell) for cell in self.cells]
        self._of = {point: state for state in self._states for point in state.cell.points}
        self._values = {point: {} for point in self._of}
        mine = self._states
        if self.shard is not None and isinstance(self.rule, Stopping):
            mine = self.shard.of(self._states)
            for state in self._states:
                state.reason = "going on" if any(state is each for each in mine) else "shard"
        self._grant(mine)

    def next(self) -> tuple[int, int] | None:
        """A point and a repetition to do, or None if there is none now."""
        return self._queue.popleft() if self._queue else None

    @property
    def queued(self) -> Iterator[tuple[int, int]]:
        """Return the repetitions that were not handed out yet."""
        return iter(self._queue)

    def record(self, point: int, repetition: int, value: Value) -> None:
        """Take a result: the metric of that repetition, or None for a run that failed or does not have it."""
        self._values[point][repetition] = value
        state = self._of[point]
        state.missing -= 1
        if state.missing == 0 and state.reason == "going on":
            self._decide(state)
        if self.most is not None and not any(each.missing for each in self._states) and self._round:
            waiting, self._round = sorted(self._round, key=lambda each: each.cell.points), []
            self._grant(waiting)

    def end(self, reason: Reason) -> None:
        """Hand out nothing more: time is over."""
        self._queue.clear()
        for state in self._states:
            if state.reason == "going on":
                state.reason = reason

    @property
    def finished(self) -> bool:
        """True if no further run will be handed out."""
        return not self._queue and all(state.reason != "going on" for state in self._states)

    def repetitions(self, point: int) -> int:
        """Return the number of repetitions of a point that count: the first ones without a gap."""
        values, there = self._values[point], 0
        while there in values:
            there += 1
        return there

    def reason(self, point: int) -> Reason:
        """Return the reason why a point's repetitions ended."""
        return self._of[point].reason

    def _grant(self, states: Sequence[_State]) -> None:
        """Hand out the repetitions of these cells' next look, the first of every point before the second of any."""
        wanted: list[tuple[int, int, int]] = []
        for order, state in enumerate(states):
            target = self._looks[state.look]
            runs = [
                (number, order, point) for number in range(state.repetitions, target) for point in state.cell.points
            ]
            if isinstance(self.rule, Stopping) and self.most is not None and self._granted + len(runs) > self.most:
                state.reason = "budget"
                continue
            self._granted += len(runs)
            state.repetitions = target
            wanted += runs
        wanted.sort()
        if not isinstance(self.rule, Stopping) and self.most is not None:
            wanted = wanted[: self.most]
        if not isinstance(self.rule, Stopping) and self.shard is not None:
            wanted = self.shard.of(wanted)
        for number, _, point in wanted:
            self._of[point].missing += 1
            self._queue.append((point, number))
        for state in states:
            if state.missing == 0 and state.reason == "going on":
                state.reason = "budget" if self.shard is None else "shard"

    def _decide(self, state: _State) -> None:
        if not isinstance(self.rule, Stopping):
            full = sum(len(self._values[point]) for point in state.cell.points)
            short: Reason = "budget" if self.shard is None else "shard"
            state.reason = "fixed" if full == self.rule * len(state.cell.points) else short
        elif self._precise(state, self.rule):
            state.reason = "precise"
        elif state.look + 1 == len(self._looks):
            state.reason = "maximum"
        else:
            state.look += 1
            if self.most is None:
                self._grant([state])
            else:
                self._round.append(state)

    def _precise(self, state: _State, rule: Stopping) -> bool:
        return all(self._narrow(point, baseline, rule) for point, baseline in state.cell.series)

    def _narrow(self, point: int, baseline: int | None, rule: Stopping) -> bool:
        estimate = interval(self._values[point], None if baseline is None else self._values[baseline])
        known = sum(value is not None for value in self._values[point].values())
        if estimate is None or min(estimate.n, known) < _LEAST or estimate.half_width is None:
            return False
        if rule.half_width is not None:
            return estimate.half_width <= rule.half_width
        scale = estimate if baseline is None else interval(self._values[baseline])
        return scale is not None and estimate.half_width <= (rule.relative_half_width or 0.0) * abs(scale.mean)


def interval(values: Mapping[int, Value], baseline: Mapping[int, Value] | None = None) -> Interval | None:
    """The 95 % interval of a metric over repetitions, or of its differences to a baseline's; None without any.

    It is not cut to what the metric can be: an interval that is cut would seem narrow.
    """
    numbers = _together(values)
    if numbers is None or (estimate := numbers.estimate()) is None:
        return None
    if baseline is None:
        is_mean = isinstance(numbers, Means) or (isinstance(numbers, Censored) and numbers.probability is None)
        return mean_interval(list(estimate.by_repetition.values())) if is_mean else estimate.interval
    other = _together(baseline)
    base = None if other is None else other.estimate()
    common = [] if base is None else sorted(estimate.by_repetition.keys() & base.by_repetition.keys())
    if base is None or not common:
        return None
    return paired_difference([estimate.by_repetition[n] for n in common], [base.by_repetition[n] for n in common])


def _together(values: Mapping[int, Value]) -> Series | None:
    """The repetitions as one series."""
    return joined(
        Means({number: value}) if isinstance(value, float | int) else value for number, value in sorted(values.items())
    )
