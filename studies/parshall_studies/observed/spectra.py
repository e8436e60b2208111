"""The variation of a flow's throughput: its empirical spectrum at several scales, and the chain fitted on its p(w).

The chain is that of Loiseau 2010: the window grows by one packet a round trip, and is halved with probability p(w), as
measured (`chains.measured_loss`, neighbouring windows pooled). Slow start and the later slots of a loss event do not
count. If another control is named, the chain is that of `chains.variants`, which has the window at the last loss and
the time since: BIC, HighSpeed, CUBIC, Scalable.

A chain whose mean is off the flow's by more than `MISFIT` describes another flow: its mean is told, and no range is
predicted from it. Whether there is a chain or not, the flow's own spectra stay.

References: P. Loiseau, P. Gonçalves, J. Barral, P. Vicat-Blanc Primet, Modeling TCP throughput: an elaborated
large-deviations-based model and its empirical validation, Performance Evaluation 67, 2010, §3.2, §5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parshall.analysis.models.inputs import ModelInputError
from parshall.foundations.errors import InputError
from parshall.instruments.observation.flow import FloatArray, TracedFlow
from parshall.scenario import properties
from parshall_studies.chains.measured_loss import measured
from parshall_studies.chains.persistent_loss import measured_persistent
from parshall_studies.chains.variants import CONTROLS, for_control
from parshall_studies.spectrum import Empirical, Superposition, empirical_spectra, superimpose

SCALES = (20, 50, 100, 200, 500, 1000)
"""Scales n that are tried, in round trips."""

LEAST_INTERVALS = 20
"""The fewest intervals of n round trips that make a spectrum."""

POINTS = 60
"""Points of the fitted chain's curve."""

MISFIT = 1.25
"""A fitted chain whose mean is off the flow's by more than this factor predicts no range. Where a chain's rules are the
sender's, its mean is within 6 % (docs/large_deviations.md)."""

MOST_SCALES = 4
"""The most scales that are shown: the largest that the flow is long enough for."""


@dataclass(frozen=True)
class Fitted:
    """A chain's spectrum as a curve: the mean, and f at throughputs `alpha` in ascending order, shape (points,)."""

    mean: float
    alpha: FloatArray
    f: FloatArray

    def bounds(self, n_rtts: int, scale: int) -> tuple[float, float]:
        """(alpha_min, alpha_max), Loiseau 2010 eq. (10), interpolated on the curve; its ends where f stays above."""
        level = -np.log(n_rtts // scale) / scale
        apex = int(np.argmax(self.f))
        rising, falling = slice(0, apex + 1), slice(apex, None)
        low = np.interp(level, self.f[rising], self.alpha[rising])
        high = np.interp(-level, -self.f[falling], self.alpha[falling])
        return float(low), float(high)


@dataclass(frozen=True)
class Variability:
    """The variability of a flow's throughput, as `variability` finds it.

    Attributes
    ----------
    empirical
        The flow's own spectrum at each scale, ascending.
    superposition
        Whether they are one spectrum; None for one scale.
    fitted
        The fitted chain's spectrum; None where there is none.
    control
        Whose chain that is, in words.
    reason
        Why there is no chain, or why nothing is predicted from it; empty if neither is so.
    predicts
        Whether the chain's ranges say something about this flow: there is one, and its mean is the flow's.
    """

    empirical: Sequence[Empirical]
    superposition: Superposition | None
    fitted: Fitted | None
    control: str = "Reno"
    reason: str = ""

    @property
    def predicts(self) -> bool:
        """True if the chain predicts ranges for this flow."""
        return self.fitted is not None and not self.reason

    def bounds(self, n_rtts: int, scale: int) -> tuple[float, float] | None:
        """The chain's range over intervals of `scale` round trips in a flow of `n_rtts`; None if it predicts none."""
        return self.fitted.bounds(n_rtts, scale) if self.fitted is not None and self.predicts else None


def scales_for(rounds: int) -> tuple[int, ...]:
    """The scales that a flow of that many round trips is long enough for, ascending.

    Examples
    --------
    >>> scales_for(300), scales_for(46_000)
    ((), (100, 200, 500, 1000))
    """
    fitting = [scale for scale in SCALES if rounds >= LEAST_INTERVALS * scale]
    return tuple(fitting[-MOST_SCALES:])


LEAST_LARGEST = 4
"""The largest window of a chain, packets, at least."""

MEMORY = 10
"""Round trips after a loss in which p(w) of a control with memory is measured apart: there losses follow losses."""


def variability(flow: TracedFlow, control: str = "reno", rtt_s: float | None = None) -> Variability:
    """The spectra of `flow`.

    Parameters
    ----------
    flow
        With its windows.
    control, rtt_s
        Whose chain is fitted, and the round-trip time that CUBIC's needs; None: the flow's mean. Reno's has p(w); the
        others', in which time since the last loss counts, have p(w, k) for the first `MEMORY` round trips.

    Raises
    ------
    InputError
        It is too short for any scale, or there is no such control.
    """
    if control not in CONTROLS:
        raise InputError(f'control: found "{control}"; accepted: {", ".join(CONTROLS)}')
    scales = scales_for(flow.windows.size)
    if not scales:
        needed = LEAST_INTERVALS * SCALES[0]
        raise InputError(f"{flow.name}: {flow.windows.size} round trips are too few for any scale; {needed} are needed")
    empirical = empirical_spectra(flow.windows, scales)
    superposition = superimpose(flow.windows, scales) if len(scales) > 1 else None
    fitted, reason = _chain(flow, control, rtt_s, scales[0])
    return Variability(empirical, superposition, fitted, properties.title(control), reason)


def _chain(flow: TracedFlow, control: str, rtt_s: float | None, scale: int) -> tuple[Fitted | None, str]:
    """The chain fitted on the flow's p(w), followed as deep as intervals of `scale` go; and what speaks against it."""
    name = properties.title(control)
    counted = flow.steady
    if not flow.events[counted].any():
        return None, "no loss was seen, so there is no chain to compare with"
    rtt_s = flow.row.get("mean_rtt_s") if rtt_s is None else rtt_s
    if control == "cubic" and rtt_s is None:
        return None, "no round-trip time is known, and CUBIC grows with time: there is no chain"
    rounds, events = flow.windows[counted], flow.events[counted]
    largest = int(rounds.max()) if control == "reno" else 2 * int(rounds.max())
    level = -np.log(flow.windows.size // scale) / scale
    try:
        loss = measured(rounds, events) if control == "reno" else measured_persistent(rounds, events, MEMORY)
        chain = for_control(control, loss, rtt_s=rtt_s, w_max=max(largest, LEAST_LARGEST))
        mean = chain.mean
    except ModelInputError:
        return None, f"{name}'s chain cannot be fitted on these losses: they do not keep its window within bounds"
    try:
        fitted = Fitted(mean, *chain.curve(POINTS, deepest=1.1 * float(level)))
    except ModelInputError:
        return None, (
            f"{name}'s chain, fitted on these losses, has a mean of {mean:.3g} packets, but its spectrum could not be "
            "followed to the flow's extremes: at some windows losses are so rare that it hardly ever comes back"
        )
    seen = float(flow.windows.mean())
    if not 1 / MISFIT <= mean / seen <= MISFIT:
        factor = max(mean / seen, seen / mean)
        return fitted, (
            f"{name}'s chain, fitted on these losses, has a mean of {mean:.3g} packets, and the flow one of "
            f"{seen:.3g}: "
            f"a factor of {factor:.2g}, where up to {MISFIT:g} is accepted. It is not a chain of this flow, so no "
            f"range "
            "is predicted from it. The sender may have had another control (`--cc`), the round-trip time may be "
            "another "
            "(`--rtt`), or its losses do not depend on the window alone"
        )
    return fitted, ""
