"""Predicted spectra of BIC, HighSpeed, CUBIC and Scalable: chains whose state is the last loss and the time since.

`spectrum("cubic", loss, rtt_s=0.1)` gives what `large_deviations.spectrum` gives for Reno.

Assumptions are those of `chains.growth`. Without a `recovery` the window is reduced in the round trip after the one
that loses, and there are no timeouts: means under independent losses are then 2 to 7 % off those of packets. With
`recovery.IndependentLosses` they are within 3 % (the study `large_deviations` has the table).

Range: loss functions under which epochs are shorter than 20,000 round trips. f is known between `lowest` and `highest`
of the spectrum.

References: Loiseau 2010, §5.3, where these chains are future work.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.growth import CONTROLS, growth
from parshall_studies.chains.large_deviations import Spectrum
from parshall_studies.chains.large_deviations import spectrum as exact
from parshall_studies.chains.loss import LossFunction, as_loss
from parshall_studies.chains.loss_epochs import EpochTilt, LossEpochs, PersistentLoss
from parshall_studies.chains.recovery import Recovery

LossLike = LossFunction | PersistentLoss | Callable[[FloatArray], ArrayLike] | float
"""p(w), p(w, k), or a packet loss probability."""

GRID = 128
"""Windows of the grid: 256 change the mean by less than 0.1 %, and f by less than 1 % of its value."""


def epochs(
    control: str,
    loss: LossLike,
    *,
    rtt_s: float | None = None,
    w_max: float = 10_000,
    grid: int = GRID,
    recovery: Recovery | None = None,
) -> LossEpochs:
    """The epochs between losses of a control's window.

    Parameters
    ----------
    control
        `reno`, `bic`, `highspeed`, `cubic` or `scalable`, with default parameters.
    loss
        p(w), p(w, k) or a packet loss probability.
    rtt_s
        For CUBIC.
    w_max
        Largest window, packets.
    grid
        How many windows at a loss are told apart; up to w_max of it, all whole ones are.
    recovery
        What a loss takes beyond the smaller window (`chains.recovery`); Reno then grows by its ACKs. None: nothing, as
        in eq. (2).

    Raises
    ------
    ModelInputError
        As `LossEpochs`, and if an argument is out of bounds.
    """
    if not np.isfinite(w_max) or w_max < 4 or grid < 8:
        raise ModelInputError(f"w_max, grid: found {w_max}, {grid}; accepted are finite numbers from 4, from 8")
    windows = np.arange(1.0, w_max + 1) if w_max <= grid else np.geomspace(1.0, w_max, grid)
    as_given = loss if isinstance(loss, PersistentLoss) else as_loss(loss)
    return LossEpochs(as_given, growth(control, rtt_s, by_acks=recovery is not None), windows, recovery)


def spectrum(
    control: str,
    loss: LossLike,
    *,
    rtt_s: float | None = None,
    w_max: float = 10_000,
    grid: int = GRID,
    recovery: Recovery | None = None,
) -> Spectrum:
    """The large-deviations spectrum of a control's window; arguments as `epochs`.

    Raises
    ------
    ModelInputError
        As `epochs`.

    Examples
    --------
    >>> s = spectrum("scalable", 1e-3)
    >>> 70 < s.mean < 110
    True
    """
    renewal = epochs(control, loss, rtt_s=rtt_s, w_max=w_max, grid=grid, recovery=recovery)
    return Spectrum(EpochTilt(renewal), renewal.mean, renewal.loss_rate)


def for_control(
    control: str,
    loss: LossLike,
    *,
    rtt_s: float | None = None,
    w_max: float | None = None,
    recovery: Recovery | None = None,
) -> Spectrum:
    """The spectrum of any control in `CONTROLS`: Reno's exact chain, or the chain with memory; arguments as `epochs`.

    Parameters
    ----------
    control, loss, rtt_s, recovery
        As `epochs`.
    w_max
        Largest window, packets; None: `default_w_max`.

    Raises
    ------
    ModelInputError
        As `epochs`.

    Examples
    --------
    >>> round(for_control("reno", 0.02).mean, 5), round(for_control("cubic", 1e-4, rtt_s=0.1).mean)
    (8.60124, 212)
    """
    largest = default_w_max(control) if w_max is None else w_max
    if control == "reno" and recovery is None and not isinstance(loss, PersistentLoss):
        return exact(loss, w_max=int(largest))
    return spectrum(control, loss, rtt_s=rtt_s, w_max=largest, recovery=recovery)


def default_w_max(control: str) -> int:
    """The largest window of `for_control`, packets: those of high-speed controls are larger."""
    return 1000 if control == "reno" else 10_000


__all__ = ["CONTROLS", "default_w_max", "epochs", "for_control", "spectrum"]
