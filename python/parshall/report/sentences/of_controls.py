"""The sentences of the report card of a control."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    "card.passes": "It passes the conformance kit.",
    "card.fails": "It fails the conformance kit: {failed}.",
    "card.fills": "Alone it fills the link with {queue} of queue.",
    "card.fills_beside": "Alone it fills the link with {queue} of queue ({other} {other_queue}).",
    "card.uses": "Alone it uses {used} of the link with {queue} of queue.",
    "card.uses_beside": "Alone it uses {used} of the link with {queue} of queue ({other} {other_queue}).",
    "card.share": "Beside {rival} it gets {share} of an equal share.",
    "card.share_word": "Beside {rival} it gets {share} of an equal share: {word}.",
    "card.shares": "Beside {rival} it gets {share} of an equal share, beside {other} {other_share}.",
    "card.shares_alike": "Beside {rival} it gets {share} of an equal share, beside {other} {other_share}: {word}.",
    "card.shares_words": (
        "Beside {rival} it gets {share} of an equal share ({word}), beside {other} {other_share} ({other_word})."
    ),
    "card.shares_first_word": (
        "Beside {rival} it gets {share} of an equal share ({word}), beside {other} {other_share}."
    ),
    "card.shares_last_word": (
        "Beside {rival} it gets {share} of an equal share, beside {other} {other_share} ({other_word})."
    ),
    "card.named_passes": "{control} passes the conformance kit",
    "card.named_fails": "{control} fails: {failed}",
    "card.not_measured": "not measured: {why}",
}
