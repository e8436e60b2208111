"""The probability that a round trip with a window of w packets loses one or more: p(w)."""

from __future__ import annotations

import numpy as np
import polars as pl

from parshall.foundations.numbers import counted, significant
from parshall.report.figures.common import pooled, sentences
from parshall.report.plot import Axis, Figure, Line, Mark, Missing, Panel, Plot, Points, Style, Values
from parshall.results.records import Result

BINS = 24
_Z = 1.959964


def prepare(run: Result) -> Plot | Missing:
    """The share of rounds with a loss by window, beside what independent losses would give."""
    rounds = run.tables.get("rounds")
    if rounds is None:
        return Missing("No round trips were recorded; `[probes] rounds` turns this on.")
    rounds = rounds.filter(pl.col("window_packets") > 0)
    windows = rounds["window_packets"].to_numpy().astype(np.float64)
    lost = rounds["lost"].to_numpy().astype(np.float64)
    if lost.sum() == 0:
        return Missing(f"None of the {counted(len(lost), 'recorded round trip')} lost a packet.")
    edges = _edges(windows)
    index = np.clip(np.searchsorted(edges, windows, side="right") - 1, 0, len(edges) - 2)
    trials = np.bincount(index, minlength=len(edges) - 1).astype(np.float64)
    losses = np.bincount(index, weights=lost, minlength=len(edges) - 1).astype(np.float64)
    sums = np.bincount(index, weights=windows, minlength=len(edges) - 1)
    seen = losses > 0
    share = losses[seen] / trials[seen]
    low, high = wilson(losses[seen], trials[seen])
    centre = sums[seen] / trials[seen]
    per_packet = _independent(windows, lost)
    curve = np.geomspace(max(1.0, windows.min()), windows.max() + 1.0, 100)
    marks: list[Mark] = [
        Line(
            curve,
            -np.expm1(curve * np.log1p(-per_packet)),
            f"independent losses, p = {significant(per_packet, 2)} a packet: 1 − (1 − p)ʷ",
            Style(muted=True, dash=1),
        ),
        Points(centre, share, "measured, with 95 % interval (Wilson)", Style(), low, high),
    ]
    floor = 10.0 ** np.floor(np.log10(min(float(low.min()), float(share.min()))))
    panel = Panel(
        marks,
        Axis("Window w of the round trip", "packets", log=True),
        Axis("Share of round trips that lose a packet", log=True, minimum=float(floor), maximum=1.0),
    )
    empty = int(((trials > 0) & ~seen).sum())
    silent = f"{counted(empty, 'range')} of w without any loss cannot be drawn on this scale." if empty else ""
    opening = f"Loss by window size over {counted(len(lost), 'round trip')} of the recorded flows."
    return Plot([panel], sentences(opening, silent, pooled(rounds)))


def wilson(successes: Values, trials: Values) -> tuple[Values, Values]:
    """The 95 % interval for a share, by Wilson's score."""
    share = successes / trials
    denominator = 1.0 + _Z**2 / trials
    centre = (share + _Z**2 / (2.0 * trials)) / denominator
    half = _Z * np.sqrt(share * (1.0 - share) / trials + _Z**2 / (4.0 * trials**2)) / denominator
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)


def _edges(windows: Values) -> Values:
    """Integer edges of bins of about equal ratio; a window of w packets is in [w, w + 1)."""
    low, high = windows.min(), windows.max() + 1.0
    return np.unique(np.floor(np.geomspace(low, high, BINS + 1)))


def _independent(windows: Values, lost: Values) -> float:
    """The loss probability a packet for which independent losses give as many rounds with a loss as were seen."""
    low, high = 1e-12, 1.0 - 1e-12
    distinct, times = np.unique(windows, return_counts=True)
    for _ in range(100):
        middle = float(np.sqrt(low * high))
        expected = float((times * -np.expm1(distinct * np.log1p(-middle))).sum())
        low, high = (middle, high) if expected < lost.sum() else (low, middle)
    return high


FIGURE = Figure("rounds", "Loss probability of a round trip by window", prepare)
