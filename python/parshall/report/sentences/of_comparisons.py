"""The sentences of comparisons: of results, and of sweeps point by point."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    # How much differs.
    "comparison.some": "Of {number} {are} shown to differ by as much as matters.",
    "comparison.none": "Of {number} none is shown to differ by as much as matters.",
    "comparison.no_chance": "Of {number} none can be shown to differ: {why}.",
    "comparison.nothing": "Nothing was measured in more than one of them, so there is nothing to compare.",
    "comparison.copies": (
        "{number} by as much as matters and alike in every repetition: whether that is more than chance is not known."
    ),
    "comparison.no_value": "{number} cannot be compared: {why}.",
    "comparison.values": "{label}: {values}.",
    # How that is meant.
    "comparison.first": "First comes what differs and matters (by {least} or more).",
    "comparison.no_intervals": "{why}, so no difference can be shown.",
    "comparison.intervals": "± is the half width of the 95 % confidence interval.",
    "comparison.pairs": "Same seed: repetitions are compared in pairs.",
    "comparison.independent": "Without a common seed repetitions are compared as independent samples (Welch).",
    "comparison.range": (
        "A prediction has the range that its model states, from empty to full buffers of full links: no confidence "
        "interval. A difference from it is shown only if the measured interval lies entirely outside this range."
    ),
    "comparison.family": "{were} compared, and those called different hold at a false discovery rate of {rate}.",
    "comparison.bounds": (
        "Of {number} too few transfers ended on one side to have a value, and it is known to be above the other "
        "side's interval with a confidence of 97.5 %."
    ),
    # What the terminal adds.
    "comparison.how": "95 % confidence intervals; repetitions are {how}",
    "comparison.ranges": "a prediction has a range, from empty to full buffers of full links: no confidence interval",
    "comparison.only": "{number} in one result only, and not shown (--json has them)",
    "comparison.order": "first: {number} that are shown and matter, by {least} or more (--at-least), the largest first",
    # Of sweeps.
    "comparison.sweeps": "A is {a}, B is {b}.",
    "comparison.sweep_values": (
        "Values are means over repetitions, or percentiles of all their values, with 95 % confidence intervals; "
        "repetitions are {how}."
    ),
    "comparison.alone": "{points} of {name} {are} not in the other sweep.",
    "comparison.left_out": "{number} more are left out here; `parshall compare --json` has them all.",
}
