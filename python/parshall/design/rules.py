"""The rules of Linux that make the difference in a scenario: all of them together, and each one switched alone.

The key ``rules`` of a group has policies (`parshall.scenario.schema.rules`), each in the form of the RFCs or of Linux.
A scenario is simulated with each of these variants, n being the number of policies:

| variants | rules | what is learnt |
| --- | --- | --- |
| 2 | all of Linux, all of the RFCs | the whole difference |
| n | all of Linux, but one of the RFCs | what one rule does in the company of the others |
| n | all of the RFCs, but one of Linux | what it does alone |

Every difference is that with Linux's form less that with the RFCs' form. Repetitions of the same number draw the same
random numbers in all variants, so that they are compared in pairs. All differences of an answer are one family, judged
at one false discovery rate (`parshall.analysis.stats.families`). Of rules that are shown to do something, what they do
with the others less what they do alone is another family: the effects that rules have through each other.

Parts need not add up to the whole, as a rule may do in a company what it does not do alone. They are shares of one
value: that with all rules of the RFCs.

Repetitions are doubled until the whole difference of each quantity is known to `WITHIN` of its value, or to a quarter
of itself. An interval that is looked at again and again holds a little less often than it says; with `FIRST`
repetitions and more the difference is small (Law, Simulation Modeling and Analysis, 5th ed., 2015, section 9.4.1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.quantiles import Pooled
from parshall.analysis.stats.verdict import Judgement
from parshall.campaign import Execution, Plan, Sweep
from parshall.campaign.plan import slug
from parshall.design.rules_answer import RulesAnswer
from parshall.design.rules_found import COLUMNS, WHOLE, RuleEffect, RulesOfQuantity
from parshall.foundations.errors import InputError
from parshall.instruments.emulation import emulate, validity
from parshall.instruments.simulation import Run
from parshall.results.quantities.naming import named
from parshall.scenario import Scenario
from parshall.scenario.properties import workload
from parshall.scenario.schema import rules
from parshall.scenario.schema.profiles import RFC

FIRST, MOST = 8, 64
WITHIN = 0.02
"""Half width of the interval of a whole difference, over the value, at which repetitions end."""
OF_DIFFERENCE = 0.25
"""The same, over the difference itself."""
QUANTITIES = ("goodput_bps", "loss_rate", "queueing_delay_s", "completion_p50_s", "completion_p95_s")
"""Quantities of each scenario, before those of its groups; those without a value are left out."""


def ask_rules(
    scenario: Scenario,
    quantities: Sequence[str] = (),
    *,
    repetitions: int | None = None,
    at_least: float = 0.01,
    emulated: bool = False,
    execution: Execution | None = None,
) -> RulesAnswer:
    """Return the differences that Linux's rules make in a scenario, together and one by one.

    Switched are the groups with the TCP of Linux that give no ``rules`` of their own. The other keys of a group stay.

    Parameters
    ----------
    scenario
        Its own number of repetitions does not matter.
    quantities
        Keys of docs/metrics.md; by default goodput, losses, queueing delay, completion times, and of each group the
        share and the packets retransmitted.
    repetitions
        Of each variant, 2 at least; None: as many as intervals need (the module says when they end).
    at_least
        Share of a value below which no difference matters.
    emulated
        Whether the scenario is also emulated once, with the TCP of this machine's kernel.
    execution
        Who simulates, and where that is kept.

    Raises
    ------
    InputError
        Each group with TCP has rules of its own, a quantity is not known, or none of them has a value.
    ParshallError
        As `parshall.sweep` and `parshall.emulate`.

    Examples
    --------
    >>> flows = [{"rtt": "40 ms", "workload": {"name": "cbr", "rate": "1 Mbit/s"}}]
    >>> call = Scenario(duration="2 s", bottleneck={"rate": "10 Mbit/s"}, flows=flows)
    >>> ask_rules(call).sentences()
    ['No rule is shown to make a difference: no group has TCP.']
    """
    if repetitions is not None and repetitions < 2:
        raise InputError(f"repetitions: found {repetitions}; accepted: 2 or more, as intervals need them")
    switched, kept = _groups(scenario)
    keys = tuple(dict.fromkeys(quantities or _usual(scenario)))
    for key in keys:
        named(key)
    if not switched:
        if kept:
            raise InputError(
                f'flows: found rules of their own, or tcp = "{RFC}", in {", ".join(kept)}; leave these keys out of '
                "one group at least, whose rules are then switched"
            )
        return RulesAnswer(scenario, (), (), at_least=at_least)
    with (execution or Execution()).sweeping() as swept:
        n = repetitions or FIRST
        while True:
            made = swept(_plan(scenario, switched, keys, n))
            if repetitions is not None or n >= MOST or _known(made, keys):
                break
            n *= 2
        asked, compared = _asked(made, keys, at_least)
    if not asked:
        raise InputError(f"quantities: found no value of {', '.join(keys)} in this scenario")
    answer = RulesAnswer(scenario, switched, kept, asked, n, compared, at_least)
    return _beside_the_kernel(answer) if emulated else answer


# --- what is simulated ---


def _groups(scenario: Scenario) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The groups whose rules are switched, and those with TCP that keep theirs."""
    switched: list[str] = []
    kept: list[str] = []
    for group in scenario.flows:
        if workload(group.workload.name).datagrams:
            continue
        own = group.profile is None or "rules" in group.model_fields_set
        (kept if own else switched).append(str(group.name))
    return tuple(switched), tuple(kept)


def _usual(scenario: Scenario) -> Iterator[str]:
    """Quantities of a scenario where none are chosen."""
    yield from QUANTITIES
    for group in scenario.flows:
        if len(scenario.flows) > 1:
            yield f"group/{group.name}/share"
        if not workload(group.workload.name).datagrams:
            yield f"group/{group.name}/retransmitted"


def variants() -> list[Any]:
    """The values of the key ``rules``: Linux's, the RFCs', and of each policy Linux's but for it and the RFCs' with it.

    >>> variants()[:4]
    ['linux', 'rfc', {'base': 'linux', 'acks': 'rfc'}, {'base': 'rfc', 'acks': 'linux'}]
    """
    switched = [
        {rules.BASE: base, name: form} for name in rules.names() for base, form in (("linux", "rfc"), ("rfc", "linux"))
    ]
    return ["linux", "rfc", *switched]


def _plan(scenario: Scenario, switched: Sequence[str], keys: Sequence[str], repetitions: int) -> Plan:
    return Plan(
        name=slug(f"{scenario.name}-rules"),
        scenario=scenario,
        zip=[{f"flows.{name}.rules": variants() for name in switched}],
        repetitions=repetitions,
        metrics=list(keys),
    )


def _known(made: Sweep, keys: Sequence[str]) -> bool:
    """True if the whole difference of each quantity is known well enough."""
    for key in keys:
        linux, rfc = made.estimate(key, 0), made.estimate(key, 1)
        if linux is None or rfc is None:
            continue
        (found,) = judged({key: Pair(rfc, linux, made.paired)}).values()
        half = found.difference.half_width if isinstance(found.difference, Interval) else None
        wanted = max(WITHIN * abs(rfc.interval.mean), OF_DIFFERENCE * abs(found.difference.value))
        if half is not None and half > wanted:
            return False
    return True


# --- what is found ---

_Key = tuple[str, str, str]
"""Quantity, rule, column."""


def _asked(made: Sweep, keys: Sequence[str], at_least: float) -> tuple[tuple[RulesOfQuantity, ...], int]:
    """The quantities, those first that change most, and how many differences were judged together."""
    pairs = {name: pair for key in keys for name, pair in _pairs(made, key)}
    found = judged(pairs, at_least=at_least)
    compared = sum(each.p_value is not None for each in found.values())
    shown = {name[:2] for name, each in found.items() if each.matters}
    found |= judged(dict(_through(pairs, shown)), at_least=at_least)
    asked = [
        RulesOfQuantity(
            key,
            made.label(key),
            named(key).unit,
            pairs[key, WHOLE, "together"].b.interval,
            pairs[key, WHOLE, "together"].a.interval,
            {name: _effect(found, key, name) for name in (WHOLE, *rules.names())},
            at_least,
        )
        for key in keys
        if (key, WHOLE, "together") in pairs
    ]
    return tuple(sorted(asked, key=_place)), compared


def _place(asked: RulesOfQuantity) -> tuple[bool, bool, float]:
    """Return the sort key of a quantity: those that all rules change first, then by the largest effect."""
    return not asked.whole.matters, not asked.shown, -abs(asked.share(asked.whole) or 0.0)


def _effect(found: Mapping[_Key, Judgement], key: str, rule: str) -> RuleEffect:
    return RuleEffect(*(found.get((key, rule, column)) for column in COLUMNS))


def _pairs(made: Sweep, key: str) -> Iterator[tuple[_Key, Pair]]:
    """The differences of a quantity: of all rules, and of each one with the others, and alone."""
    points = [made.estimate(key, number) for number in range(len(made.record.points))]
    linux, rfc, *others = points
    if linux is None or rfc is None:
        return
    yield (key, WHOLE, "together"), Pair(rfc, linux, made.paired)
    for name, without, only in zip(rules.names(), others[::2], others[1::2], strict=True):
        if without is not None:
            yield (key, name, "together"), Pair(without, linux, made.paired)
        if only is not None:
            yield (key, name, "alone"), Pair(rfc, only, made.paired)


def _through(pairs: Mapping[_Key, Pair], shown: Collection[tuple[str, str]]) -> Iterator[tuple[_Key, Pair]]:
    """Return the effect of rules with the others less their effect alone, a value a repetition."""
    for key, name in shown:
        one, other = (pairs.get((key, name, column)) for column in ("alone", "together"))
        if one is None or other is None:
            continue
        alone, together = (_differences(each.b, each.a) for each in (one, other))
        if common := sorted(alone.keys() & together.keys()):
            yield (key, name, "through"), Pair.of_values(*({n: each[n] for n in common} for each in (alone, together)))


def _differences(one: Pooled, other: Pooled) -> dict[int, float]:
    """Differences of two estimates by repetition."""
    common = one.by_repetition.keys() & other.by_repetition.keys()
    return {number: one.by_repetition[number] - other.by_repetition[number] for number in common}


def _beside_the_kernel(answer: RulesAnswer) -> RulesAnswer:
    """The same with the kernel's values, of one emulation."""
    run = emulate(answer.scenario.with_values({"repetitions": 1}))
    asked = tuple(replace(each, kernel=_value(run, each.key)) for each in answer.asked)
    return replace(answer, asked=asked, validity=validity(run))


def _value(run: Run, key: str) -> float | None:
    """The value of a quantity; None where a run has none."""
    with suppress(InputError):
        return run.quantity(key).interval.mean
    return None
