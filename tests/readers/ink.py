"""Maps of ink: what a figure in a browser looked like when somebody looked at it, and how far another is from that.

A map says where a figure has colour, and where it has something that stands out from the paper. It is drawn without
letters, which take room and differ between machines. Ink counts as the same within one cell. A figure that is missing,
empty or drawn otherwise has ink elsewhere. Where a figure has changed on purpose, look at it, and store it again:
``PARSHALL_PICTURES=new pytest tests/python/test_screenshots.py``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.ndimage import maximum_filter

PICTURES = Path(__file__).parents[1] / "python" / "pictures"
COLUMNS = 64
"""Cells across a figure: one is a sixty-fourth of its width."""
TOLERANCE = 0.1
"""Share of the ink that is elsewhere. `test_it_tells_apart` holds it between other fonts and figures without curves."""
FEW = 3
"""Cells of ink that tell nothing."""
WITHOUT_LETTERS = "svg text { display: none !important }"

Cells = np.ndarray[Any, Any]


def inked(shot: bytes) -> Cells:
    """Which cells have colour, and which something dark: booleans, shape (rows, columns, 2)."""
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int)
    if np.median(image) < 128:  # a dark page
        image = 255 - image
    side = image.shape[1] / COLUMNS
    maps = np.stack([np.ptp(image, axis=2) > 40, image.min(axis=2) < 150], axis=2)
    rows = np.minimum((np.arange(image.shape[0]) / side).astype(int), int(image.shape[0] / side))
    columns = np.minimum((np.arange(image.shape[1]) / side).astype(int), COLUMNS - 1)
    cells = np.zeros((rows[-1] + 1, COLUMNS, 2), dtype=bool)
    np.logical_or.at(cells, (rows[:, None], columns[None, :]), maps)
    return cells


def elsewhere(one: Cells, other: Cells) -> float:
    """The share of the ink of one map, colour or dark, that is not within a cell of ink of the other; of both ways."""
    height = max(len(one), len(other))
    maps = [np.pad(each, ((0, height - len(each)), (0, 0), (0, 0))) for each in (one, other)]
    shares = [0.0]
    for kind in range(2):
        a, b = (each[..., kind] for each in maps)
        for ink, near in ((a, maximum_filter(b, 3)), (b, maximum_filter(a, 3))):
            if ink.sum() > FEW:
                shares.append(float((ink & ~near).sum() / ink.sum()))
    return max(shares)


def moved(page: str, found: Mapping[str, Cells]) -> dict[str, float]:
    """The figures of a page that look otherwise than those that are stored, and how far; they are stored if asked for.

    Raises
    ------
    AssertionError
        A figure is missing, or there is one more.
    """
    if os.environ.get("PARSHALL_PICTURES") == "new":
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob(f"{page}-figure-*.png"):
            old.unlink()
        for figure, cells in found.items():
            channels = np.concatenate([cells, np.zeros((*cells.shape[:2], 1), bool)], axis=2)
            Image.fromarray((255 * channels).astype(np.uint8)).save(PICTURES / f"{page}-{figure}.png", optimize=True)
    stored = {
        path.stem.removeprefix(f"{page}-"): np.asarray(Image.open(path))[..., :2] > 0
        for path in PICTURES.glob(f"{page}-figure-*.png")
    }
    assert set(found) == set(stored)
    far = {figure: round(elsewhere(cells, stored[figure]), 3) for figure, cells in found.items()}
    return {figure: share for figure, share in far.items() if share > TOLERANCE}
