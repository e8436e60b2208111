"""A mean over repetitions and its confidence interval, or the range of a model, as the page prints them."""

from __future__ import annotations

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.quantiles import NoValue
from parshall.analysis.stats.ranges import Number, Range
from parshall.foundations.numbers import (
    ABSENT,
    NO_BREAK,
    THIN,
    Scale,
    half_width_text,
    joined,
    matching,
    negligible,
    quantity,
    scale_for,
    significant,
)

IDENTICAL = f"identical in all{NO_BREAK}repetitions"
"""In place of an interval of no width, where there is room for words."""

ZERO = f"±{THIN}0"
"""The same in a table."""

_EVEN = 1e-6
"""Of an interval's width: so far from its middle an estimate may be by rounding."""


def in_scale(interval: Interval, scale: Scale, identical: str = ZERO) -> tuple[str, str]:
    """The estimate to the digits that its interval supports, without the unit; and its uncertainty ('' if unknown).

    That is the half width, or both ends where the estimate is not in the middle. Repetitions that all gave the same
    value have `identical`, not the rounding error of their mean.
    """
    mean, half = interval.mean * scale.factor, interval.half_width
    if half is None:
        return significant(mean), ""
    if negligible(half, interval.mean):
        return significant(mean, 4), identical
    width = half * scale.factor
    if symmetric(interval):
        return matching(mean, width), half_width_text(width, mean)
    low, high = (matching(end * scale.factor, width) for end in (interval.low or 0.0, interval.high or 0.0))
    return matching(mean, width), f"({low} to {high})"


def symmetric(interval: Interval) -> bool:
    """True if the estimate is in the middle of its interval, so that half the width says all."""
    if interval.low is None or interval.high is None:
        return True
    return abs(interval.low + interval.high - 2 * interval.mean) <= _EVEN * (interval.high - interval.low)


def with_unit(interval: Interval, unit: str, identical: str = ZERO) -> tuple[str, str]:
    """The mean with its unit, in the scale that suits it; and its uncertainty in that scale, with how many have one."""
    scale = scale_for(interval.mean, unit)
    number, spread = in_scale(interval, scale, identical)
    return joined(number, scale.unit), ", ".join(filter(None, (spread, some_of(interval))))


def interval_text(interval: Number | None, unit: str) -> str:
    """``47.31 ± 0.12 Mbit/s`` or ``12.7 s (11.9 to 13.6)``; of a range ``32.2 to 34.1 Mbit/s``; a dash for nothing."""
    if interval is None:
        return ABSENT
    if isinstance(interval, Range):
        return range_text(interval, unit)
    scale = scale_for(interval.mean, unit)
    number, spread = in_scale(interval, scale)
    having = f" ({some_of(interval)})" if interval.of else ""
    if symmetric(interval):
        return joined(f"{number}{THIN}{spread}" if spread else number, scale.unit) + having
    return f"{joined(number, scale.unit)} {spread}{having}"


def range_text(stated: Range, unit: str, *, signed: bool = False) -> str:
    r"""Both ends of a range, and a single number where they are printed alike; ``signed``: with + before positive ones.

    >>> range_text(Range(33e6, 32.2e6, 34.1e6, "cubic, from empty to full buffers"), "bit/s")
    '32.2 to 34.1\xa0Mbit/s'
    >>> (
    ...     range_text(Range(33e6, 33e6, 33e6, "load"), "bit/s"),
    ...     range_text(Range(1.0, -1.0, 2.0, "load"), "s", signed=True),
    ... )
    ('33.0\xa0Mbit/s', '\u22121.00 to +2.00\xa0s')
    """
    scale = scale_for(max(abs(stated.low), abs(stated.high)), unit)
    ends = [
        f"{'+' if signed and end > 0 else ''}{significant(end * scale.factor)}" for end in (stated.low, stated.high)
    ]
    return joined(" to ".join(dict.fromkeys(ends)), scale.unit)


def some_of(interval: Interval) -> str:
    """``4 of 5 repetitions have one``; empty where all have.

    Examples
    --------
    >>> some_of(Interval(1.0, 0.5, 1.5, n=4, of=5)), some_of(Interval(1.0, None, None, n=1, of=5))
    ('4 of 5 repetitions have one', '1 of 5 repetitions has one')
    """
    if not interval.of:
        return ""
    return f"{interval.n} of {interval.of} repetitions {'has' if interval.n == 1 else 'have'} one"


def no_value(lacking: NoValue, unit: str) -> str:
    r"""Return the reason why there is no value, and a lower bound if one is known.

    Examples
    --------
    >>> no_value(NoValue("61 % ended: no 95th percentile", 61, 100, above=9.06), "s")
    '61 % ended: no 95th percentile (more than 9.06\xa0s)'
    """
    above = "" if lacking.above is None else f" (more than {quantity(lacking.above, unit)})"
    return lacking.reason + above
