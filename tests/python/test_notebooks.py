"""The notebooks: their cells run one after another, and what each ends with can be shown."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code(path: Path) -> Iterator[str]:
    """The cells with code."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    for cell in document["cells"]:
        assert not cell.get("outputs"), "notebooks are kept without what they printed"
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def executed(cell: str, names: dict[str, Any]) -> Any:
    """What a notebook shows below a cell: the value of its last expression."""
    *before, last = ast.parse(cell).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    exec(compile(ast.Module([last], []), "cell", "exec"), names)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    names: dict[str, Any] = {"__name__": "__notebook__"}
    shown = [executed(cell, names) for cell in code(path)]
    assert any(hasattr(each, "_repr_html_") and each._repr_html_() for each in shown)
    assert plt.get_fignums(), "each draws a figure"
    plt.close("all")


def test_there_are_notebooks_and_the_site_leads_to_them() -> None:
    assert len(NOTEBOOKS) >= 3
    guide = (ROOT / "docs" / "how-to" / "index.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if f"../../notebooks/{path.name}" not in guide] == []
