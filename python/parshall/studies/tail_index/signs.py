"""Every sign of Figs 1 and 2 on one table: published, ns-2's, ours at the mean asked for, and ours at equal loads."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from parshall.report.document import Section, Table
from parshall.report.numbers import NO_BREAK, counted
from parshall.studies.tail_index.grid import Setting, name
from parshall.studies.tail_index.measure import METRICS, WORDS
from parshall.studies.tail_index.published import NS2, NS2_TAIL_INDICES, TRENDS, published_sign
from parshall.studies.tail_index.trends import SIGNIFICANCE, VISIBLE, Change

Trends = dict[tuple[Setting, str], Change]
SIGNS = {1: "+", -1: "−", 0: "0", None: "not said"}
_NARROW = 0.1
"""An interval of a change that goes beyond this on either side does not show insensitivity."""
_SMALLEST_P = 0.001
_HEADER = (
    "setting",
    "metric",
    "published",
    "ns-2.35",
    "ours, mean as asked",
    "p",
    "ours, equal loads",
    "p",
    "reading",
)


def ns2_change(setting: Setting, metric: str) -> Change | None:
    """The change that ns-2 finds from a tail index of 2.5 to 1.5, with its normal 95 % interval; None: not run."""
    if setting not in NS2:
        return None
    (light, light_error), (heavy, heavy_error) = NS2[setting][metric]
    relative = heavy / light - 1
    error = heavy / light * float(np.hypot(light_error / light, heavy_error / heavy))
    half = float(norm.ppf(0.975)) * error
    return Change(relative, relative - half, relative + half, float(2 * norm.sf(abs(relative) / error)))


def reading(sign: int | None, equal: Change | None) -> str:
    """What equal loads say of a published sign."""
    if sign is None or equal is None:
        return "not published"
    if equal.sign == sign:
        wide = sign == 0 and max(abs(equal.low), abs(equal.high)) > _NARROW
        return "as published, in runs too few to exclude a change" if wide else "as published"
    ends = (equal.low, equal.high)
    possible = (
        min(ends) <= VISIBLE and max(ends) >= -VISIBLE if sign == 0 else max(sign * end for end in ends) >= VISIBLE
    )
    return "not decided by so few runs" if possible else "not confirmed"


def section(asked: Trends, equal: Trends) -> Section:
    """The table, and which signs differ."""
    rows = [_row(setting, metric, asked, equal) for setting in TRENDS for metric in METRICS]
    said = {
        key: sign
        for setting in TRENDS
        for metric in METRICS
        if (sign := published_sign(setting, metric)) is not None and (key := (setting, metric)) in equal
    }
    differ = [key for key, sign in said.items() if equal[key].sign != sign]
    first, last = NS2_TAIL_INDICES
    return Section(
        "Trends with heavier tails",
        (
            f"{len(said) - len(differ)} of {counted(len(said), 'published sign')} are found at equal loads, "
            f"{sum(asked[key].sign == sign for key, sign in said.items())} in runs of the mean that was asked for. "
            + " ".join(_differing(key, said[key], equal[key]) for key in differ),
            "A sign is that of the metric's change from the lightest tail to the heaviest; a change that is not "
            f"significant at {SIGNIFICANCE:.0%}, or is below {VISIBLE:.0%}, counts as 0. Runs of the mean that was "
            "asked for begin at tail index 1.3: at 1.1 the mean of the sizes cannot be imposed. Equal loads include "
            f"1.1, but for N = 500. ns-2's change is from {first:g} to {last:g} only, less than half of that range, "
            "and at buffers of 100 and 1000 packets.",
        ),
        [Table("", _HEADER, rows, numbers=(2, 3, 4, 5, 6, 7))],
    )


def _row(setting: Setting, metric: str, asked: Trends, equal: Trends) -> tuple[str, ...]:
    key = (setting, metric)
    ours, level = asked[key], equal.get(key)
    sign = published_sign(setting, metric)
    return (
        name(setting),
        WORDS[metric],
        SIGNS[sign],
        _told(ns2_change(setting, metric)),
        _told(ours),
        _probability(ours),
        _told(level),
        _probability(level),
        reading(sign, level),
    )


def _told(change: Change | None) -> str:
    if change is None:
        return ""
    half = (change.high - change.low) / 2
    decimals = 0 if half >= _NARROW else 1
    return f"{SIGNS[change.sign]} ({change.relative:+.{decimals}%}{NO_BREAK}±{NO_BREAK}{half:.{decimals}%})"


def _probability(change: Change | None) -> str:
    if change is None:
        return ""
    return f"{change.p_value:.2g}" if change.p_value >= _SMALLEST_P else f"<{NO_BREAK}{_SMALLEST_P}"


def _differing(key: tuple[Setting, str], sign: int, equal: Change) -> str:
    setting, metric = key
    ns2 = ns2_change(setting, metric)
    beside = "" if ns2 is None else f", {ns2.relative:+.1%} in ns-2"
    return (
        f"{WORDS[metric].capitalize()}, {name(setting)}: published {SIGNS[sign]}, ours {equal.relative:+.1%} "
        f"({equal.low:+.1%} to {equal.high:+.1%}){beside}."
    )
