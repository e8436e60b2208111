"""Every sign of Figs 1 and 2 on one table: published, ns-2's, ours at the mean asked for, and ours at equal loads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.stats import norm

from parshall.foundations.numbers import NO_BREAK
from parshall.report.document import Section, Table
from parshall_studies.tail_index.measure import METRICS, WORDS
from parshall_studies.tail_index.settings import (
    FIG1,
    NS2,
    OTHER_STACK,
    READINGS,
    Setting,
    Ssthresh,
    ns2_values,
    published_sign,
    reading_words,
)
from parshall_studies.tail_index.trends import SIGNIFICANCE, VISIBLE, Change, Trends, outcome

SIGNS = {1: "+", -1: "−", 0: "0", None: "not said"}
_ROUNDED = 0.1
"""From this half-width on a change is shown in whole percent."""
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
    "at equal loads",
)


def ns2_change(setting: Setting, metric: str) -> Change | None:
    """The change that ns-2 finds from a tail index of 2.5 to 1.5, with its normal 95 % interval; None: not run."""
    if setting not in NS2:
        return None
    (light, light_error), (heavy, heavy_error) = ns2_values(setting, metric).values()
    relative = heavy / light - 1
    error = heavy / light * float(np.hypot(light_error / light, heavy_error / heavy))
    half = float(norm.ppf(0.975)) * error
    return Change(relative, relative - half, relative + half, float(2 * norm.sf(abs(relative) / error)))


def answer_section(equal: Trends) -> Section:
    """How many signs of Fig. 1 are found with the testbed's TCP, how many with ns-2's, and what throughput does."""
    with_slow_start = [each for each in FIG1 if each.slow_start]
    counts = "; ".join(f"{_count(equal, _of(ssthresh))} ({reading_words(ssthresh)})" for ssthresh in READINGS)
    last = [each for each in OTHER_STACK if not each.slow_start]
    both = [*last, *(each for each in OTHER_STACK if each.slow_start)]
    return Section(
        "Fig. 1 with the testbed's TCP, and with ns-2's",
        (
            "Fig. 1 was measured on a testbed of Linux hosts, so its network has Linux's TCP here: SACK, delayed ACKs, "
            "timestamps, an initial window of 3. At equal loads the six signs without slow start come out as "
            f"published for {counts}; the six with slow start for {_count(equal, with_slow_start)}. With ns-2's TCP, "
            f"which is not the testbed's, {_count(equal, both)} of the twelve do.",
            "Without slow start the testbed's throughput rises with heavier tails. With Linux's TCP: "
            f"{_changes(equal, [each for each in FIG1 if not each.slow_start])}. With ns-2's, which acknowledges every "
            f"packet, so that windows grow twice as fast: {_changes(equal, last)}.",
        ),
    )


def section(asked: Trends, equal: Trends) -> Section:
    """The table."""
    first, last = ns2_values(NS2[0], "loss")
    settings = list(dict.fromkeys(setting for setting, _ in (*asked, *equal)))
    return Section(
        "Trends with heavier tails",
        (
            "A sign is that of the metric's change from the lightest tail to the heaviest; a change that is not "
            f"significant at {SIGNIFICANCE:.0%}, or is below {VISIBLE:.0%}, is shown as 0. Runs of the mean that was "
            "asked for begin at tail index 1.3: at 1.1 the mean of the sizes cannot be imposed. Equal loads include "
            f"1.1, but for N = 500. ns-2's change is from {first:g} to {last:g} only, less than half of that range, "
            "and at buffers of 100 and 1000 packets; it is no part of the source where N = 45.",
        ),
        [
            Table(
                "",
                _HEADER,
                [_row(setting, metric, asked, equal) for setting in settings for metric in METRICS],
                numbers=(2, 3, 4, 5, 6, 7),
            )
        ],
    )


def _of(ssthresh: Ssthresh) -> list[Setting]:
    return [each for each in FIG1 if each.ssthresh == ssthresh]


def _count(equal: Trends, settings: Iterable[Setting]) -> int:
    return sum(
        outcome(setting, metric, equal[setting, metric]) == "holds" for setting in settings for metric in METRICS
    )


def _changes(equal: Trends, settings: Iterable[Setting]) -> str:
    return "; ".join(
        f"{equal[each, 'throughput_mbps'].told()} with B = {each.buffer} ({each.reading})" for each in settings
    )


def _row(setting: Setting, metric: str, asked: Trends, equal: Trends) -> tuple[str, ...]:
    ours, level = asked.get((setting, metric)), equal.get((setting, metric))
    return (
        setting.label(),
        WORDS[metric],
        SIGNS[published_sign(setting, metric)],
        _told(ns2_change(setting, metric)),
        _told(ours),
        _probability(ours),
        _told(level),
        _probability(level),
        _said(setting, metric, level),
    )


def _said(setting: Setting, metric: str, level: Change | None) -> str:
    if not setting.own_stack:
        return "not the figure's TCP"
    verdict_of_level = None if level is None else outcome(setting, metric, level)
    return "" if verdict_of_level is None else verdict_of_level.replace("_", " ")


def _told(change: Change | None) -> str:
    if change is None:
        return ""
    half = (change.high - change.low) / 2
    decimals = 0 if half >= _ROUNDED else 1
    return f"{SIGNS[change.sign]} ({change.relative:+.{decimals}%}{NO_BREAK}±{NO_BREAK}{half:.{decimals}%})"


def _probability(change: Change | None) -> str:
    if change is None:
        return ""
    return f"{change.p_value:.2g}" if change.p_value >= _SMALLEST_P else f"<{NO_BREAK}{_SMALLEST_P}"
