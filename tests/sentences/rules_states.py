"""What `parshall ask rules` says: answers in memory, of rules that do all of a difference, a part, or the opposite."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from saying import State, number

import parshall as ps
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.verdict import Judgement
from parshall.cli.ask import _show_rules
from parshall.design.rules import ask_rules
from parshall.design.rules_answer import RulesAnswer
from parshall.design.rules_found import WHOLE, RuleEffect, RulesOfQuantity
from parshall.results.records.validity import Validity
from parshall.scenario.schema import rules

NOISE = (-0.02, -0.01, 0.0, 0.01, 0.02)
"""Of a value of 10: half a percent is shown, and matters from 1 % on."""
RFC = 10.0
FLOWS = [{"name": "bulk", "rtt": "40 ms"}, {"name": "web", "rtt": "40 ms"}]
SCENARIO = ps.Scenario.from_document({"duration": "5 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": FLOWS})

Changes = Mapping[str, float]
"""What all rules (`WHOLE`) and single ones change, of a value of `RFC`."""


def judgement(change: float) -> Judgement:
    before = dict(enumerate([RFC] * len(NOISE)))
    after = {n: RFC + change + (noise if change else 0.0) for n, noise in enumerate(NOISE)}
    (found,) = judged({"": Pair.of_values(before, after)}).values()
    return found


def effect(together: float, alone: float | None = None) -> RuleEffect:
    only = together if alone is None else alone
    through = None if only == together else judgement(together - only)
    return RuleEffect(judgement(together), judgement(only), through)


def asked(key: str, changes: Changes, alone: Changes) -> RulesOfQuantity:
    effects = {name: effect(changes.get(name, 0.0), alone.get(name)) for name in rules.names()}
    effects[WHOLE] = RuleEffect(judgement(changes.get(WHOLE, 0.0)))
    values = (mean_interval([RFC + change + noise for noise in NOISE]) for change in (changes.get(WHOLE, 0.0), 0.0))
    return RulesOfQuantity(key, key, "packets", *values, effects)


def of_many() -> RulesAnswer:
    """Five quantities that one rule changes, the same way."""
    made = answer({WHOLE: 1.0, "acks": 1.0})
    return replace(made, asked=tuple(replace(made.asked[0], key=f"q{n}", label=f"quantity {n}") for n in range(5)))


def _three(text: str) -> None:
    first = text.split("\n", maxsplit=1)[0]
    assert [f"the quantity {n} by" in first for n in range(5)] == [True, True, True, False, False]
    assert "Also shown to change: quantity 3; quantity 4." in first


def answer(changes: Changes, alone: Changes | None = None, kept: Sequence[str] = (), compared: int = 29) -> RulesAnswer:
    made = asked("mean queue", changes, alone or {})
    switched = tuple(name for name in ("bulk", "web") if name not in kept)
    return RulesAnswer(SCENARIO, switched, tuple(kept), (made,), 5, compared)


def beside(level: str, kernel: float | None = 11.0) -> RulesAnswer:
    made = answer({WHOLE: 1.0, "acks": 1.0})
    validity = Validity(level, ["1 % of the packets were late"])  # type: ignore[arg-type]
    return replace(made, asked=tuple(replace(each, kernel=kernel) for each in made.asked), validity=validity)


def says(found: RulesAnswer) -> str:
    """The sentences, and what the terminal prints."""
    import io
    from contextlib import redirect_stdout

    printed = io.StringIO()
    with redirect_stdout(printed):
        _show_rules(found)
    return f"{' '.join(found.sentences())}\n{printed.getvalue()}"


def oracle(changes: Changes, text: str) -> None:
    """Rules are named with their share where they change anything, and nowhere else; the whole with its sign."""
    first = text.split("\n", maxsplit=1)[0]
    whole = changes.get(WHOLE, 0.0)
    told = re.match(r"Linux's rules (raise|lower) the mean queue by (\S+)\s%", first)
    assert bool(told) == bool(whole)
    if told:
        assert (told[1] == "raise") == (whole > 0)
        assert abs(float(told[2]) / 100 * RFC - abs(whole)) < 0.01 * RFC
    for name in rules.names():
        assert (re.search(rf"\b{name}\b", first) is not None) == bool(changes.get(name)), name


def state(changes: Changes, *templates: str, alone: Changes | None = None, **more: object) -> State:
    return State(
        lambda: says(answer(changes, alone, **more)),  # type: ignore[arg-type]
        {f"rules.{name}" for name in templates},
        lambda text: oracle({**(alone or {}), **changes}, text),
    )


def _datagrams() -> str:
    calls = [{"rtt": "40 ms", "workload": {"name": "cbr", "rate": "1 Mbit/s"}}]
    made = {"duration": "2 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": calls}
    return says(ask_rules(ps.Scenario.from_document(made)))


def _kernel(text: str) -> None:
    found = re.search(r"has a mean queue of (.*?); Linux's rules give (.*?), those of the RFCs (.*?)\.", text)
    assert found is not None
    assert [round(number(each), 1) for each in found.groups()] == [11.0, 11.0, 10.0]


STATES: dict[str, State] = {
    "one rule does all": state({WHOLE: -1.9, "acks": -1.9}, "parts", "switched"),
    "two rules, and something else": state({WHOLE: -1.9, "recovery_rate": -1.0, "acks": -0.4}, "parts_rest"),
    "more than the whole": state({WHOLE: 1.0, "recovery_rate": 1.0, "acks": 0.8}, "parts_more"),
    "one works against it": state({WHOLE: 1.0, "acks": 1.3, "undo": -0.3}, "against"),
    "no single one": state({WHOLE: 1.0}, "no_part"),
    "one that another one replaces": state({WHOLE: 1.0}, "any", alone={"acks": 1.0}),
    "two that cancel each other": state({"acks": 1.0, "undo": -1.0}, "single"),
    "one that needs the others": state({WHOLE: 1.0, "acks": 1.0}, "through", alone={"acks": 0.2}),
    "one that does something on the rules of the RFCs alone": state({}, "only_alone", alone={"bursts": 0.5}),
    "five quantities": State(lambda: says(of_many()), {"rules.more"}, _three),
    "nothing": state({}, "none"),
    "nothing at all": state({}, "equal", compared=0),
    "a group with rules of its own": state({WHOLE: 1.0, "acks": 1.0}, "kept", kept=("web",)),
    "datagrams": State(_datagrams, {"rules.no_tcp"}),
    "beside the kernel": State(lambda: says(beside("valid")), {"rules.kernel"}, _kernel),
    "beside a kernel that cannot be believed": State(lambda: says(beside("invalid")), {"rules.not_kernel"}),
}
