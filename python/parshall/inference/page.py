"""An inferred scenario as sentences, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parshall.foundations.numbers import ABSENT, quantity
from parshall.inference.checking import LABELS, Check
from parshall.inference.infer import Inferred
from parshall.inference.response import QUEUES
from parshall.inference.what_if import QUANTITIES, RemedyEffect
from parshall.inference.writing import between
from parshall.report.description import listed
from parshall.report.document import Block, Document, Section, Table
from parshall.report.observation import limited
from parshall.report.sentences import Sentence, capital, say
from parshall.report.uncertainty import interval_text

UNITS = {"goodput_bps": "bit/s", "queueing_delay_p99_s": "s", "completion_p95_s": "s"}
LISTED = 8
"""Controls that the page lists."""


def path_sentences(made: Inferred) -> list[Sentence]:
    """Return what is said of the path: rate, buffer, round trip, losses."""
    rtt = quantity(min(each.min_rtt_s for each in made.forward), "s")
    path, queue = made.path, "" if made.response is None else made.response.queue
    if path.rate_bps.guess:
        said = [say("inferred.rate_unknown", least=quantity(path.rate_bps.low, "bit/s"), rtt=rtt)]
    elif path.buffer_bytes is None or queue in QUEUES:
        said = [say("inferred.path", rate=quantity(path.rate_bps.value, "bit/s"), rtt=rtt)]
    else:
        known = {"rate": quantity(path.rate_bps.value, "bit/s"), "buffer": quantity(path.buffer_bytes.value, "B")}
        said = [say("inferred.path_buffer", **known, rtt=rtt)]
    if queue in QUEUES:
        said.append(say("inferred.queue", queue=queue))
    if path.loss is not None and queue == "drop_tail with losses":
        share = quantity(path.loss.value, "ratio")
        said.append(say("inferred.loss", share=share, between=between(path.loss, "ratio")))
    return said


def control_sentence(made: Inferred) -> Sentence | None:
    """Return the sentence on the sender's control, or on why it is unknown; None if no control was tried."""
    response = made.response
    if response is None:
        return None
    if response.told:
        return say("inferred.control", control=response.control, number=str(len(response.likelihoods)))
    return say("inferred.control_unknown", reason=response.reason)


def check_sentence(check: Check) -> Sentence:
    """Return the sentence that says if the scenario explains the capture."""
    if check.explains:
        return say("inferred.explains", names=listed([LABELS[each.quantity][0] for each in check.claims]))
    return say("inferred.explains_but", missed=listed(check.missed))


def help_sentences(effects: Sequence[RemedyEffect], *, guess: bool) -> list[Sentence]:
    """Return what is said of changes: what those that help bring, that none does, and that it rests on a guess."""
    helping = [each for each in effects if each.helps]
    if not helping:
        return [say("inferred.nothing_helps", number=str(len(effects)))] if effects else []
    said = [say("inferred.helps", change=capital(each.change), what=_brought(each)) for each in helping]
    return [*said, *([say("inferred.guess")] if guess else [])]


def sentences(made: Inferred, check: Check | None, effects: Sequence[RemedyEffect] | None) -> list[Sentence]:
    """All that is said of it: what limits the largest flow, whether the scenario explains it, and what would help."""
    largest = max(made.forward, key=lambda each: each.delivered_bytes)
    said = [limited.sentence(largest.limits), *([] if check is None else [check_sentence(check)])]
    said += path_sentences(made)
    control = control_sentence(made)
    said += [] if control is None else [control]
    return said + ([] if effects is None else help_sentences(effects, guess=made.path.rate_bps.guess))


def document(made: Inferred, check: Check | None, effects: Sequence[RemedyEffect] | None) -> Document:
    """The page: sentences, the scenario, the check, the changes, the controls."""
    sections = [Section("The scenario", blocks=[Block("code", made.text)])]
    if check is not None:
        sections.append(Section("Does it explain the capture?", tables=[_check_table(check)]))
    if effects:
        words = (
            "Each row is a simulation of the scenario with one change, paired with the scenario by its random numbers."
        )
        sections.append(Section("What would help?", [words], [_effect_table(effects)]))
    if made.response is not None:
        sections.append(Section("Which control?", [_METHOD], [_control_table(made.response.likelihoods)]))
    finding = " ".join(each.text for each in sentences(made, check, effects))
    title = f"The scenario of {made.name}"
    return Document(
        "inferred", title, "Inferred from a capture.", [f"{len(made.flows)} flows"], sections, finding=finding
    )


def to_json(made: Inferred, check: Check | None, effects: Sequence[RemedyEffect] | None) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/json.md describes it."""
    path, response = made.path, made.response
    found: dict[str, Any] = {
        "scenario": made.scenario.document(),
        "rate_bps": _numbers(path.rate_bps),
        "buffer_bytes": None if path.buffer_bytes is None else _numbers(path.buffer_bytes),
        "loss": None if path.loss is None else _numbers(path.loss),
        "control": None,
        "check": None,
        "changes": None,
        "sentences": [each.text for each in sentences(made, check, effects)],
    }
    if response is not None:
        found["control"] = {
            "name": response.control,
            "told": response.told,
            "reason": response.reason or None,
            "queue": response.queue,
            "log_likelihoods": dict(response.likelihoods),
        }
    if check is not None:
        found["check"] = [
            {
                "quantity": each.quantity,
                "captured": each.reference,
                "simulated": _mean(each.value),
                "outcome": each.outcome,
            }
            for each in check.claims
        ]
    if effects is not None:
        found["changes"] = [
            {
                "change": each.change,
                "before": dict(each.before),
                "after": dict(each.after),
                "helps": each.helps,
                "harms": each.harms,
            }
            for each in effects
        ]
    return found


_METHOD = (
    "Each control is simulated on the inferred path, its capture is read as the real one was, and what windows, losses "
    "and queues are like is compared (synthetic likelihood, Wood 2010). A difference of 3 is a factor of 20."
)


def _check_table(check: Check) -> Table:
    rows = [
        (
            LABELS[each.quantity][0],
            quantity(each.reference, LABELS[each.quantity][1]),
            ABSENT if each.value is None else interval_text(each.value, LABELS[each.quantity][1]),
            each.outcome,
        )
        for each in check.claims
    ]
    return Table("", ("quantity", "captured", "simulated", "verdict"), rows, numbers=(1, 2))


def _effect_table(effects: Sequence[RemedyEffect]) -> Table:
    names = [name for name in QUANTITIES if any(name in each.before for each in effects)]
    header = ("change", *(QUANTITIES[name][0] for name in names), "shown")
    rows = [(each.change, *(_step(each, name) for name in names), _verdict(each)) for each in effects]
    return Table("", header, rows, numbers=range(1, len(names) + 1))


def _step(effect: RemedyEffect, name: str) -> str:
    if name not in effect.before:
        return ABSENT
    return f"{quantity(effect.before[name], UNITS[name])} → {quantity(effect.after[name], UNITS[name])}"


def _verdict(effect: RemedyEffect) -> str:
    if effect.helps and effect.harms:
        return "helps one, harms the other"
    return "helps" if effect.helps else "harms" if effect.harms else "no difference shown"


def _control_table(likelihoods: Mapping[str, float]) -> Table:
    order = sorted(likelihoods.items(), key=lambda each: -each[1])[:LISTED]
    return Table(
        "", ("control", "log-likelihood"), [(f"`{name}`", f"{value:.1f}") for name, value in order], numbers=(1,)
    )


def _brought(effect: RemedyEffect) -> str:
    parts = [_told(effect, name) for name in effect.helps]
    harmed = [_told(effect, name) for name in effect.harms]
    return listed(parts) + (f", but {listed(harmed)}" if harmed else "")


def _told(effect: RemedyEffect, name: str) -> str:
    unit = UNITS[name]
    return f"{QUANTITIES[name][0]} {quantity(effect.after[name], unit)} for {quantity(effect.before[name], unit)}"


def _numbers(estimate: Any) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "guess": estimate.guess}


def _mean(value: Any) -> float | None:
    return None if value is None else float(value.mean)
