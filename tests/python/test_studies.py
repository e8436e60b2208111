"""The registry of studies, and what a check says of itself."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from parshall.analysis.stats.claim_rules import equal, one_run, reported, sign
from parshall.analysis.stats.claims import Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly, single
from parshall.foundations.errors import InputError
from parshall.report.document import Chart, Document, Section, Table
from parshall.report.layout import name_lines
from parshall.report.plot import Axis, Grid, Line, Panel, Plot, Points
from parshall.report.svg import svg
from parshall.studies import catalog
from parshall.studies.forest import EDGE, forest
from parshall.studies.headline import Counts, headline, matrix
from parshall.studies.running import Execution, run
from parshall.studies.study import Findings, Part, Scale, Study

Cli = Callable[..., Result]


def _found(_: object, scale: Scale) -> Findings:
    ours = {"quick": 2.1, "paper": 2.01}[scale]
    checks = [
        equal("table1", "mean, s", 2.0, Interval(ours, ours - 0.1, ours + 0.1, 4), within=Tolerance(0.25, "a plot")),
        equal("table1", "loss rate", 0.5, exactly(0.1), within=Tolerance(0.01, "two digits"), note="no chance in it"),
        reported("fig2", "median, s", Interval(1.5, 1.4, 1.6, 4)),
    ]
    shades = Grid([0, 1, 2], [0, 1], [[0.5, math.nan]], "shade")
    plot = Plot([Panel([shades, Line([0, 2], [0, 1], "ours")], Axis("x", "s"), Axis("y"))], "What was found.")
    section = Section("Figure 2", ["It is `like` <this>."], figures=[Chart("fig2", "Shades", plot)])
    return Findings(checks, [section])


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A study, registered as any other: as one of a package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Study("example", "Example", "an example", "nobody 2026", [Part("all of it", lambda _: {}, _found)])
    monkeypatch.setattr(catalog, "studies", lambda: (made,))
    return "example"


def test_a_study_prints_its_checks_as_json(cli: Cli, study: str) -> None:
    done = cli("study", study, "--json")
    assert done.exit_code == 0
    first, second, third = json.loads(done.stdout)
    assert first == {
        "artefact": "table1",
        "quantity": "mean, s",
        "rule": "equal",
        "published": 2.0,
        "theory": None,
        "ours": 2.1,
        "ci_low": 2.0,
        "ci_high": pytest.approx(2.2),
        "tolerance": 0.25,
        "tolerance_reason": "a plot",
        "uncertain": 0.0,
        "nulls": [
            {"name": "half of it", "value": 1.0, "accepted": False},
            {"name": "one and a half times it", "value": 3.0, "accepted": False},
        ],
        "null_reason": "",
        "cannot_fail": False,
        "reading": "",
        "note": "",
        "contested": "",
        "kind": "",
        "calibrated": "",
        "outcome": "holds",
        "verdict": "reproduced",
    }
    assert (second["verdict"], second["note"]) == ("not_reproduced", "no chance in it")
    assert (third["verdict"], third["published"], third["rule"]) == ("reported", None, "reported")
    assert json.loads(cli("study", study, "--json", "--scale", "paper").stdout)[0]["ours"] == 2.01


def test_a_study_prints_a_table(cli: Cli, study: str) -> None:
    shown = cli("study", study).stdout
    assert "not reproduced" in shown
    assert "2 .. 2.2" in shown
    assert study in cli("list", "studies").stdout


def test_a_study_writes_a_page(cli: Cli, study: str, tmp_path: Path) -> None:
    done = cli("study", study, "--output", str(tmp_path / "out"), "--format", "png,svg")
    assert done.exit_code == 0
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    figures = {f"figures/{name}.{kind}" for name in ("fig2", "published-and-ours") for kind in ("png", "svg")}
    assert written == {"study.html", "checks.json", *figures}
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    for words in (
        "<code>like</code> &lt;this&gt;",
        "Of 2\u00a0claims of the source&#39;s experiments, 1 is reproduced",
        "Beyond the source: 1\u00a0value.",
        "Not reproduced",
        "All claims",
    ):
        assert words in page
    headings = ["<h2>Published and ours", 'id="figure-fig2"', "<h2>What does not agree", "<h2>All claims"]
    places = [page.index(words) for words in headings]
    assert places == sorted(places), "what was found comes before the lists"
    assert json.loads((tmp_path / "out" / "checks.json").read_text(encoding="utf-8"))[0]["quantity"] == "mean, s"


def test_a_page_is_replaced_only_where_that_is_asked_for(cli: Cli, study: str, tmp_path: Path) -> None:
    words = ("study", study, "--output", str(tmp_path / "out"))
    assert cli(*words).exit_code == 0
    (tmp_path / "out" / "study.html").write_text("an earlier one")
    refused = cli(*words)
    assert refused.exit_code == 2
    assert "exists and is not empty; write the name of a new directory, or --force" in refused.stderr
    assert (tmp_path / "out" / "study.html").read_text() == "an earlier one"
    assert cli(*words, "--force").exit_code == 0
    assert (tmp_path / "out" / "study.html").stat().st_size > 1000


@pytest.mark.parametrize(
    "verb",
    [
        ("suite", "rfc9743", "cubic"),
        ("itb",),
        ("check-control", "reno"),
        ("design", "aqm", "quickstart"),
        ("design", "buffer", "quickstart"),
        ("design", "repetitions", "quickstart"),
        ("design", "rio", "--capacity", "1 Mbit/s", "--rtt", "1 ms", "--sessions", "1"),
    ],
    ids=lambda verb: "-".join(verb[:2]),
)
def test_whatever_writes_a_page_refuses_a_directory_that_is_not_empty(
    verb: tuple[str, ...], cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("")
    refused = cli(*verb, "--output", str(tmp_path))
    assert refused.exit_code == 2
    assert f"{tmp_path} exists and is not empty" in refused.stderr


def test_findings_have_the_figures_of_the_page(cli: Cli, study: str, tmp_path: Path) -> None:
    assert list(_found(None, "quick").figures) == ["published-and-ours", "fig2"]
    done = cli("study", study, "--output", str(tmp_path / "out"), "--format", "pdf")
    assert done.exit_code == 0
    assert {path.name for path in (tmp_path / "out/figures").iterdir()} == {"fig2.pdf", "published-and-ours.pdf"}


def test_figures_of_a_study_need_a_place(cli: Cli, study: str) -> None:
    done = cli("study", study, "--format", "svg")
    assert done.exit_code == 2
    assert "--output" in done.stderr


def test_a_page_refuses_what_would_not_show() -> None:
    with pytest.raises(ValueError, match="row 0: 1 cells for 2 columns"):
        Table("t", ("a", "b"), [("1",)])
    plot = Plot([Panel([Line([0, 1], [0, 1])], Axis("x"), Axis("y"))], "")
    with pytest.raises(ValueError, match=r"found twice: \['f'\]"):
        Document("study", "t", "", (), [Section("s", figures=[Chart("f", "", plot), Chart("f", "", plot)])])
    with pytest.raises(ValueError, match="1 by 2 cells"):
        Grid([0, 1, 2], [0, 1], [[1.0]], "z")
    with pytest.raises(ValueError, match="ascend"):
        Grid([0, 1, 1], [0, 1], [[1.0, 2.0]], "z")


def test_an_unknown_study_gets_a_suggestion(cli: Cli, study: str) -> None:
    done = cli("study", study[:-1])
    assert done.exit_code == 2
    assert 'Did you mean "example"?' in done.stderr


# --- the four numbers ---


def claim(artefact: str, quantity: str, ours: float, reading: str = "", **more: object) -> Claim:
    """Of a published 10 with a tolerance of 1, an exact value."""
    made = equal(artefact, quantity, 10.0, exactly(ours), within=Tolerance(1.0, "digits"), reading=reading)
    return replace(made, **more)  # type: ignore[arg-type]


def test_the_first_sentence_has_the_best_reading_and_the_union_apart() -> None:
    """Two readings that exclude each other have two claims each; no network has all three."""
    claims = [
        *(claim("fig2", "small buffer", ours, reading) for reading, ours in (("0.2 s", 10.0), ("1 s", 20.0))),
        *(claim("fig2", "large buffer", ours, reading) for reading, ours in (("0.2 s", 20.0), ("1 s", 10.0))),
        claim("fig3", "mean", 10.5),
        claim("fig3", "largest", 30.0),
    ]
    assert headline(claims) == (
        "Of 4\u00a0claims of the source's experiments, the best single reading (“0.2 s”) reproduces 2; some reading or "
        "other, 3. Of the rest, not reproduced: 1; compatible: 0; undecided: 0. Of 2\u00a0artefacts, one reading has "
        "all claims of none."
    )
    counts = Counts(claims)
    assert {reading: len(counts.reproduced(reading)) for reading in counts.readings} == {"0.2 s": 2, "1 s": 2}
    readings, by_claim = matrix(claims)
    assert [list(row) for row in readings.rows] == [
        ["0.2 s", "1/2", "1/2", "2/4"],
        ["1 s", "1/2", "1/2", "2/4"],
    ]
    assert [list(row) for row in by_claim.rows] == [["fig2: small buffer", "+", "−"], ["fig2: large buffer", "−", "+"]]


def test_an_artefact_is_whole_in_one_reading_only() -> None:
    claims = [claim(name, word, 10.0, "one") for name in ("fig1", "fig2") for word in ("low", "high")]
    claims += [claim("fig2", "wide", 10.0, "two")]
    assert Counts(claims).whole == ["fig1"]
    assert Counts([*claims, claim("fig2", "wide", 10.0, "one")]).whole == ["fig1", "fig2"]


def test_what_is_no_experiment_is_counted_apart() -> None:
    claims = [
        claim("table1", "definition", 10.0, kind="definition"),
        claim("table1", "arithmetic", 20.0, kind="arithmetic"),
        claim("fig1", "fitted", 10.0, calibrated="the window"),
        claim("fig1", "lax", 10.0, tolerance=6.0),
        claim("fig1", "theory", 10.0, basis="theory"),
        claim("fig1", "value", 20.0),
    ]
    text = headline(claims)
    assert text.startswith("Of 1\u00a0claim of the source's experiments, 0 are reproduced.")
    assert "Definitions and arithmetic, apart: 1 of 2 reproduced." in text
    assert "Calibrated to the published value, not counted: 1." in text
    assert "Cannot fail, not counted: 1." in text
    assert headline([]) == "Nothing here was published as a number or a claim."


# --- the picture ---


def test_every_claim_is_drawn_in_tolerances() -> None:
    """Also those of 0, of negative values, and signs; readings as symbols, verdicts as colours."""
    wide = Interval(0.2, 0.1, 0.3, n=8)
    claims = [
        *(
            equal("fig1", "mean, s", 10.0, Interval(9.5, 9.0, 10.0, 3), within=Tolerance(1.0, "t"), reading=each)
            for each in "ab"
        ),
        equal("fig1", "f(11)", -0.01, exactly(-0.03), within=Tolerance(0.004, "one digit")),
        sign("fig2", "loss rate with heavier tails", 1, wide),
        equal("fig2", "error", 0.0, single(0.05), within=Tolerance(0.1, "t"), nulls=[Null("none", exactly(0.0))]),
        equal("fig1", "last", 1.0, exactly(500.0), within=Tolerance(0.1, "t")),
        reported("fig3", "beyond", wide),
    ]
    drawn = forest(claims)
    assert drawn is not None
    panel = drawn.plot.panels[0]
    assert panel.y.names == (
        "fig2: error",
        "fig2: loss rate with heavier tails",
        "fig1: last",
        "fig1: f(11)",
        "fig1: mean, s",
    ), "from below, grouped by artefact"
    points = [mark for mark in panel.marks if isinstance(mark, Points)]
    assert sum(len(np.asarray(mark.x)) for mark in points) == 6, "all but what is held against nothing"
    reproduced = [mark for mark in points if np.asarray(mark.y).tolist() == [4.0]]
    assert len({mark.style.symbol for mark in reproduced}) == 2
    assert len({mark.style.index for mark in reproduced}) == 1
    assert np.asarray(reproduced[0].x) == pytest.approx([-0.5])
    assert np.asarray(reproduced[0].low) == pytest.approx([-1.0])
    missed = next(mark for mark in points if mark.name == "not reproduced")
    assert np.asarray(missed.x) == pytest.approx([-EDGE, EDGE]), "5 tolerances off, and far more: at the edge"
    grey = next(mark for mark in points if mark.name == "cannot fail")
    assert grey.style.muted
    assert "circle: a" in drawn.plot.caption
    assert forest(claims[-1:]) is None


def test_readings_of_a_claim_have_symbols_of_their_own() -> None:
    """Also where there are more readings than symbols: no claim has two of the same."""
    value = Interval(9.5, 9.0, 10.0, 3)
    claims = [
        equal("fig1", f"claim {first}", 10.0, value, within=Tolerance(1.0, "t"), reading=f"reading {number}")
        for first in range(0, 15, 5)
        for number in range(first, first + 5)
    ]
    drawn = forest(claims)
    assert drawn is not None
    points = [mark for mark in drawn.plot.panels[0].marks if isinstance(mark, Points)]
    for place in range(3):
        own = [mark.style.symbol for mark in points if place in np.asarray(mark.y)]
        assert len(set(own)) == 5
    assert "circle: reading 0, or reading 5, or reading 10" in drawn.plot.caption


def test_long_names_of_claims_have_two_lines_in_the_picture() -> None:
    name = "mean rate of the largest flows with heavier tails, with slow start, B = 896"
    drawn = forest([equal("fig1", name, 10.0, Interval(9.5, 9.0, 10.0, 3), within=Tolerance(1.0, "t"))])
    assert drawn is not None
    lines = name_lines(f"fig1: {name}", drawn.plot.panels[0].y)
    assert (len(lines), " ".join(lines)) == (2, f"fig1: {name}")
    picture, _, _ = svg(drawn.plot)
    for line in lines:
        assert line in picture


# --- what is refused ---


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            equal("fig1", "q", 1.0, exactly(1.0), within=Tolerance(0.1, "")),
            "fig1: q: tolerance: found 0.1 without a reason",
        ),
        (equal("fig1", "q", 0.0, exactly(0.0), within=Tolerance(0.1, "t")), "fig1: q: null: found none, and no reason"),
    ],
)
def test_a_claim_that_lacks_something_is_refused_by_name(made: Claim, said: str) -> None:
    refused = Study("example", "", "", "", [Part("all", lambda _: {}, lambda *_: Findings([made], []))])
    with pytest.raises(InputError) as error:
        run(refused, "quick", lambda _: None, Execution(workers=1))
    assert str(error.value).startswith(f"example: {said}")


def test_one_published_run_is_uncertain_itself() -> None:
    """Twenty runs know their mean to 0.02, which their next run misses by 0.1."""
    runs = 1.0 + 0.05 * np.sin(np.arange(20.0))
    narrow, wide = Tolerance(0.05, "digits"), Tolerance(0.3, "asked")
    assert one_run("table2", "gain", 1.06, runs, within=narrow).verdict == "undecided"
    assert one_run("table2", "gain", 1.4, runs, within=narrow).verdict == "not_reproduced"
    assert one_run("table2", "gain", 1.06, runs, within=wide).verdict == "reproduced"
