"""The first sentences of a report card: whether it passes, what it is alone, and what it gets beside Reno and CUBIC.

| share of an equal one | the control |
| --- | --- |
| whole interval below 1 - `EQUAL_WITHIN` | yields; below 1 % of an equal share in a repetition it is starved |
| whole interval above 1 + `EQUAL_WITHIN` | takes more |
| whole interval between | shares equally |
"""

from __future__ import annotations

from parshall.control_check.alone import BUFFERS
from parshall.control_check.card import RIVALS, Card, Row
from parshall.properties import title
from parshall.report.numbers import quantity
from parshall.stats.confidence import Interval
from parshall.stats.region import Region

FULL = 0.95
"""From this utilisation on a link is called full, as on the page of a run."""

EQUAL_WITHIN = 0.2
"""Shares nearer to an equal one are called equal; no standard has a number."""

YIELDS, TAKES, SHARES, STARVES = "it yields", "it takes more", "it shares equally", "it is starved"


def answer(card: Card) -> list[str]:
    """Sentences; of what was not measured there is none.

    >>> from parshall.control_check import check
    >>> answer(check("reno", measured=False))
    ['It passes the conformance kit.']
    """
    failed = [f"`{finding.name}`" for finding in card.findings if finding.fails]
    kit = f"It fails the conformance kit: {', '.join(failed)}." if failed else "It passes the conformance kit."
    return [kit, *filter(None, (_alone(card), _beside(card)))]


def _alone(card: Card) -> str:
    """How it uses a link alone, and how long a queue it makes, beside CUBIC's, at the largest buffer."""
    rows = {row.key: row for row in card.rows if row.part == "alone"}
    used, queue = (
        _of(rows.get(f"{key}_{BUFFERS[-1]:g}_bdp"), card.control) for key in ("utilisation", "mean_queueing_delay_s")
    )
    if used is None or queue is None:
        return ""
    cubic = _of(rows.get(f"mean_queueing_delay_s_{BUFFERS[-1]:g}_bdp"), "cubic")
    compared = "" if cubic is None or card.control == "cubic" else f" ({title('cubic')} {quantity(cubic, 's')})"
    fills = "fills the link" if used >= FULL else f"uses {quantity(used, 'ratio')} of the link"
    return f"Alone it {fills} with {quantity(queue, 's')} of queue{compared}."


def _beside(card: Card) -> str:
    """The control's share of an equal one beside each rival, and the word for it."""
    rows = {row.key: row for row in card.rows}
    told = []
    for rival in RIVALS:
        row = rows.get(f"own_share_{rival}")
        share = _of(row, card.control)
        if rival != card.control and row is not None and share is not None:
            called = STARVES if row.accepted is False else _standing(row.values[card.control])
            told.append((f"beside {title(rival)} {{gets}}{quantity(share, 'ratio', 2)}{{of}}", called))
    if not told:
        return ""
    verdicts = {verdict for _, verdict in told}
    if len(verdicts) == 1:
        end = f": {told[0][1]}." if told[0][1] else "."
        parts = [text for text, _ in told]
    else:
        end = "."
        parts = [f"{text} ({verdict})" if verdict else text for text, verdict in told]
    first, *others = parts
    begun = first.format(gets="it gets ", of=" of an equal share")
    whole = ", ".join([begun, *(other.format(gets="", of="") for other in others)])
    return f"{whole[:1].upper()}{whole[1:]}{end}"


def _standing(share: Interval | None) -> str:
    """How a share stands to an equal one, in words; empty where the repetitions do not tell."""
    outcome = Region(1 - EQUAL_WITHIN, 1 + EQUAL_WITHIN).outcome(share)
    if share is None or outcome not in {"holds", "fails"}:
        return ""
    return SHARES if outcome == "holds" else YIELDS if share.mean < 1 else TAKES


def _of(row: Row | None, control: str) -> float | None:
    """The mean of a row's value of a control; None where it has none."""
    value = None if row is None else row.values.get(control)
    return None if value is None else value.mean
