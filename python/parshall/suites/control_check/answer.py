"""The first sentences of a report card: whether it passes, what it is alone, and what it gets beside Reno and CUBIC.

| share of an equal one | the control |
| --- | --- |
| whole interval below 1 - `EQUAL_WITHIN` | yields; below 1 % of an equal share in a repetition it is starved |
| whole interval above 1 + `EQUAL_WITHIN` | takes more |
| whole interval between | shares equally |
"""

from __future__ import annotations

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import Region
from parshall.foundations.numbers import quantity
from parshall.report.sentences import Sentence, say
from parshall.scenario.properties import title
from parshall.suites.control_check.alone import BUFFERS
from parshall.suites.control_check.card import RIVALS, Card, CardRow

FULL = 0.95
"""From this utilisation on a link is called full, as on the page of a run."""

EQUAL_WITHIN = 0.2
"""Shares nearer to an equal one are called equal; no standard has a number."""

YIELDS, TAKES, SHARES, STARVES = "it yields", "it takes more", "it shares equally", "it is starved"


def answer(card: Card) -> list[str]:
    """Sentences; of what was not measured there is none.

    >>> from parshall.suites.control_check import check
    >>> answer(check("reno", measured=False))
    ['It passes the conformance kit.']
    """
    said = [_kit(card), _alone(card), _beside(card)]
    return [each.text for each in said if each is not None]


def _kit(card: Card) -> Sentence:
    failed = [f"`{finding.name}`" for finding in card.findings if finding.fails]
    return say("card.fails", failed=", ".join(failed)) if failed else say("card.passes")


def _alone(card: Card) -> Sentence | None:
    """Return the sentence on a link used alone: utilisation and queue beside CUBIC's, at the largest buffer."""
    rows = {row.key: row for row in card.rows if row.part == "alone"}
    used, queue = (
        _of(rows.get(f"{key}_{BUFFERS[-1]:g}_bdp"), card.control) for key in ("utilisation", "queueing_delay_s")
    )
    if used is None or queue is None:
        return None
    cubic = _of(rows.get(f"queueing_delay_s_{BUFFERS[-1]:g}_bdp"), "cubic")
    is_other = cubic is not None and card.control != "cubic"
    beside = {"other": title("cubic"), "other_queue": quantity(cubic, "s")} if is_other else {}
    values = {"queue": quantity(queue, "s"), **({} if used >= FULL else {"used": quantity(used, "ratio")}), **beside}
    return say(f"card.{'fills' if used >= FULL else 'uses'}{'_beside' if beside else ''}", **values)


def _beside(card: Card) -> Sentence | None:
    """The control's share of an equal one beside each rival, and the word for it."""
    told = [each for rival in RIVALS if (each := _share(card, rival)) is not None]
    if not told:
        return None
    (rival, share, word), *others = told
    values = {"rival": rival, "share": share}
    if not others:
        return say("card.share_word", word=word, **values) if word else say("card.share", **values)
    ((other, other_share, other_word),) = others
    values |= {"other": other, "other_share": other_share}
    if word == other_word:
        return say("card.shares_alike", word=word, **values) if word else say("card.shares", **values)
    words = {key: each for key, each in (("word", word), ("other_word", other_word)) if each}
    which = "words" if len(words) == 2 else "first_word" if word else "last_word"
    return say(f"card.shares_{which}", **words, **values)


def _share(card: Card, rival: str) -> tuple[str, str, str] | None:
    """A rival, the control's share of an equal one beside it, and the word for that; None where it has none."""
    row = next((each for each in card.rows if each.key == f"own_share_{rival}"), None)
    share = _of(row, card.control)
    if rival == card.control or row is None or share is None:
        return None
    word = STARVES if row.accepted is False else _standing(row.values[card.control])
    return title(rival), quantity(share, "ratio", 2), word


def _standing(share: Interval | None) -> str:
    """Return the relation of a share to an equal one, in words; empty where the repetitions do not tell."""
    outcome = Region(1 - EQUAL_WITHIN, 1 + EQUAL_WITHIN).outcome(share)
    if share is None or outcome not in {"holds", "fails"}:
        return ""
    return SHARES if outcome == "holds" else YIELDS if share.mean < 1 else TAKES


def _of(row: CardRow | None, control: str) -> float | None:
    """The mean of a row's value of a control; None where it has none."""
    value = None if row is None else row.values.get(control)
    return None if value is None else value.mean
