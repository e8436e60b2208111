"""The registry of studies, and what a check says of itself."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from parshall.report.document import Chart, Document, Section, Table
from parshall.report.plot import Axis, Grid, Line, Panel, Plot, Points
from parshall.stats.confidence import Interval, mean_interval
from parshall.studies import catalog
from parshall.studies.check import Check, Verdict, sign, single_run
from parshall.studies.forest import forest
from parshall.studies.page import headline
from parshall.studies.study import Findings, Part, Scale, Study

Cli = Callable[..., Result]


def _found(_: object, scale: Scale) -> Findings:
    ours = {"quick": 2.1, "paper": 2.01}[scale]
    checks = [
        Check("table1", "mean, s", 2.0, ours, ours - 0.1, ours + 0.1, 0.05),
        Check("table1", "loss rate", 0.5, 0.1, None, None, 0.01, "one run"),
        Check("fig2", "median, s", None, 1.5, 1.4, 1.6, 0.0),
    ]
    shades = Grid([0, 1, 2], [0, 1], [[0.5, math.nan]], "shade")
    plot = Plot([Panel([shades, Line([0, 2], [0, 1], "ours")], Axis("x", "s"), Axis("y"))], "What was found.")
    section = Section("Figure 2", ["It is `like` <this>."], figures=[Chart("fig2", "Shades", plot)])
    return Findings(checks, [section])


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A study, registered as any other: a line in the catalog."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Study("example", "Example", "an example", "nobody 2026", [Part("all of it", lambda _: {}, _found)])
    monkeypatch.setattr(catalog, "STUDIES", (made,))
    return "example"


def test_a_study_prints_its_checks_as_json(cli: Cli, study: str) -> None:
    done = cli("study", study, "--json")
    assert done.exit_code == 0
    first, second, third = json.loads(done.stdout)
    assert first == {
        "artefact": "table1",
        "quantity": "mean, s",
        "published": 2.0,
        "ours": 2.1,
        "ci_low": 2.0,
        "ci_high": pytest.approx(2.2),
        "tolerance": 0.05,
        "verdict": "reproduced",
        "note": "",
        "theory": None,
        "decisive": None,
        "reading": "",
    }
    assert (second["verdict"], second["note"]) == ("not_reproduced", "one run")
    assert (third["verdict"], third["published"]) == ("extended", None)
    assert json.loads(cli("study", study, "--json", "--scale", "paper").stdout)[0]["ours"] == 2.01


def test_a_study_prints_a_table(cli: Cli, study: str) -> None:
    shown = cli("study", study).stdout
    assert "not reproduced" in shown
    assert "2 .. 2.2" in shown
    assert study in cli("list", "studies").stdout


def test_a_study_writes_a_page(cli: Cli, study: str, tmp_path: Path) -> None:
    done = cli("study", study, "--output", str(tmp_path / "out"), "--figures")
    assert done.exit_code == 0
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    figures = {f"figures/{name}.{kind}" for name in ("fig2", "published-and-ours") for kind in ("png", "svg")}
    assert written == {"study.html", "checks.json", *figures}
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    for words in (
        "<code>like</code> &lt;this&gt;",
        "Of 2\u00a0published numbers and claims, reproduced: 1; not reproduced: 1; undecided: 0.",
        "Beyond the source: 1\u00a0value.",
        "Not reproduced",
        "All checks",
    ):
        assert words in page
    headings = ["<h2>Published and ours", 'id="figure-fig2"', "<h2>What does not agree", "<h2>All checks"]
    places = [page.index(words) for words in headings]
    assert places == sorted(places), "what was found comes before the lists"
    assert json.loads((tmp_path / "out" / "checks.json").read_text(encoding="utf-8"))[0]["quantity"] == "mean, s"


def test_findings_have_the_figures_of_the_page(cli: Cli, study: str, tmp_path: Path) -> None:
    assert list(_found(None, "quick").figures) == ["published-and-ours", "fig2"]
    done = cli("study", study, "--output", str(tmp_path / "out"), "--format", "pdf")
    assert done.exit_code == 0
    assert {path.name for path in (tmp_path / "out/figures").iterdir()} == {"fig2.pdf", "published-and-ours.pdf"}
    twice = cli("study", study, "--output", str(tmp_path / "out"), "--format", "pdf", "--figures")
    assert twice.exit_code == 2
    assert "--figures: found --format" in twice.stderr


def test_figures_of_a_study_need_a_place(cli: Cli, study: str) -> None:
    done = cli("study", study, "--figures")
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


@pytest.mark.parametrize(
    ("published", "low", "high", "verdict"),
    [
        (2.0, 1.9, 2.2, "reproduced"),
        (2.0, 2.1, 2.3, "reproduced"),  # the interval comes within the tolerance of 0.1
        (2.0, 2.11, 2.3, "not_reproduced"),
        (2.0, 1.5, 1.89, "not_reproduced"),
        (2.0, 1.5, 2.5, "undecided"),  # it would agree with 1.6 as well as with 2.4
        (None, 1.5, 1.89, "extended"),
    ],
)
def test_verdicts(published: float | None, low: float, high: float, verdict: Verdict) -> None:
    assert Check("a", "q", published, (low + high) / 2, low, high, 0.1).verdict == verdict


def test_a_check_without_an_interval_is_its_value() -> None:
    assert Check("a", "q", 2.0, 2.05, None, None, 0.1).verdict == "reproduced"
    assert Check("a", "q", 2.0, 2.2, None, None, 0.1).verdict == "not_reproduced"


def test_ours_against_our_theory_is_never_reproduced() -> None:
    same, other = (Check("fig6b", "mean", None, ours, None, None, 0.1, theory=2.0) for ours in (2.05, 2.5))
    assert (same.verdict, same.published, same.reference) == ("consistent_with_theory", None, 2.0)
    assert other.verdict == "not_reproduced"
    assert "(theory)" in same.cells()[2]
    assert other.cells()[6] == "not as our theory says"
    assert headline([same, other]) == "Nothing here was published as a number or a claim."
    with pytest.raises(ValueError, match="accepted: one"):
        Check("a", "q", 2.0, 2.0, None, None, 0.1, theory=2.0)


def test_a_wide_interval_may_be_declared_decisive() -> None:
    """Where the published value is near 0, 10 % of it is no measure."""
    assert Check("a", "q", 0.0, 0.01, -0.05, 0.07, 0.0).verdict == "undecided"
    assert Check("a", "q", 0.0, 0.01, -0.05, 0.07, 0.0, decisive=0.1).verdict == "reproduced"


def test_one_published_run_is_held_against_one_run_of_ours() -> None:
    """Twenty runs know their mean to 0.02, which their next run misses by 0.1."""
    runs = 1.0 + 0.05 * np.sin(np.arange(20.0))
    assert not mean_interval(runs).contains(1.06)
    assert single_run("table2", "gain", 1.06, runs, tolerance=0.0).verdict == "reproduced"
    assert single_run("table2", "gain", 1.2, runs, tolerance=0.0).verdict == "not_reproduced"
    assert single_run("table2", "gain", 1.2, 1.0 + 8 * (runs - 1.0), tolerance=0.0).verdict == "undecided"


@pytest.mark.parametrize(
    ("published", "low", "high", "verdict"),
    [
        (1, 0.1, 0.5, "reproduced"),
        (1, -0.1, 0.5, "undecided"),
        (1, -0.5, -0.1, "not_reproduced"),
        (-1, -0.5, -0.1, "reproduced"),
        (0, -0.04, 0.05, "reproduced"),
        (0, -0.1, 0.2, "undecided"),
        (0, 0.01, 0.2, "undecided"),
        (0, 0.1, 0.2, "not_reproduced"),
        (None, 0.1, 0.2, "extended"),
    ],
)
def test_signs(published: int | None, low: float, high: float, verdict: Verdict) -> None:
    negligible = 0.05 if published == 0 else 0.0
    found = Interval((low + high) / 2, low, high, n=8)
    assert sign("fig2", "change", published, found, negligible=negligible).verdict == verdict


def test_the_first_sentence_counts_a_value_once() -> None:
    """Three readings of one value, a value that is missed, and one that is undecided."""
    readings = [Check("fig3", "highest", 147.0, ours, None, None, 2.0, reading=f"{ours:g}") for ours in (146, 160, 170)]
    missed = Check("fig3", "lowest", 73.0, 80.0, None, None, 2.0)
    unclear = Check("fig3", "mean", 110.0, 110.0, 80.0, 140.0, 2.0)
    assert headline([*readings, missed, unclear]) == (
        "Of 3\u00a0published numbers and claims, reproduced: 1 (1 of them only in some readings of what the source "
        "leaves open); not reproduced: 1; undecided: 1."
    )


def test_no_result_is_no_check() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        Check("a", "q", 2.0, math.nan, None, None, 0.1)


def test_ours_over_published_is_drawn_by_verdict() -> None:
    found = _found(None, "quick")
    drawn = forest(found.checks)
    assert drawn is not None
    panel = drawn.plot.panels[0]
    assert panel.y.names == ("table1: loss rate", "table1: mean, s"), "from below; what was not published has no row"
    points = {mark.name: mark for mark in panel.marks if isinstance(mark, Points)}
    assert set(points) == {"reproduced", "not reproduced"}
    assert np.asarray(points["reproduced"].x) == pytest.approx([2.1 / 2.0])
    assert np.asarray(points["reproduced"].low) == pytest.approx([2.0 / 2.0])
    assert np.asarray(points["not reproduced"].x) == pytest.approx([0.1 / 0.5])
    assert np.asarray(points["not reproduced"].y).tolist() == [0.0]
    assert forest([check for check in found.checks if check.published is None]) is None


def test_signs_have_no_row_and_readings_are_told_apart() -> None:
    readings = [Check("fig1", "packets", 10.0, 9.0, 8.0, 10.0, 1.0, reading=reading) for reading in ("one", "another")]
    signs = [sign("fig1", "loss rate with heavier tails", 1, Interval(0.2, 0.1, 0.3, 3))]
    drawn = forest([*readings, *signs])
    assert drawn is not None
    assert drawn.plot.panels[0].y.names == ("fig1: packets (another)", "fig1: packets (one)")
    assert forest(signs) is None


def test_of_many_values_those_that_are_not_reproduced_are_drawn() -> None:
    good = [Check("fig1", f"value {number}", 1.0, 1.0, 1.0, 1.0, 0.1) for number in range(60)]
    bad = Check("fig9", "the last", 1.0, 2.0, 2.0, 2.0, 0.1)
    drawn = forest([*good, bad])
    assert drawn is not None
    assert len(drawn.plot.panels[0].y.names) == 40
    assert drawn.plot.panels[0].y.names[0] == "fig9: the last"
    assert "Not drawn: 21\N{NO-BREAK SPACE}values" in drawn.plot.caption
