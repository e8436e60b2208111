"""The answer of `parshall.design.rules` in words.

A part of a difference is a rule that is shown to change a quantity in the company of the others. Parts are shares of
the value with the rules of the RFCs, as the whole is, so that they can be held against it. They need not add up: the
rest is what no single rule is shown to do, and more than the whole are rules that do less together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from parshall.analysis.stats.verdict import Judgement
from parshall.design.rules_found import COLUMNS, RulesOfQuantity
from parshall.foundations import notebook
from parshall.foundations.has_figures import HasFigures
from parshall.foundations.numbers import counted, quantity
from parshall.report.description import listed
from parshall.report.sentences import Sentence, say
from parshall.results.records.validity import Validity
from parshall.scenario import Scenario
from parshall.scenario.schema import rules

MOST_SAID = 3
"""So many quantities have a sentence of their own; the table has them all."""
REST = 0.1
"""Share of the whole below which parts add up to it."""


@dataclass(frozen=True)
class RulesAnswer(HasFigures, page="parshall.design.rules_page:rules_page"):
    """The effect of Linux's rules in a scenario, and of each of them.

    Parameters
    ----------
    switched, kept
        The groups whose rules were switched, and those with TCP whose rules the scenario gives.
    asked
        The quantities that have a value, those first that change most.
    repetitions
        Of each variant.
    compared
        How many differences were judged together.
    validity
        How far the emulation can be believed; None: nothing was emulated.
    """

    scenario: Scenario
    switched: tuple[str, ...]
    kept: tuple[str, ...]
    asked: tuple[RulesOfQuantity, ...] = ()
    repetitions: int = 0
    compared: int = 0
    at_least: float = 0.01
    validity: Validity | None = None
    names: tuple[str, ...] = field(default_factory=rules.names)

    def sentences(self) -> list[str]:
        """The answer in words: what all rules change, and which of them do it; then what was switched."""
        return [each.text for each in _said(self)]

    def _repr_html_(self) -> str:
        """Return the answer as a notebook shows it."""
        return notebook.fragment("Linux's rules", self.scenario.name, notebook.sentences(self.sentences()))

    def to_json(self) -> dict[str, Any]:
        """Return the value that ``parshall ask rules --json`` prints."""
        return {
            "answer": self.sentences(),
            "switched": list(self.switched),
            "kept": list(self.kept),
            "repetitions": self.repetitions,
            "compared": self.compared,
            "at_least": self.at_least,
            "emulation": None if self.validity is None else self.validity.level,
            "quantities": [
                {
                    "key": each.key,
                    "label": each.label,
                    "unit": each.unit,
                    "linux": asdict(each.linux),
                    "rfc": asdict(each.rfc),
                    "kernel": each.kernel,
                    "whole": _as_json(each, each.whole),
                    "rules": [
                        {
                            "rule": name,
                            **{key: _as_json(each, getattr(each.effects[name], key)) for key in COLUMNS},
                        }
                        for name in self.names
                    ],
                }
                for each in self.asked
            ],
        }


def _as_json(asked: RulesOfQuantity, found: Judgement | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        **asdict(found.difference),
        "share": asked.share(found),
        "verdict": str(found.verdict),
        "matters": asked.matters(found),
        "p_value": found.p_value,
    }


def _said(found: RulesAnswer) -> Iterator[Sentence]:
    if not found.switched:
        yield say("rules.no_tcp")
        return
    changed = [each for each in found.asked if each.shown]
    if not changed:
        yield _nothing(found)
    for each in changed[:MOST_SAID]:
        yield from _of_quantity(each)
    if changed:
        yield from _through(changed[0])
    if more := changed[MOST_SAID:]:
        yield say("rules.more", labels="; ".join(each.label for each in more))
    if found.kept:
        yield say(
            "rules.kept",
            groups=listed(found.switched),
            others=listed(found.kept),
            keep="keeps" if len(found.kept) == 1 else "keep",
        )
    else:
        yield say("rules.switched", groups=listed(found.switched))
    yield from _kernel(found)


def _nothing(found: RulesAnswer) -> Sentence:
    if not found.compared:
        return say("rules.equal")
    number, repetitions = counted(found.compared, "difference"), counted(found.repetitions, "repetition")
    return say("rules.none", number=number, repetitions=repetitions)


def _of_quantity(asked: RulesOfQuantity) -> Iterator[Sentence]:
    """Return the effect of all rules on a quantity, which rules have it, and which do the opposite."""
    parts, alone = asked.parts(), asked.parts("alone")
    if asked.matters(asked.whole):
        whole = asked.whole.difference.value
        along = [part for part in parts if part[1].difference.value * whole > 0]
        yield _whole(asked, along, [part for part in alone if part[1].difference.value * whole > 0])
        if against := [part for part in parts if part not in along]:
            yield say("rules.against", parts=_parts(asked, against))
    elif parts:
        yield say("rules.single", label=asked.label, parts=_alone(asked, parts))
    elif alone:
        yield say("rules.only_alone", label=asked.label, parts=_alone(asked, alone))


def _whole(
    asked: RulesOfQuantity, along: Sequence[tuple[str, Judgement]], alone: Sequence[tuple[str, Judgement]]
) -> Sentence:
    """The difference of all rules together, and the parts of it that go the same way."""
    whole = asked.whole.difference.value
    values = {"change": _change(whole), "label": asked.label, "whole": amount(asked, asked.whole)}
    if not along:
        return say("rules.any", parts=_parts(asked, alone), **values) if alone else say("rules.no_part", **values)
    rest = 1 - sum(effect.difference.value for _, effect in along) / whole
    template = "rules.parts_rest" if rest > REST else "rules.parts_more" if rest < -REST else "rules.parts"
    return say(template, parts=_parts(asked, along), **values)


def _parts(asked: RulesOfQuantity, parts: Sequence[tuple[str, Judgement]]) -> str:
    """``14 % comes from recovery_rate and 4 % from acks``."""
    (name, effect), *others = parts
    texts = [f"{amount(asked, each)} from {other}" for other, each in others]
    return listed([f"{amount(asked, effect)} comes from {name}", *texts])


def _alone(asked: RulesOfQuantity, parts: Sequence[tuple[str, Judgement]]) -> str:
    """``recovery_rate lowers it by 14 %``."""
    return listed([f"{name} {_change(each.difference.value)}s it by {amount(asked, each)}" for name, each in parts])


def _through(asked: RulesOfQuantity) -> Iterator[Sentence]:
    """The rules that do something else in the company of the others than alone."""
    for name, _ in asked.parts("through"):
        together, alone = asked.effects[name].together, asked.effects[name].alone
        if together is not None and alone is not None:
            values = {"together": amount(asked, together, signed=True), "alone": amount(asked, alone, signed=True)}
            yield say("rules.through", rule=name, label=asked.label, **values)


def _kernel(found: RulesAnswer) -> Iterator[Sentence]:
    """The kernel's value of the first quantity, beside those that were simulated."""
    if found.validity is None:
        return
    if found.validity.level == "invalid":
        yield say("rules.not_kernel", why=next(iter(found.validity.reasons), "it is invalid"))
        return
    for each in found.asked:
        if each.kernel is not None:
            yield say(
                "rules.kernel",
                level=found.validity.level,
                label=each.label,
                kernel=quantity(each.kernel, each.unit),
                linux=quantity(each.linux.mean, each.unit),
                rfc=quantity(each.rfc.mean, each.unit),
            )
            return


def _change(difference: float) -> str:
    return "raise" if difference > 0 else "lower"


def amount(asked: RulesOfQuantity, found: Judgement, *, signed: bool = False) -> str:
    """A difference as a share of the value with the rules of the RFCs; in its unit where that value is 0."""
    share = asked.share(found)
    value = found.difference.value
    sign = ("+" if value > 0 else "\u2212") if signed and value else ""
    text = quantity(abs(value), asked.unit, 2) if share is None else quantity(abs(share), "ratio", 2)
    return f"{sign}{text}"
