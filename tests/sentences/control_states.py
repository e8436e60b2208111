"""Report cards, and their first sentences."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

from saying import State

from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.cli import check_control as verb
from parshall.suites.control_check.answer import answer
from parshall.suites.control_check.card import Card, CardRow
from parshall.suites.control_check.conformance import Finding
from parshall.suites.control_check.sharing import not_starved

PASSED = Finding("answers_losses", "It answers losses.", "RFC 5681", required=True, outcome="passed")
VIOLATED = replace(PASSED, outcome="violated", happened="a loss", found="nothing")
Shares = Mapping[str, tuple[float, ...]]
"""The control's share of an equal one beside each rival, one a repetition."""


def alone(key: str, unit: str, own: float, cubic: float | None) -> CardRow:
    values: dict[str, Interval | None] = {"mine": mean_interval([own, own * 1.01])}
    values["cubic"] = None if cubic is None else mean_interval([cubic, cubic * 1.01])
    return CardRow("alone", f"{key}_2_bdp", key, unit, {**values, "reno": None})


def beside(rival: str, shares: tuple[float, ...]) -> CardRow:
    values = {"mine": mean_interval(shares), "reno": None, "cubic": None}
    return CardRow("harm", f"own_share_{rival}", rival, "ratio", values, claim=not_starved("RFC", rival, shares))


def card(used: float | None, shares: Shares, *, cubic: float | None = None, finding: Finding = PASSED) -> Card:
    rows = [] if used is None else [alone("utilisation", "ratio", used, None)]
    rows += [] if used is None else [alone("queueing_delay_s", "s", 0.01, cubic)]
    rows += [beside(rival, own) for rival, own in shares.items()]
    return Card("mine", "mine.py:Mine", 1, 5, [finding], rows, not_measured=None if rows else "it fails")


def says(card: Card) -> str:
    """The sentences, and what the terminal prints."""
    text = " ".join(answer(card))
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        verb._show(card)
    return f"{text}\n{' '.join(terminal.getvalue().split(' '))}"


def oracle(used: float | None, shares: Shares, text: str) -> None:
    """Fills from 95 % on; words by the whole interval of a share, and by the least of them."""
    first = text.split("\n", maxsplit=1)[0]
    assert ("fills the link" in first) == (used is not None and used >= 0.95)
    words = {}
    for rival, own in shares.items():
        interval = mean_interval(own)
        low, high = interval.low, interval.high
        word = "it is starved" if min(own) < 0.01 else ""
        if not word and low is not None and high is not None:
            word = "it yields" if high < 0.8 else "it takes more" if low > 1.2 else ""
            word = "it shares equally" if low >= 0.8 and high <= 1.2 else word
        words[rival] = word
    told = re.findall(r"it (?:yields|takes more|shares equally|is starved)", first)
    expected = [word for word in dict.fromkeys(words.values()) if word]
    assert [*dict.fromkeys(told)] == expected, first


def state(used: float | None, shares: Shares, *templates: str, **more: object) -> State:
    made = card(used, shares, **more)  # type: ignore[arg-type]
    names = {f"card.{name}" for name in templates}
    return State(lambda: says(made), names, lambda text: oracle(used, shares, text))


EQUAL, LESS, MORE, WIDE = (0.95, 1.0, 1.05), (0.2, 0.25, 0.3), (1.5, 1.55, 1.6), (0.6, 1.0, 1.5)

STATES: dict[str, State] = {
    "a control that yields to both": state(
        0.99, {"reno": LESS, "cubic": LESS}, "passes", "named_passes", "fills", "shares_alike"
    ),
    "a control beside CUBIC's queue": state(
        0.99, {"reno": LESS, "cubic": MORE}, "fills_beside", "shares_words", cubic=0.08
    ),
    "a control that leaves the link idle": state(0.5, {"reno": WIDE, "cubic": WIDE}, "uses", "shares"),
    "a control that leaves it idle, beside CUBIC": state(
        0.5, {"reno": EQUAL, "cubic": WIDE}, "uses_beside", "shares_first_word", cubic=0.08
    ),
    "one repetition": state(0.99, {"reno": (0.5,), "cubic": (1.5,)}, "shares"),
    "copies": state(0.99, {"reno": (0.5,) * 3, "cubic": (0.5,) * 3}, "shares_alike"),
    "a control that is starved once": state(0.99, {"reno": WIDE, "cubic": (0.005, 1.0, 1.0)}, "shares_last_word"),
    "one rival alone": state(0.99, {"cubic": EQUAL}, "share_word"),
    "one rival alone, of one repetition": state(0.99, {"cubic": (0.9,)}, "share"),
    "a control that fails": state(None, {}, "fails", "named_fails", "not_measured", finding=VIOLATED),
}
