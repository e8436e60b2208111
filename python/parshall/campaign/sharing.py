"""The sentence on who gets more of the goodput: two groups along one parameter of a sweep.

At each point the share of one group is compared with the share of its flows, repetition by repetition. All points are
one family of differences (`parshall.analysis.stats.families`): where a group is said to have more, chance is unlikely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from parshall.analysis.stats.families import Pair, judged
from parshall.campaign.result import Sweep
from parshall.report.sentences import Sentence, say
from parshall.results.quantities.naming import named

Words = Callable[[int], str]
"""Returns the value of the parameter at a point, in words."""


def sentence(sweep: Sweep, order: Sequence[int], words: Words) -> Sentence | None:
    """Return who has more at which points; None where the sweep has no two groups with shares, or no turn to tell.

    Parameters
    ----------
    order
        The points along the parameter.
    """
    fair = sweep.fair_shares
    asked = [group for group in fair if f"group/{group}/share" in sweep.record.metrics]
    if len(fair) != 2 or not asked or len(order) < 2:
        return None
    first = asked[0]
    (second,) = (group for group in fair if group != first)
    leads = _leads(sweep, named(f"group/{first}/share").name, fair[first], order)
    runs = [(lead, [place for place, _ in each]) for lead, each in groupby(enumerate(leads), key=lambda pair: pair[1])]
    points = [(lead, [order[place] for place in places]) for lead, places in runs]
    match points:
        case [(1 | -1 as lead, _)]:
            return say("sweep.sharing_all", first=first if lead > 0 else second)
        case [(1 | -1 as lead, before), (other, after)] if other == -lead:
            return say("sweep.sharing", **_turn(lead, (first, second), before, after, words))
        case [(1 | -1 as lead, before), (0, between), (other, after)] if other == -lead:
            turn = _turn(lead, (first, second), before, after, words)
            return say("sweep.sharing_open", **turn, between=_span(between, words))
    return None


def _leads(sweep: Sweep, metric: str, fair: float, order: Sequence[int]) -> list[int]:
    """Return 1 for each point where the group is shown to have more than its fair share, -1 for less, 0 for neither."""
    shares = {number: values for number in order if (values := sweep.values(metric, number))}
    pairs = {number: Pair.of_values(dict.fromkeys(values, fair), values) for number, values in shares.items()}
    found = judged(pairs, at_least=sweep.at_least)
    signs = {number: 1 if pairs[number].b.interval.mean > fair else -1 for number in pairs}
    return [signs[number] if number in found and found[number].matters else 0 for number in order]


def _turn(
    lead: int, groups: tuple[str, str], before: Sequence[int], after: Sequence[int], words: Words
) -> dict[str, str]:
    first, second = groups if lead > 0 else groups[::-1]
    here = f"up to {words(before[-1])}" if len(before) > 1 else f"at {words(before[0])}"
    there = f"from {words(after[0])} on" if len(after) > 1 else f"at {words(after[0])}"
    return {"first": first, "second": second, "here": here, "there": there}


def _span(points: Sequence[int], words: Words) -> str:
    ends = words(points[0]), words(points[-1])
    return f"at {ends[0]}" if len(points) == 1 else f"from {ends[0]} to {ends[1]}"
