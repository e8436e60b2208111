"""The validity of an emulation in words, and its measurements as a table."""

from __future__ import annotations

from parshall.foundations.numbers import ABSENT, quantity
from parshall.report.document import Block, Section
from parshall.report.sentences import say
from parshall.results.records import Result
from parshall.results.records.validity import MEASURED, Measure, Validity, validity


def why(verdict: Validity) -> str:
    """The reasons with their remedies, and by how much round-trip times are too long."""
    sentences = [f"{reason[:1].upper()}{reason[1:]}." for reason in verdict.reasons]
    if verdict.rtt_bias_s is not None:
        bias = quantity(verdict.rtt_bias_s, "s")
        sentences.append(say("emulated_rtt", bias=bias).text)
    return " ".join(sentences)


def section(run: Result) -> list[Section]:
    """Return measurements of the emulation itself in its worst repetition, folded; none if they were not recorded."""
    verdict = validity(run)
    if verdict is None or verdict.measured is None:
        return []
    rows = [
        (each.what[:1].upper() + each.what[1:], _text(each, verdict.measured.get(key)))
        for key, each in MEASURED.items()
    ]
    whole = len(run.repetitions) > 1
    return [
        Section(
            "The emulation itself",
            [say("worst_emulation", number=f"{verdict.measured['repetition']}").text] if whole else [],
            blocks=[Block("facts", rows)],
            name="emulation",
            folded="What was measured of it while it ran",
        )
    ]


def _text(measure: Measure, value: float | None) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if measure.unit == "share":
        return f"{100 * value:.3g} %"
    return quantity(value, "s") if measure.unit == "s" else f"{value:g}"
