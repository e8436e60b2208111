"""Claims of studies and suites, and what is said of them."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace

from saying import State

from parshall.analysis.stats.claim_rules import at_most, equal, reported
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.confidence import Interval
from parshall.cli import study as verb
from parshall.cli.groups import PageOptions, Printed
from parshall.studies import joint_page, running
from parshall.studies.joint import Judged, Judgement, Open
from parshall.studies.page import document
from parshall.studies.register import Entry, Register
from parshall.studies.study import Findings, Study

DIGITS = Tolerance(0.05, "half of the last digit")
STUDY = Study("states", "States", "", "Nobody 2026", ())
SUITE = replace(STUDY, kind="suite")


def claim(
    quantity: str, low: float | None, high: float | None, *, reading: str = "", artefact: str = "table1"
) -> Claim:
    """A published 2.0, and ours between two values; of a single value without an interval."""
    mean = 2.0 if low is None or high is None else (low + high) / 2
    return equal(artefact, quantity, 2.0, Interval(mean, low, high, 4), within=DIGITS, reading=reading)


def says(study: Study, claims: Sequence[Claim], register: Register | None = None) -> str:
    """The page, and what the terminal prints below the table."""
    import pytest

    findings = Findings(claims, [], register)
    page = document(study, "quick", findings)
    terminal = io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(terminal), redirect_stderr(io.StringIO()):
        patched.setattr(running, "run", lambda *_: findings)
        verb.carry_out(study, "quick", running.Execution(), PageOptions(), Printed())
    texts = [text for section in page.sections for text in section.paragraphs]
    return "\n".join([*texts, " ".join(terminal.getvalue().split())])


def counted(claims: Sequence[Claim], text: str) -> None:
    """The counts of the first sentences, by the intervals and tolerances alone."""
    readings: dict[str, set[str]] = defaultdict(set)
    quantities, apart, held_apart = set(), set(), set()
    for each in claims:
        if each.reference is None or each.basis != "published" or each.calibrated or each.tolerance >= 1.0:
            continue
        whole = each.value is not None and each.value.low is not None and each.value.high is not None
        holds = whole and each.value.low >= 1.95 - 1e-12 and each.value.high <= 2.05 + 1e-12  # type: ignore[union-attr,operator]
        if each.kind in {"definition", "arithmetic"}:
            apart.add(each.quantity)
            held_apart |= {each.quantity} if holds else set()
            continue
        quantities.add(each.quantity)
        if holds:
            readings[each.reading].add(each.quantity)
    if quantities:
        best = max((len(own) for own in readings.values()), default=0)
        told = re.search(r"Of (\d+)\sclaims? of the source's experiments, (.*?)\.", text)
        assert told is not None, text
        assert int(told[1]) == len(quantities)
        numbers = [int(each) for each in re.findall(r"\b(\d+)\b", told[2])]
        some = len(set().union(*readings.values()))
        assert numbers in ([best, some], [best]), (numbers, best, some)
        rest = [int(each) for each in re.findall(r": (\d+)", text.partition("Of the rest, ")[2].partition(".")[0])]
        assert sum(rest) == len(quantities) - some
    if apart:
        assert f"apart: {len(held_apart)} of {len(apart)} reproduced" in text


def state(claims: Sequence[Claim], *templates: str, register: Register | None = None) -> State:
    names = {f"claims.{name}" for name in templates}
    return State(lambda: says(STUDY, claims, register), names, lambda text: counted(claims, text))


def suite(claims: Sequence[Claim], *templates: str) -> State:
    return State(
        lambda: says(SUITE, claims), {f"claims.{name}" for name in templates}, lambda text: criteria(claims, text)
    )


def criteria(claims: Sequence[Claim], text: str) -> None:
    """How many values are below their bounds with the whole interval, and how many above."""
    known = [each for each in claims if each.reference is not None]
    if not known:
        assert "Nothing with a bound was asked." in text
        return
    below = sum(
        each.value is not None and each.value.high is not None and each.value.high <= each.reference for each in known
    )  # type: ignore[operator]
    above = sum(
        each.value is not None and each.value.low is not None and each.value.low > each.reference for each in known
    )  # type: ignore[operator]
    assert f"holding: {below}; failing: {above};" in text


def entry(name: str, check: str | None) -> Entry:
    return Entry(
        id=f"table1.{name}",
        artefact="Table 1",
        kind="value",
        states="It is 2",
        refuted_by="another value",
        check=None if check is None else (check,),
        not_checked=None if check else "its data are lost",
    )


HOLDS, FAILS, WIDE, ONCE = (1.98, 2.02), (2.4, 2.6), (1.8, 2.2), (None, None)
THEORY = replace(claim("p", *HOLDS), basis="theory")
WRONG = replace(claim("q", *FAILS), basis="theory")

OPENED = (Open("buffer", "buffer, packets", "not said", values=(10, 20)),)


@dataclass(frozen=True)
class Setting:
    """What is left unsaid."""

    buffer: int


def joint(*by_setting: Sequence[Claim], templates: Sequence[str]) -> State:
    """A joint design with so many settings; of their claims those within the tolerance are counted by hand."""
    settings = [Setting(10 + 10 * (number % 2)) for number in range(len(by_setting))]
    judgement = Judgement(OPENED, settings, [Judged(claims) for claims in by_setting])
    names = [{each.quantity for each in claims if each.value == Interval(2.0, *HOLDS, 4)} for claims in by_setting]

    def oracle(text: str) -> None:
        most, some = max(map(len, names)), len(set().union(*names))
        if some:
            assert re.search(rf"best of \d+\ssettings reproduces {most}, .* {len(names[0])}, .* {some}\.", text)

    def says_page() -> str:
        page = joint_page.document(STUDY, "quick", judgement)
        return "\n".join(text for section in page.sections for text in section.paragraphs)

    return State(says_page, {f"joint.{each}" for each in templates}, oracle)


STATES: dict[str, State] = {
    "a joint design": joint(
        [claim("a", *FAILS), claim("b", *FAILS)],
        [claim("a", *HOLDS), claim("b", *FAILS)],
        templates=("best", "none"),
    ),
    "a joint design without a claim": joint([], [], templates=("nothing",)),
    "claims with each verdict": state(
        [claim("a", *HOLDS), claim("b", *FAILS), claim("c", *WIDE), claim("d", *ONCE, artefact="fig2")],
        "one_reading",
        "rest",
        "artefacts",
    ),
    "one claim of one repetition": state([claim("a", *ONCE)], "one_reading"),
    "a claim of which nothing was found": state([replace(claim("a", *HOLDS), value=None)], "one_reading"),
    "a claim of an interval of no width": state([claim("a", 2.0, 2.0)], "one_reading"),
    "claims in several readings": state(
        [
            *(claim(name, *HOLDS, reading="new") for name in "ab"),
            *(claim(name, *FAILS, reading="old") for name in "ab"),
            claim("c", *HOLDS, reading="old"),
            claim("c", *WIDE, reading="new"),
        ],
        "readings",
    ),
    "a reading that adds nothing": state(
        [claim("a", *HOLDS), claim("b", *FAILS, reading="x"), claim("b", *FAILS, reading="y")], "one_reading"
    ),
    "a claim that no reading reproduces": state([claim("a", *FAILS, reading=each) for each in "xy"], "readings"),
    "definitions, calibrated claims and those that cannot fail": state(
        [
            replace(claim("a", *HOLDS), kind="definition"),
            replace(claim("b", *FAILS), kind="definition"),
            replace(claim("c", *HOLDS), calibrated="the loss rate"),
            replace(claim("d", *HOLDS), tolerance=1.2),
        ],
        "apart",
        "calibrated",
        "cannot_fail",
    ),
    "ours against our theory, and values beyond the source": state(
        [THEORY, WRONG, replace(claim("r", *ONCE), basis="theory"), reported("fig3", "s", Interval(1.0, 0.9, 1.1, 4))],
        "nothing",
        "theory",
        "beyond",
    ),
    "a study without a claim": state([], "nothing"),
    "a register of which all is checked": state(
        [claim("a", *HOLDS)], "register_whole", register=Register("Nobody 2026", [entry("a", "table1: a")])
    ),
    "a register with an entry that cannot be checked": state(
        [claim("a", *HOLDS)],
        "register",
        register=Register("Nobody 2026", [entry("a", "table1: a"), entry("b", None)]),
    ),
    "criteria with each verdict": suite(
        [
            at_most("§1", "delay, s", 0.02, Interval(0.01, 0.009, 0.011, 5)),
            at_most("§1", "loss", 0.02, Interval(0.04, 0.03, 0.05, 5)),
            at_most("§1", "queue, s", 0.02, Interval(0.019, 0.01, 0.03, 5)),
            at_most("§1", "share", 0.02, None),
            reported("§2", "goodput", Interval(1.0, 0.9, 1.1, 5), basis="asked"),
        ],
        "criteria",
        "reported",
    ),
    "a suite that asks for nothing": suite(
        [reported("§2", "x", Interval(1.0, 0.9, 1.1, 5), basis="asked")], "no_criteria"
    ),
}
