"""The register of a source's claims: what is refused, which check judges which claim, and those of our studies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.region import exactly
from parshall.foundations.errors import InputError
from parshall.studies import page
from parshall.studies.catalog import STUDIES
from parshall.studies.headline import headline
from parshall.studies.register import parsed
from parshall.studies.running import Execution, run
from parshall.studies.study import Findings, Study

TEXT = """
source = "Euclid, Elements"

[[claim]]
id = "table1.T"
artefact = "Table 1"
kind = "value"
states = "The throughput is 10"
refuted_by = "a value farther than 1"
check = ["table1"]

[[claim]]
id = "table1.definition"
artefact = "Table 1"
kind = "definition"
states = "A mean is a sum over a count"
refuted_by = "another one"
check = ["table1: mean"]
calibrated = "the count"

[[claim]]
id = "section3.trains"
artefact = "section 3"
kind = "sentence"
states = "Trains are late"
refuted_by = "a train on time"
not_checked = "there are no trains here"
"""


@pytest.mark.parametrize(
    ("check", "quantity", "names"),
    [
        ("fig1", "mean", True),
        ("fig", "mean", False),
        ("fig1: gain at 1", "gain at 1, plain", True),
        ("fig1: gain at 1", "gain at 10", False),
        ("fig1: gain at 1", "gain at 1.05", False),
        ("fig1: gain at α =", "gain at α = 1.05", True),
        ("fig1: bic, ", "bic, SACK: mean", True),
        ("fig1: mean", "mean", True),
        ("fig1: mean, s", "mean", False),
    ],
)
def test_a_check_names_claims_by_their_beginning(check: str, quantity: str, names: bool) -> None:
    register = parsed(TEXT.replace('check = ["table1"]', f'check = ["{check}"]'), "claims.toml")
    assert (register.entry_of(equal("fig1", quantity, 1.0, exactly(1.0))) is not None) is names
    assert register.entry_of(equal("fig1-linux", quantity, 1.0, exactly(1.0))) is None


def test_a_claim_has_the_entry_that_names_it_most_closely() -> None:
    register = parsed(TEXT, "claims.toml")
    found = {
        name: register.entry_of(equal(*name, 1.0, exactly(1.0)))
        for name in (("table1", "T, packets/s"), ("table1", "mean"), ("table1", "mean, s"), ("table10", "T"))
    }
    assert [None if each is None else each.id for each in found.values()] == [
        "table1.T",
        "table1.definition",
        "table1.definition",
        None,
    ]
    made = [equal("table1", "mean", 10.0, exactly(10.0)), equal("table2", "mean", 10.0, exactly(10.0))]
    first, second = register.annotated(made)
    assert (first.kind, first.calibrated, first.verdict) == ("definition", "the count", "calibrated")
    assert second is made[1]
    theory = replace(made[0], basis="theory")
    assert register.annotated([theory]) == [theory]
    assert register.without_claim(made, "quick") == []
    assert register.without_claim(made[1:], "quick") == ["table1.T: table1", "table1.definition: table1: mean"]
    assert "Calibrated to the published value, not counted: 1." in headline([first, second])


def test_the_page_has_every_claim_of_the_source() -> None:
    found = Findings([equal("table1", "mean", 10.0, exactly(10.0))], [], parsed(TEXT, "claims.toml"))
    section = page.shown(found).sections[-1]
    assert "Euclid, Elements makes 3\u00a0claims, of which 2 are checked here." in section.paragraphs[0]
    assert [row[-1] for row in section.tables[0].rows] == [
        "table1",
        "table1: mean",
        "not checked: there are no trains here",
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('source = "Euclid, Elements"', "", "c.toml: source: missing"),
        ('check = ["table1"]\n', "", "c.toml: table1.T: check, not_checked: found neither; accepted: one of them"),
        (
            'not_checked = "there',
            'check = ["fig1"]\nnot_checked = "there',
            "c.toml: section3.trains: check, not_checked: found both",
        ),
        ('check = ["table1"]', "check = []", "c.toml: table1.T.check: Tuple should have at least 1 item"),
        ('kind = "value"', 'kind = "number"', "c.toml: table1.T.kind: Input should be"),
        ('id = "table1.T"', 'id = "T"', "c.toml: T: id: found 'T'; accepted: an artefact, a dot and a noun"),
        ('id = "table1.T"', 'id = "table1.definition"', "c.toml: id: found twice: table1.definition"),
        ('id = "table1.T"\n', "", "c.toml: claim 1.id: Field required"),
        ('refuted_by = "another one"\n', "", "c.toml: table1.definition.refuted_by: Field required"),
        ("[[claim]]", "[[claims]]", "c.toml: found ['claims']"),
        ("[[claim]]", "[[claim", "c.toml: "),
    ],
)
def test_a_register_that_is_wrong_is_refused(before: str, after: str, said: str) -> None:
    assert before in TEXT
    with pytest.raises(InputError) as refused:
        parsed(TEXT.replace(before, after), "c.toml")
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_study_of_ours_has_a_register(study: Study) -> None:
    """Each entry of it has a check or says why not: else it is refused."""
    register = study.register()
    assert register is not None
    assert register.entries


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_each_check_of_a_register_is_a_claim_that_its_study_makes(study: Study) -> None:
    """But for those of real stacks, which are made where a machine can emulate."""
    found = run(study, "quick", lambda _: None, Execution(workers=2))
    assert found.register is not None
    missing = [each for each in found.register.without_claim(found.checks, "quick") if "linux" not in each.lower()]
    assert not missing
