"""How a flow's throughput varies: its empirical spectrum at several scales, against the chain fitted on its p(w).

The chain is that of Loiseau 2010: the window grows by one packet a round trip, and is halved with probability p(w), as
measured (`models.measured_loss`, neighbouring windows pooled). Slow start and the later slots of a loss event do not
count. If another control is named, the chain is that of `models.variants`, which has the window at the last loss and
the time since: BIC, HighSpeed, CUBIC, Scalable.

References: P. Loiseau, P. Gonçalves, J. Barral, P. Vicat-Blanc Primet, Modeling TCP throughput: an elaborated
large-deviations-based model and its empirical validation, Performance Evaluation 67, 2010, §3.2, §5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parshall.errors import InputError
from parshall.models.measured_loss import measured
from parshall.models.persistent_loss import measured_persistent
from parshall.models.variants import for_control
from parshall.stats.spectrum import Empirical, Superposition, empirical_spectra, superimpose
from parshall.traces.flow import FloatArray, TracedFlow

SCALES = (20, 50, 100, 200, 500, 1000)
"""Scales n that are tried, in round trips."""

LEAST_INTERVALS = 20
"""The fewest intervals of n round trips that make a spectrum."""

POINTS = 60
"""Points of the fitted chain's curve."""

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
    """What `variability` found.

    Attributes
    ----------
    empirical
        The flow's own spectrum at each scale, ascending.
    superposition
        Whether they are one spectrum; None for one scale.
    fitted
        The fitted chain's spectrum; None where no loss was seen.
    control
        Whose chain that is, in words.
    """

    empirical: Sequence[Empirical]
    superposition: Superposition | None
    fitted: Fitted | None
    control: str = "Reno"


def scales_for(rounds: int) -> tuple[int, ...]:
    """The scales that a flow of that many round trips is long enough for, ascending.

    Examples
    --------
    >>> scales_for(300), scales_for(46_000)
    ((), (100, 200, 500, 1000))
    """
    fitting = [scale for scale in SCALES if rounds >= LEAST_INTERVALS * scale]
    return tuple(fitting[-MOST_SCALES:])


NAMES = {"reno": "Reno", "bic": "BIC", "highspeed": "HighSpeed", "cubic": "CUBIC", "scalable": "Scalable"}
"""The controls of `models.variants.CONTROLS` in words."""

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
        It is too short for any scale, there is no such control, or CUBIC's chain has no round-trip time.
    """
    if control not in NAMES:
        raise InputError(f'control: found "{control}"; accepted: {", ".join(NAMES)}')
    scales = scales_for(flow.windows.size)
    if not scales:
        needed = LEAST_INTERVALS * SCALES[0]
        raise InputError(f"{flow.name}: {flow.windows.size} round trips are too few for any scale; {needed} are needed")
    empirical = empirical_spectra(flow.windows, scales)
    superposition = superimpose(flow.windows, scales) if len(scales) > 1 else None
    counted = flow.steady
    if not flow.events[counted].any():
        return Variability(empirical, superposition, None, NAMES[control])
    rtt_s = flow.row.get("mean_rtt_s") if rtt_s is None else rtt_s
    if control == "cubic" and rtt_s is None:
        raise InputError(f"{flow.name}: no round-trip time is known, and CUBIC grows with time: there is no chain")
    rounds, events = flow.windows[counted], flow.events[counted]
    loss = measured(rounds, events) if control == "reno" else measured_persistent(rounds, events, MEMORY)
    largest = int(rounds.max()) if control == "reno" else 2 * int(rounds.max())
    chain = for_control(control, loss, rtt_s=rtt_s, w_max=largest)
    level = -np.log(flow.windows.size // scales[0]) / scales[0]
    fitted = Fitted(chain.mean, *chain.curve(POINTS, deepest=1.1 * float(level)))
    return Variability(empirical, superposition, fitted, NAMES[control])
