"""The report of real runs: its page, its figures, its tables, and comparisons."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.analysis.stats.confidence import mean_interval
from parshall.foundations import files
from parshall.foundations.errors import InputError
from parshall.instruments.simulation import Run
from parshall.report import compare, page_html, summary_html, write_figures, write_page
from parshall.report.comparison import Verdict
from parshall.report.figures import CATALOG
from parshall.report.html import _printable, _uri
from parshall.report.interactive import plotly
from parshall.report.palette import DARK, LIGHT, Scheme
from parshall.report.plot import Axis, Figure, Line, Missing, Panel, Plot
from parshall.report.static import image
from parshall.report.svg import svg
from parshall.report.uncertainty import IDENTICAL, ZERO, with_unit
from parshall.results.records import Result

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SHORT = ("duration=6 s", "warm_up=2 s")
HOSTILE = "<script>alert('x')</script>&%{y}`${z}`</title>"

UNSEEN = ("script", "style", "template")


class Seen(HTMLParser):
    """What a reader sees of a page, what it would load, and what would run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.cells: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside.append(tag)
        self.loaded += [value or "" for key, value in attrs if key in ("src", "href", "srcset", "action", "data")]

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not set(self._inside) & set(UNSEEN):
            self.text.append(data)
            if set(self._inside) & {"td", "th", "dl"}:
                self.cells.append(data)


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = ps.Scenario.load(SCENARIOS / "quickstart.toml", (*SHORT, "probes.internals=true"))
    return ps.run(scenario, tmp_path_factory.mktemp("bulk") / "run")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Run:
    overrides = (*SHORT, "probes.rounds=10", "repetitions=1")
    scenario = ps.Scenario.load(SCENARIOS / "on-off.toml", overrides)
    return ps.run(scenario, tmp_path_factory.mktemp("sources") / "run")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Names and a description that would be markup: in HTML, in plotly's labels, in a script.

    The schema accepts no such name of a group; tables that something else wrote may have one.
    """
    flows = {"count": 2, "rtt": "40 ms", "congestion_control": "reno"}
    document = {
        "name": HOSTILE,
        "description": HOSTILE,
        "duration": "3 s",
        "warm_up": "1 s",
        "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
        "flows": [flows | {"name": "FIRST"}, flows | {"name": "second", "rtt": "60 ms"}],
    }
    run = ps.run(ps.Scenario.from_document(document), tmp_path_factory.mktemp("hostile") / "run")
    inside = json.dumps(HOSTILE)[1:-1]
    renamed = {
        name: json.loads(json.dumps(getattr(run, name), default=str).replace("FIRST", inside))
        for name in ("metadata", "predicted")
    }
    tables = (
        "links",
        "transfers",
        "rounds",
        "flow_samples",
        "link_samples",
        "delay_histogram",
        "groups",
        "latency_histogram",
        "internals",
    )
    flows_table = run.flows.with_columns(pl.col("group").replace("FIRST", HOSTILE))
    given = {name: getattr(run, name) for name in tables}
    return Result(None, {**renamed["metadata"], "predicted": renamed["predicted"]}, {**given, "flows": flows_table})


@pytest.fixture(scope="module")
def constant(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Nothing random: all repetitions are identical."""
    document = {
        "duration": "2 s",
        "repetitions": 3,
        "bottleneck": {"rate": "5 Mbit/s"},
        "flows": [{"rtt": "50 ms", "workload": {"name": "cbr", "rate": "3 Mbit/s"}}],
    }
    return ps.run(ps.Scenario.from_document(document), tmp_path_factory.mktemp("constant") / "run")


@pytest.fixture(scope="module")
def pages(bulk: Run, sources: Run, hostile: Result, constant: Run) -> dict[str, str]:
    return {run.metadata["name"]: page_html(run) for run in (bulk, sources, hostile, constant)}


@pytest.mark.parametrize("figure", CATALOG, ids=lambda figure: figure.name)
def test_every_figure_is_drawn_both_ways_or_says_why_not(figure: Figure, bulk: Run, sources: Run) -> None:
    prepared = [figure.prepare(run) for run in (bulk, sources)]
    assert any(isinstance(plot, Plot) for plot in prepared)
    for plot in prepared:
        if isinstance(plot, Missing):
            assert re.fullmatch(r"[A-Z].*\.", plot.reason)
            continue
        drawn = json.loads(json.dumps(plotly(plot), allow_nan=False))
        assert sum(len(trace["x"]) for trace in drawn["data"]) > 1
        assert all(len(trace["x"]) == len(trace["y"]) for trace in drawn["data"])
        for made in (svg(plot)[0].encode(), image(plot, "svg").content):
            assert b"<svg" in made
            assert b"<path" in made
        assert made == image(plot, "svg").content, "the same drawing twice is the same bytes"
        assert plot.caption


def test_the_page_has_each_figure_or_the_reason(bulk: Run, pages: dict[str, str]) -> None:
    page = pages["quickstart"]
    assert all(page.count(f'id="figure-{figure.name}"') == 1 for figure in CATALOG)
    text = " ".join(Seen(page).text)
    for figure in CATALOG:
        plot = figure.prepare(bulk)
        if isinstance(plot, Missing):
            assert plot.reason.replace("`", "") in re.sub(r"\s+", " ", text.replace("  ", " ")).replace(" ;", ";")


def test_the_page_answers_first(pages: dict[str, str]) -> None:
    page = pages["quickstart"]
    parts = ("answer", "glance", "groups", "scenario", "figures", "predicted", "provenance")
    order = [page.index(f'<section id="{part}"') for part in parts]
    assert order == sorted(order)
    text = " ".join(Seen(page).text)
    for said in ("Goodput, all flows", "95 % confidence interval", "3 repetitions", "seed 1", "out of range"):
        assert said in text.replace("\u00a0", " ")
    assert "Median completion time" in pages["on-off"]


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, str]) -> None:
    for page in pages.values():
        seen = Seen(page)
        assert seen.loaded
        assert all(address.startswith(("data:", "#")) for address in seen.loaded)
        assert "link" not in seen.tags or seen.tags.count("link") == 1
        assert "iframe" not in seen.tags
        assert "default-src 'none'" in page
        styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        assert not re.search(r"@import|url\(", " ".join(styles))


def test_tables_show_no_programmers_words(pages: dict[str, str]) -> None:
    for page in pages.values():
        cells = Seen(page).cells
        assert len(cells) > 20
        assert not [cell for cell in cells if re.search(r"\b(nan|inf|None|null)\b", cell, re.IGNORECASE)]


def test_hostile_names_are_text(hostile: Result, pages: dict[str, str]) -> None:
    page = pages[HOSTILE]
    assert "<script>alert" not in page
    assert Seen(page).tags.count("script") == pages["quickstart"].count("<script")
    seen = Seen(page)
    assert seen.tags.count("title") == Seen(pages["quickstart"]).tags.count("title")
    text = "".join(seen.text)
    assert text.count(HOSTILE) > 3, "names are shown as they are"
    fragment = summary_html(hostile)
    assert "<script" not in fragment
    assert "alert(" in fragment
    assert "<script" not in compare(hostile, hostile)._repr_html_()


def test_labels_of_plotly_are_text(hostile: Result) -> None:
    for figure in CATALOG:
        plot = figure.prepare(hostile)
        if isinstance(plot, Plot):
            labels = re.findall(r'"(?:text|name|hovertemplate)": "((?:[^"\\]|\\.)*)"', json.dumps(plotly(plot)))
            assert not [label for label in labels if "<script" in label]
            assert b"<script" not in image(plot, "svg").content


def test_identical_repetitions_have_no_noise_for_an_interval(constant: Run, pages: dict[str, str]) -> None:
    page = pages["scenario"]
    assert IDENTICAL in page
    assert ZERO in page
    assert "e-1" not in "".join(Seen(page).cells)
    assert "10⁻" not in "".join(Seen(page).cells)
    noisy = mean_interval([0.1 + 0.2, 0.3, 0.3])
    assert noisy.half_width
    assert with_unit(noisy, "1", IDENTICAL) == ("0.3000", IDENTICAL)
    rows = compare(constant, constant).differences
    binned = [row for row in rows if re.search(r"delay_p\d+_s$", row.key) and row.a and row.a.mean]  # 0 is a bin itself
    assert {row.verdict for row in rows if row not in binned} == {Verdict.EQUAL}
    assert {row.verdict for row in binned} == {Verdict.SAME, Verdict.NOT_SHOWN}, "of bins: known to their width"


def test_the_page_replaces_the_old_one_whole(bulk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_page(bulk, target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    assert write_page(bulk, target) == target
    assert target.read_text().rstrip().endswith("</html>")
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.slow
def test_figures_are_written_as_files(sources: Run, tmp_path: Path) -> None:
    written = write_figures(sources, tmp_path / "figures")
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {path.name for path in written}
    names = [figure.name for figure in CATALOG if isinstance(figure.prepare(sources), Plot)]
    assert [path.stem for path in written if path.suffix == ".png"] == names
    for path in written:
        assert path.read_bytes().startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")
    with pytest.raises(InputError, match='found "gif"; accepted: csv, pdf, pgf, png, svg'):
        write_figures(sources, tmp_path, ["gif"])


def test_runs_of_one_seed_are_compared_in_pairs(bulk: Run) -> None:
    slower = ps.run(ps.Scenario.load(SCENARIOS / "quickstart.toml", (*SHORT, "bottleneck.rate=10 Mbit/s")))
    rows = {row.key: row for row in compare(bulk, slower).differences}
    goodput = rows["goodput_bps"]
    assert goodput.paired
    assert goodput.verdict is Verdict.LOWER
    assert goodput.better == "a"
    assert goodput.relative == pytest.approx(-0.5, abs=0.05)
    before, after = (
        made.flows.group_by("repetition").agg(pl.col("goodput_bps").sum()).sort("repetition")["goodput_bps"].to_numpy()
        for made in (bulk, slower)
    )
    assert goodput.difference is not None
    assert goodput.difference.mean == pytest.approx(np.mean(after - before))
    assert goodput.difference.half_width == pytest.approx(mean_interval(after - before).half_width)
    assert "Same seed" in compare(bulk, slower)._repr_html_()


def test_runs_of_different_seeds_are_independent_samples(bulk: Run, sources: Run) -> None:
    other = ps.run(ps.Scenario.load(SCENARIOS / "quickstart.toml", (*SHORT, "seed=2")))
    rows = {row.key: row for row in compare(bulk, other).differences}
    assert not any(row.paired for row in rows.values())
    assert rows["jain"].difference is not None
    assert rows["jain"].difference.low is not None
    assert "Welch" in compare(bulk, other)._repr_html_()
    unlike = {row.key: row.verdict for row in compare(bulk, sources).differences}
    assert unlike["group/cubic/goodput_bps"] is Verdict.ONLY_A
    assert unlike["group/sources/goodput_bps"] is Verdict.ONLY_B


def test_notebooks_show_numbers_and_drawings(bulk: Run) -> None:
    fragment = summary_html(bulk)
    assert fragment.count("<img") == 2
    assert "Goodput, all flows" in fragment


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_the_paper(scheme: Scheme) -> None:
    assert all(_contrast(colour, scheme.paper) >= 3.0 for colour in scheme.series)
    assert min(_contrast(text, scheme.paper) for text in (scheme.ink, scheme.muted)) >= 4.5


def _contrast(first: str, second: str) -> float:
    """The ratio of WCAG 2.2."""
    brighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_many_flows_make_a_page_of_the_usual_size(sources: Run) -> None:
    """Ten thousand flows, a hundred thousand transfers, a million samples: what is drawn stays the same."""
    repeat = pl.int_range(pl.len()).cast(pl.Float64) * 1e-9
    flows = pl.concat([sources.flows] * 200).with_columns(flow=pl.int_range(pl.len()).cast(pl.UInt32))
    flows = flows.with_columns(rtt_base_s=0.02 + pl.col("flow") * 1e-5)
    assert sources.transfers is not None
    assert sources.flow_samples is not None
    transfers = pl.concat([sources.transfers] * (100_000 // len(sources.transfers) + 1))
    samples = pl.concat([sources.flow_samples] * 200).with_columns(time_s=pl.col("time_s") + repeat)
    unchanged = ("links", "rounds", "link_samples", "internals", "delay_histogram", "groups", "latency_histogram")
    tables = {name: getattr(sources, name) for name in unchanged}
    tables |= {"flows": flows, "transfers": transfers, "flow_samples": samples}
    large = Run(None, sources.metadata, tables)
    page = page_html(large)
    assert len(page) < 3_200_000
    assert "smallest and largest value" in page
    assert "median of the flows at that RTT" in page


def test_panels_stand_in_rows() -> None:
    """Two rows of two: the second column begins right of the first, and shares the ordinate of its row."""
    x, y = Axis("time", "s", minimum=0, maximum=1), Axis("rate", minimum=0, maximum=1)
    panels = [Panel([Line([0, 1], [0, 1], f"flow {number}")], x, y, f"panel {number}") for number in range(4)]
    plot = Plot(panels, "four", columns=2)
    layout = plotly(plot)["layout"]
    assert layout["xaxis"]["domain"][1] < layout["xaxis2"]["domain"][0]
    assert layout["xaxis3"]["domain"] == layout["xaxis"]["domain"]
    assert layout["yaxis2"]["domain"] == layout["yaxis"]["domain"]
    assert layout["yaxis3"]["domain"][1] < layout["yaxis"]["domain"][0]
    assert (layout["yaxis2"]["matches"], layout["yaxis4"]["matches"]) == ("y", "y3")
    stacked = image(Plot(panels, "four"), "png")
    assert image(plot, "png").height < stacked.height
    with pytest.raises(ValueError, match="4 panels do not fill rows of 3"):
        Plot(panels, "four", columns=3)


def test_drawings_of_a_page_are_whole_and_say_what_their_figures_say(sources: Run) -> None:
    page = page_html(sources)
    drawings = re.findall(r'src="data:image/svg\+xml,([^"]*)"', page)
    assert len(drawings) == page.count('<figure id="figure-')
    for drawing in drawings:
        root = ET.fromstring(unquote(drawing))
        assert root.tag.endswith("svg")
        assert any(text.tag.endswith("text") and text.text for text in root.iter())


def test_a_page_of_the_quick_start_is_small(tmp_path: Path) -> None:
    run = ps.run(Path(__file__).parents[2] / "scenarios/quickstart.toml", tmp_path / "run")
    assert len(page_html(run).encode()) < 900_000


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 1001])
def test_what_a_page_carries_is_base_85(size: int) -> None:
    data = np.random.default_rng(size).bytes(size)
    assert _printable(data) == base64.b85encode(data).decode().replace("<", ",")


def test_a_drawing_in_an_address_is_quoted_as_by_the_standard_library() -> None:
    words = "".join(map(chr, range(32, 400)))
    assert _uri(words).removeprefix("data:image/svg+xml,") == quote(words, safe=" !$'()*+,-./:;=?@[]^_`{|}~")
