"""The answer as a picture: its size, what it says, what it leaves out, and what it refuses."""

from __future__ import annotations

import re
import struct
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import application
from parshall.foundations.errors import InputError, OutputExistsError, StorageError
from parshall.instruments.simulation import Run
from parshall.report.card import TILES, card_of
from parshall.report.card_drawing import fitting
from parshall.report.document import document_html
from parshall.report.finding import finding
from parshall.report.sentences import TEMPLATES, separated
from parshall.results.loading import load, page_of

TWO: dict[str, Any] = {
    "name": "two",
    "duration": "3 s",
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [{"name": name, "rtt": "20 ms", "congestion_control": name} for name in ("reno", "cubic")],
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ps.run(TWO, tmp_path_factory.mktemp("run") / "run")


def texts(svg: Path) -> list[str]:
    return ["".join(text.itertext()).strip().replace("\xa0", " ") for text in ET.parse(svg).iter(f"{SVG}text")]


def card(*words: object) -> Any:
    return CliRunner().invoke(application(["card"]), ["card", *map(str, words)])


def test_a_card_has_its_size_in_pixels(run: Run, tmp_path: Path) -> None:
    png = run.card(tmp_path / "card.png").read_bytes()
    assert struct.unpack(">II", png[16:24]) == (1200, 630)
    root = ET.parse(run.card(tmp_path / "card.svg")).getroot()
    assert (root.get("width"), root.get("height")) == ("1200", "630")
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width / height == pytest.approx(1200 / 630)


def test_its_text_is_that_of_the_page(run: Run, tmp_path: Path) -> None:
    found = texts(run.card(tmp_path / "card.svg"))
    whole = " ".join(found)
    shown = card_of(page_of(run))
    assert "two" in found
    assert shown.sentences[0].replace("\xa0", " ") in whole
    assert 2 <= len(shown.tiles) <= TILES
    for tile in shown.tiles:
        assert tile.value.replace("\xa0", " ") in found
    assert {"reno", "cubic", "Goodput (Mbit/s)", "Time (s)"} <= set(found)


def test_it_is_the_same_bytes_again(run: Run, tmp_path: Path) -> None:
    one, two = (run.card(tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert one == two


def test_sentences_end_whole(run: Run) -> None:
    sentences = ["One is short.", "Two " + "is longer " * 12 + "here.", "Three " + "is too long " * 90 + "here."]
    lines, _ = fitting(sentences, 5.8, 0.73, [10.0, 8.5])
    assert " ".join(lines) == " ".join(sentences[:2])
    lines, font = fitting(sentences[2:], 5.8, 0.73, [10.0, 8.5])
    assert len(lines) == 4
    assert lines[-1].endswith("…")
    assert all(font.width_in(line) <= 5.8 for line in lines)
    assert separated(finding(run).text) == list(finding(run).sentences), "what a page joins, a card parts"
    assert not [name for name, text in TEMPLATES.items() if any(each in text for each in ("e.g. ", "i.e. ", "vs. "))]


def test_long_names_stay_within_the_picture(tmp_path: Path) -> None:
    name = "a-very-long-name-of-a-scenario-that-somebody-wrote-to-see-what-becomes-of-it-in-a-picture"
    groups = [{"name": f"the-customers-of-the-northern-line-{number}", "rtt": "20 ms"} for number in range(7)]
    run = ps.run({**TWO, "name": name, "flows": groups}, tmp_path / "run")
    root = ET.parse(run.card(tmp_path / "card.svg")).getroot()
    found = texts(tmp_path / "card.svg")
    assert name not in found
    assert any(name.startswith(text.removesuffix("…")) for text in found if text.endswith("…") and len(text) > 20)
    legend = [text for text in found if re.fullmatch(r"the-.*….*-\d", text)]
    assert len(legend) == len(set(legend)) == 5, "names that begin alike end otherwise"
    assert "2 other groups" in found
    assert root.get("width") == "1200"


def test_without_series_there_is_no_figure(tmp_path: Path) -> None:
    run = ps.run({**TWO, "probes": {"link_samples": False}}, tmp_path / "run")
    found = texts(run.card(tmp_path / "card.svg"))
    assert "Goodput, all flows" in found
    assert "Time (s)" not in found


def test_where_nothing_was_sent_the_card_says_so(tmp_path: Path) -> None:
    ended = [{"rtt": "20 ms", "workload": {"name": "transfer", "size": "10 kB"}}]
    run = ps.run({**TWO, "warm_up": "2 s", "flows": ended}, tmp_path / "run")
    found = " ".join(texts(run.card(tmp_path / "card.svg")))
    assert "Nothing crossed the bottleneck while it was measured: all transfers had ended before." in found


def test_an_interrupted_run_says_so_first(run: Run, tmp_path: Path) -> None:
    cut = Run(run.directory, {**run.metadata, "status": "interrupted", "repetitions": 9})
    assert "This run was interrupted." in texts(cut.card(tmp_path / "card.svg"))
    assert "This run was interrupted." not in texts(run.card(tmp_path / "whole.svg"))


def test_an_observation_has_one(tmp_path: Path) -> None:
    seen = ps.observe(Path(__file__).parents[2] / "docs/example.pcap.gz")
    found = texts(seen.card(tmp_path / "card.svg"))
    assert "example.pcap.gz" in found
    assert "Throughput (Mbit/s)" in found
    assert "Goodput" in found


def test_a_prediction_has_none(tmp_path: Path) -> None:
    predicted = ps.predict(ps.Scenario.from_document(TWO))
    with pytest.raises(InputError, match="has no finding; accepted: a run or an observation"):
        predicted.card(tmp_path / "card.png")
    assert not (tmp_path / "card.png").exists()


def test_the_verb_writes_beside_the_result_and_replaces_with_force_only(tmp_path: Path) -> None:
    written = tmp_path / "run"
    ps.run(TWO, written)
    done = card(written)
    assert done.exit_code == 0
    assert done.stderr.strip() == str(written / "card.png")
    again = card(written)
    assert again.exit_code == 2
    assert "card.png exists; write another name, or --force" in again.stderr
    assert card(written, "--force", "-q").exit_code == 0
    ps.run(TWO, written, overwrite=True)
    assert not (written / "card.png").exists(), "the card of another result goes with it"
    assert isinstance(load(written), Run)


def test_bad_input_is_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "there.png").write_bytes(b"mine")
    with pytest.raises(OutputExistsError, match="overwrite=True"):
        run.card(tmp_path / "there.png")
    assert (tmp_path / "there.png").read_bytes() == b"mine"
    with pytest.raises(InputError, match=r"a file that ends in \.png or \.svg"):
        run.card(tmp_path / "card.pdf")
    with pytest.raises(StorageError):
        run.card(tmp_path / "there.png" / "card.png")
    for place, message in ((tmp_path, "is not the directory of a result"), (tmp_path / "none", "does not exist")):
        done = card(place, "-o", tmp_path / "x.png")
        assert done.exit_code in {1, 2}
        assert message in done.stderr
    assert not (tmp_path / "x.png").exists()


def test_pages_tell_links_their_title_and_first_sentence(run: Run) -> None:
    page = unescape(document_html(page_of(run))).replace("\xa0", " ")
    first = finding(run).sentences[0].replace("\xa0", " ")
    assert '<meta property="og:title" content="two">' in page
    assert '<meta property="og:type" content="article">' in page
    assert f'<meta property="og:description" content="{first}">' in page
    assert "og:image" not in page, "its address is known to nobody"
