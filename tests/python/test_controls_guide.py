"""docs/controls.md: every control is in it, and its figures are there and can be drawn anew."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from parshall.report.plot import Line
from parshall.report.writing import write_plots
from tools.documentation import controls

DOCS = Path(__file__).parents[2] / "docs"


def test_every_control_is_told_of() -> None:
    text = (DOCS / "controls.md").read_text(encoding="utf-8")
    rows = "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| "))
    assert set(controls.controls()) <= set(re.findall(r"`([\w+]+)`", rows))


def test_every_figure_is_shown_and_light() -> None:
    shown = set(re.findall(r"\(figures/([\w-]+)\.svg\)", (DOCS / "controls.md").read_text(encoding="utf-8")))
    assert shown == {f"{kind}-{title}" for kind in ("response", "trajectory") for title in controls.families()}
    for name in shown:
        assert 1000 < (DOCS / "figures" / f"{name}.svg").stat().st_size < 100_000


def test_every_control_is_in_one_family() -> None:
    listed = [name for names in controls.families().values() for name in names]
    assert sorted(listed) == sorted(controls.controls())


def test_a_response_falls_with_losses() -> None:
    plot = controls.response_plot(["reno"], losses=(1e-2, 1e-3), seconds=10)
    (own,) = [mark for mark in plot.panels[0].marks if isinstance(mark, Line) and mark.name == "reno"]
    at_many, at_few = np.asarray(own.y)
    # 1.31/sqrt(p) at independent losses; slow start at the beginning and timeouts at 1e-2 leave some room.
    assert at_many == pytest.approx(1.31 / 0.1, rel=0.3)
    assert at_few == pytest.approx(1.31 / 0.0316, rel=0.3)


def test_trajectories_are_drawn(tmp_path: Path) -> None:
    plot = controls.trajectory_plot(["dctcp", "bbr"], seconds=2)
    assert [panel.y.label for panel in plot.panels] == ["dctcp", "bbr"]
    (path,) = write_plots({"t": plot}, tmp_path, ("svg",))
    assert path.read_text(encoding="utf-8").startswith("<?xml")
