"""The documentation site: built with every warning an error; nothing in it comes from another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from parshall.cli.app import VERBS
from parshall.cli.manual import commands
from parshall.documentation import kernel
from parshall.documentation.gallery import GALLERY, SCENARIOS, darkened
from parshall.documentation.site import gallery
from parshall.report.palette import LIGHT
from parshall.report.plot import Axis, Line, Panel, Plot, Points, values
from parshall.report.svg import svg
from parshall.scenario import Scenario

ROOT = Path(__file__).parents[2]

LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]*)\"|<link\b[^>]*\bhref=\"([^\"]*)\"|url\(([^)]*)\)"
)
"""What a browser loads without being asked: scripts, pictures, style sheets, fonts."""


def test_every_picture_has_a_scenario_that_is_valid() -> None:
    assert len({each.name for each in GALLERY}) == len(GALLERY)
    for each in GALLERY:
        Scenario.load(SCENARIOS / each.scenario, each.changes)
        assert each.command in gallery("docs")


def test_every_verb_is_described() -> None:
    told = set(re.findall(r"^## parshall ([\w-]+)", commands(), re.MULTILINE))
    assert told == {*VERBS}
    assert "| `--set KEY.PATH=VALUE` |" in commands()


def test_a_dark_picture_has_no_colour_of_a_light_one() -> None:
    drawn, _, _ = svg(Plot([Panel([Line([0, 1], [0, 1], "a")], Axis("x"), Axis("y"))], ""))
    assert LIGHT.series[0] in drawn
    dark = darkened(drawn)
    assert not any(colour in dark for colour in (*LIGHT.series, LIGHT.ink, LIGHT.muted, LIGHT.grid, '"#fff"'))


@pytest.mark.slow
def test_the_site_is_complete_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "--conf-dir", "docs", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*command, ".", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    pages = sorted(tmp_path.glob("**/*.html"))
    guides = (ROOT / "docs").glob("**/*.md")
    assert {path.stem for path in guides} <= {path.stem for path in pages}
    loaded = {
        target
        for path in [*pages, *tmp_path.glob("**/*.css")]
        for match in LOADED.finditer(path.read_text(encoding="utf-8"))
        for target in match.groups()
        if target
    }
    assert len(loaded) > 20
    assert [target for target in loaded if re.match(r"[\"']?(https?:)?//", target)] == []
    assert (tmp_path / "searchindex.js").stat().st_size > 10_000


def test_the_picture_of_linux_has_every_network_of_the_table() -> None:
    rows = kernel.networks(kernel.GUIDE.read_text(encoding="utf-8"))
    assert {row.flows for row in rows} == {flows for flows, _ in kernel.FLOWS}
    (panel,) = kernel.agreement().panels
    points = [mark for mark in panel.marks if isinstance(mark, Points)]
    measured = sum(pair is not None and min(pair) > 0 for row in rows for pair in row.pairs)
    assert sum(len(values(mark.y)) for mark in points) == measured > 2 * len(rows)
    low, high = panel.ends("y")
    assert all(low < ratio < high for mark in points for ratio in values(mark.y))
    with pytest.raises(ValueError, match=r"linux\.md has no table"):
        kernel.networks("| another | table |")
