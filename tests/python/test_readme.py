"""The README says what the records say: its numbers of performance, its exit codes, and its picture of a page."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import needs_browser
from PIL import Image

from parshall.cli.console import BAD_INPUT, FAILURE, INTERRUPTED, INVALID
from tools.documentation import page_picture

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = ROOT / "benches/results"

CASES = {
    "100 flows, 48 Mbit/s, NewReno": "flows-100-newreno",
    "the same, SACK": "flows-100-sack",
    "500 flows, 1 Gbit/s": "flows-500",
    "10,000 flows": "flows-10000",
    "100,000 flows": "flows-100000",
    "1,000,000 flows": "flows-1000000",
}


def measured(file: str) -> dict[tuple[str, str], dict[str, Any]]:
    rows = json.loads((RESULTS / file).read_text(encoding="utf-8"))["rows"]
    return {(row["case"], row["simulator"]): row for row in rows}


def test_the_table_of_performance_is_that_of_its_record() -> None:
    record = re.search(r"the record is\s+\[benches/results/([\w.-]+)\]", README)
    assert record is not None
    rows = measured(record[1])
    said = {
        cells[0]: cells[1:]
        for line in README.split("| network | Parshall")[1].splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 3 and cells[0] in CASES
    }
    assert said.keys() == CASES.keys()
    for name, (rate, ratio) in said.items():
        assert rate == f"{rows[CASES[name], 'Parshall']['packets_per_cpu_s'] / 1e6:.1f} million"
        found = rows.get((CASES[name], "ns-2"), {}).get("ratio_of_parshall", [])
        spread = f" ({min(found):.1f} to {max(found):.1f})" if len(found) > 1 else ""
        assert ratio == (f"{np.median(found):.1f}{spread}" if found else "")


def test_the_pitch_is_that_of_the_table() -> None:
    rows = measured("2026-11-24.json")
    ratios = [round(float(np.median(row["ratio_of_parshall"]))) for (_, name), row in rows.items() if name == "ns-2"]
    assert f"{min(ratios)} to {max(ratios)} times ns-2" in README
    rates = [rows[case, "Parshall"]["packets_per_cpu_s"] / 1e6 for case in CASES.values()]
    assert f"{min(rates):.0f} to {max(rates):.1f} million packets a CPU-second" in README


def test_every_exit_code_is_in_the_table() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \| ", README.split("| exit code |")[1], re.MULTILINE)}
    assert codes == {0, FAILURE, BAD_INPUT, INVALID, INTERRUPTED}


def test_the_picture_is_small_and_has_both_colours() -> None:
    assert "](docs/figures/page.png)" in README
    assert page_picture.TARGET.stat().st_size < 200_000
    shown = np.asarray(Image.open(page_picture.TARGET).convert("L"))
    assert shown.shape == (page_picture.HEIGHT, 2 * page_picture.WIDTH)
    light, dark = np.split(shown, 2, axis=1)
    assert np.median(light) > 230
    assert np.median(dark) < 60


@pytest.mark.slow
@needs_browser
def test_the_picture_is_made_again(tmp_path: Path) -> None:
    again = Image.open(io.BytesIO(page_picture.draw(tmp_path / "page.png").read_bytes())).convert("L")
    stored, found = (
        np.asarray(each.resize((160, 104))) for each in (Image.open(page_picture.TARGET).convert("L"), again)
    )
    assert float(np.mean(np.abs(stored.astype(int) - found.astype(int)) > 60)) < 0.1, "another font moves letters"
