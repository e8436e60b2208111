"""Figures as objects and files: every format, of any width, with letters as text, and the numbers behind them."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import VERBS, application
from parshall.foundations.errors import InputError
from parshall.instruments.simulation import Run
from parshall.report import data
from parshall.report.pictures import FORMATS, Picture, Pictures, width_of
from parshall.report.plot import Axis, Band, Grid, Line, Panel, Plot, Points
from parshall.report.static import of_latex
from parshall.report.svg import svg

SCENARIO = Path(__file__).parents[2] / "scenarios/quickstart.toml"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ps.run(ps.Scenario.load(SCENARIO, ("duration=4 s", "warm_up=1 s")), tmp_path_factory.mktemp("run") / "run")


@pytest.fixture
def cli() -> CliRunner:
    return CliRunner()


def test_each_format_is_what_it_says(run: Run, tmp_path: Path) -> None:
    picture = run.figures["overview"]
    begins = {"csv": b"panel,", "pdf": b"%PDF", "pgf": b"% Needs", "png": b"\x89PNG", "svg": b"<?xml"}
    written = {each: picture.save(tmp_path / f"figure.{each}", 3.3).read_bytes() for each in FORMATS}
    assert all(content.startswith(begins[each]) for each, content in written.items())
    root = ET.fromstring(written["svg"])
    assert root.get("width") == f"{3.3 * 72:g}pt"
    texts = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Queueing delay (ms)", "Time (s)", "cubic"} <= texts, "letters are text"
    assert b"Type3" not in written["pdf"], "nor shapes in PDF"
    assert rb"Queueing delay (ms)" in written["pgf"]
    assert b"\\setmainfont" not in written["pgf"], "the font is the paper's"


def test_whatever_has_a_page_has_its_figures(run: Run, tmp_path: Path) -> None:
    """Results of every instrument, a comparison and a sweep; other parts have theirs beside their pages' tests."""
    tables = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms", "count": 2}]}
    plan = ps.Plan(name="s", scenario=tables, parameters={"flows.0.rtt": ["20 ms", "40 ms"]}, repetitions=2)
    having = {
        "over-time": ps.observe(SCENARIO.parents[1] / "docs/example.pcap.gz"),
        "candidates": ps.compare(run, run, names=["a", "b"]),
        "goodput_bps": ps.sweep(plan, tmp_path / "store"),
    }
    for name, each in having.items():
        assert each.figures[name].save(tmp_path / f"{name}.pdf", 3.3).read_bytes().startswith(b"%PDF")
        assert each.figures is each.figures, "they are made once"
    assert list(ps.predict(run.scenario).figures) == [], "the page of a prediction has none"


def test_verbs_with_a_page_write_its_figures(cli: CliRunner, tmp_path: Path) -> None:
    verbs = application(VERBS)
    asked = ["design", "repetitions", str(SCENARIO), "--set", "duration=4 s", "--set", "warm_up=1 s"]
    asked += ["--pilot", "3", "--within", "50 %"]
    done = cli.invoke(verbs, [*asked, "-o", str(tmp_path / "page"), "--format", "svg, csv", "--width", "84mm"])
    assert done.exit_code == 0, done.output
    written = {str(path.relative_to(tmp_path / "page")) for path in (tmp_path / "page").rglob("*.*")}
    assert written == {"design.html", "figures/shrinking.svg", "figures/shrinking.csv"}
    root = ET.fromstring((tmp_path / "page/figures/shrinking.svg").read_text(encoding="utf-8"))
    assert float(str(root.get("width")).removesuffix("pt")) == pytest.approx(84 / 25.4 * 72, rel=1e-4)
    for wrong, said in (
        (["--format", "pdf"], "--format: found no --output"),
        (["--format", "gif", "-o", str(tmp_path / "page")], '--format: found "gif"; accepted: "csv", "pdf"'),
        (["--width", "3 km", "-o", str(tmp_path / "page")], "accepted: a length such as"),
    ):
        refused = cli.invoke(verbs, [*asked, *wrong, "--force"])
        assert (refused.exit_code, said in refused.output) == (2, True), refused.output


@pytest.mark.parametrize("verb", ["itb", "study", "check-control", "design buffer", "design aqm", "design rio"])
def test_the_others_take_the_same_options(cli: CliRunner, verb: str) -> None:
    shown = cli.invoke(application(VERBS), [*verb.split(), "--help"], env={"COLUMNS": "200"}).output
    assert "--format" in shown
    assert "--width" in shown


def test_numbers_in_the_cells_of_a_map_can_be_read() -> None:
    grid = Grid([0, 1, 2], [0, 1], [[7.0, np.nan]], "number", texts=[["seven", "none"]])
    plot = Plot([Panel([grid], Axis("x"), Axis("y"))], "")
    drawing, _, _ = svg(plot)
    assert ">seven</text>" in drawing
    assert ">none</text>" not in drawing, "an empty cell has no number"
    assert Picture("map", "", plot).plotly()["data"][0]["text"] == [["seven", "none"]]
    assert [text.get_text() for text in Picture("map", "", plot).matplotlib().axes[0].texts] == ["seven"]
    with pytest.raises(ValueError, match="as many texts"):
        Grid([0, 1, 2], [0, 1], [[7.0, 8.0]], "number", texts=[["seven"]])


@pytest.mark.needs("pdflatex", "pgf.sty")
def test_latex_sets_every_figure(run: Run, tmp_path: Path) -> None:
    inputs = []
    for name in run.figures:
        run.figures[name].save(tmp_path / f"{name}.pgf", 3.3)
        inputs.append(rf"\input{{{name}.pgf}}\par")
    packages = r"\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{pgf}"
    paper = "\n".join([r"\documentclass{article}", packages, r"\begin{document}", *inputs, r"\end{document}"])
    (tmp_path / "paper.tex").write_text(paper)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


def test_what_latex_means_something_else_by_is_written_for_it() -> None:
    assert of_latex("a_b: 5×10⁻⁶ $x & {#}") == (
        r"a\_b: 5\ensuremath{\times}10\textsuperscript{\ensuremath{-}6} \$x \& \{\#\}"
    )
    assert of_latex("10\u00a0µs − 3\u202fm²") == r"10~\ensuremath{\mu}s \ensuremath{-} 3\,m\textsuperscript{2}"


def test_a_narrow_figure_keeps_its_letters(run: Run) -> None:
    narrow, wide = (run.figures["delay"].matplotlib(width) for width in (3.3, 6.3))
    assert narrow.get_size_inches()[0] == 3.3
    assert narrow.get_size_inches()[1] < wide.get_size_inches()[1]
    assert narrow.axes[0].xaxis.label.get_size() == wide.axes[0].xaxis.label.get_size()


def test_plotly_has_colours_in_place_of_tokens(run: Run) -> None:
    drawn = run.figures["overview"].plotly()
    assert "$" not in str(drawn["data"])
    assert drawn["data"][0]["line"]["width"] == 0
    assert drawn["data"][1]["fillcolor"].startswith("rgba(42,127,208,")
    bundle = run.figures["delay"]._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")


def test_the_table_has_each_point() -> None:
    x, y = Axis("Time", "s"), Axis("Rate", "Mbit/s")
    marks = [
        Line([0, 1], [2, 3], "a & b"),
        Band([0, 1], [1, 1], [4, 5], "range"),
        Points([2.0], [3.0], "measured", low=[2.5], high=[4.0]),
    ]
    grid = Grid([0, 1, 2], [0, 1], [[7.0, np.nan]], "number")
    plot = Plot([Panel(marks, x, y, "note"), Panel([grid], x, Axis("Place"))], "")
    rows = list(csv.DictReader(io.StringIO(data.text(plot))))
    assert [row["series"] for row in rows[:2]] == ["a & b"] * 2
    assert {(row["series"], row["y"]) for row in rows[2:6]} == {
        ("range (lower end)", "1.0"),
        ("range (upper end)", "4.0"),
        ("range (upper end)", "5.0"),
    }
    assert (rows[6]["low"], rows[6]["high"]) == ("2.5", "4.0")
    assert [(row["panel"], row["x"], row["z"]) for row in rows[7:]] == [("2", "0.0", "7.0"), ("2", "1.0", "")]
    assert rows[0]["y axis"] == "Rate (Mbit/s), note"


def test_names_and_widths_that_are_none_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match='figure: found "nothing"; accepted: overview'):
        run.figures["nothing"]
    assert "nothing" not in run.figures
    for text in ("3.3", "wide", "-1in", "3 km"):
        with pytest.raises(InputError, match="accepted: a length such as"):
            width_of(text)
    with pytest.raises(InputError, match=r"width: found 100 in; accepted: 1\.5 to 20 in"):
        width_of("100in")
    with pytest.raises(InputError, match='format: found "gif"; accepted: csv, pdf, pgf, png, svg'):
        run.figures["delay"].save(tmp_path / "figure.gif")
    assert list(Pictures([])) == []


def test_the_command_lists_and_writes(run: Run, cli: CliRunner, tmp_path: Path) -> None:
    verbs = application(VERBS)
    place = str(run.directory)
    listed = cli.invoke(verbs, ["figure", place])
    assert listed.exit_code == 0
    assert "overview" in listed.stdout
    target = tmp_path / "delay.svg"
    written = cli.invoke(verbs, ["figure", place, "delay", "--width", "84mm", "-o", str(target)])
    assert written.exit_code == 0, written.output
    assert target.read_text().startswith("<?xml")
    for wrong, said in (
        (["figure", place, "none"], "accepted: overview"),
        (["figure", place, "delay", "--format", "gif"], "accepted: csv, pdf, pgf, png, svg"),
        (["figure", place, "delay", "--format", "csv", "-o", str(target)], "ends in .csv"),
    ):
        refused = cli.invoke(verbs, wrong)
        assert refused.exit_code == 2
        assert said in refused.output
