"""The drawings that a page carries: every mark at its place, whatever the data."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.report.plot import Axis, Band, Grid, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall.report.static import image
from parshall.report.svg import svg

X, Y = Axis("x", "s", minimum=0.0, maximum=10.0), Axis("y", "packets", minimum=0.0, maximum=100.0)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*marks: Mark, x: Axis = X, y: Axis = Y) -> ET.Element:
    return ET.fromstring(svg(Plot([Panel(marks, x, y)], "what it shows"))[0])


def box(root: ET.Element) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the panel, from its clip."""
    found = re.fullmatch(r"M(\d+) (\d+)H(\d+)V(\d+)H\d+z", root.find(f"{SVG}clipPath/{SVG}path").get("d"))
    assert found is not None
    left, top, right, bottom = map(int, found.groups())
    return left, top, right, bottom


def path(root: ET.Element) -> list[tuple[int, int]]:
    """The corners of the only line, as shares of the panel in thousandths, from below."""
    left, top, right, bottom = box(root)
    text = root.find(f"{SVG}g/{SVG}path").get("d")
    x, y = 0, 0
    corners = []
    for command, arguments in re.findall(r"([MlhvH])([^MlhvH]*)", text):
        numbers = [int(each) for each in re.findall(r"-?\d+", arguments)]
        pairs = {"h": [(numbers[0], 0)], "v": [(0, numbers[0])], "H": [(numbers[0] - x, 0)]}.get(command)
        for dx, dy in pairs or zip(numbers[::2], numbers[1::2], strict=True):
            x, y = x + dx, y + dy
            if (dx, dy) != (0, 0) or not corners:
                corners.append((x, y))
    return [
        (round(1000 * (x - left) / (right - left)), round(1000 * (bottom - y) / (bottom - top))) for x, y in corners
    ]


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_lines_are_where_their_values_are() -> None:
    assert path(drawn(Line([0, 5, 10], [0, 25, 100]))) == [(0, 0), (500, 250), (1000, 1000)]


def test_steps_hold_their_value_until_the_next() -> None:
    found = path(drawn(Line([0, 5, 10], [0, 50, 100], steps=True)))
    assert found == [(0, 0), (500, 0), (500, 500), (1000, 500), (1000, 1000)]


def test_logarithmic_axes_count_powers_of_ten() -> None:
    axis = Axis("y", log=True, minimum=1.0, maximum=1000.0)
    root = drawn(Line([0, 5, 10], [1, 10, 1000]), y=axis)
    assert [y for _, y in path(root)] == pytest.approx([0, 333, 1000], abs=1)
    assert {"1", "10", "100", "1000"} <= set(texts(root))


def test_labels_are_round_numbers_within_the_axis() -> None:
    assert texts(drawn())[:6] == ["0", "2", "4", "6", "8", "10"]


def test_maps_have_a_cell_a_value_and_a_scale() -> None:
    grid = Grid([0, 1, 2], [0, 1, 3], [[1.0, 2.0], [float("nan"), 4.0]], "loss (%)")
    root = drawn(grid, x=Axis("a"), y=Axis("b"))
    assert len(root.findall(f"{SVG}g/{SVG}path")) == 3
    assert "loss (%)" in texts(root)


def test_a_drawing_is_as_high_as_the_file_of_the_same_figure() -> None:
    """Both are laid out by `layout`, with a legend of as many rows."""
    marks = [Line([0, 1], [0, 1], f"series number {number}", Style(number)) for number in range(9)]
    plot = Plot([Panel([*marks, Guide(1.0, "here"), Band([0, 1], [0, 1], [1, 2])], X, Y)] * 4, "four", columns=2)
    file = image(plot, "png")
    assert svg(plot)[1:] == (file.width, file.height)


numbers = st.lists(st.floats(-1e300, 1e300), min_size=0, max_size=5)


@given(values=numbers, log=st.booleans(), name=st.text(max_size=20), error=st.floats(0, 1e3))
def test_whatever_the_data_the_drawing_is_whole(values: list[float], log: bool, name: str, error: float) -> None:
    marks = [
        Line(values, values, name),
        Points(values, values, name, Style(4), [v - error for v in values], [v + error for v in values]),
        Guide(3.0, name),
        Guide(0.0, name, "x"),
    ]
    root = drawn(*marks, x=Axis(name, name, log=log), y=Axis(name, log=log))
    assert "nan" not in (text := ET.tostring(root, encoding="unicode").split("<text")[0])
    assert "inf" not in text
