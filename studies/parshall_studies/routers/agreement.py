"""The demands of a service level agreement on a RIO router, and whether a steady state meets them.

| constraint | field | unit |
| --- | --- | --- |
| p_in <= p_SLA | `loss_in` | probability |
| delay of every packet <= d | `delay_s` | s: max_in = d C, whatever the load |
| mean delay (q + 1)/C <= d | `mean_delay_s` | s |
| T^i >= r^i for all i | `reservations` | packets/s offered, as the source compares them |

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, §5.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.foundations.errors import InputError
from parshall_studies.diffserv import FixedPoint, Sessions

LABELS = {
    "loss_in": "loss of in-packets",
    "delay_s": "delay of every packet",
    "mean_delay_s": "mean delay",
    "reservations": "every session's rate at least its reservation",
}
UNITS = {"loss_in": "1", "delay_s": "s", "mean_delay_s": "s", "reservations": "1"}


@dataclass(frozen=True)
class Agreement:
    """Constraints in any combination; None (or False) is none.

    Raises
    ------
    InputError
        If nothing is asked for, or a bound is not positive.

    Examples
    --------
    >>> Agreement(loss_in=0.006, reservations=True).asked
    ('loss_in', 'reservations')
    >>> Agreement(loss_in=1.5)
    Traceback (most recent call last):
    parshall.foundations.errors.InputError: loss_in: found 1.5, accepted is a probability between 0 and 1 (both
    excluded)
    """

    loss_in: float | None = None
    delay_s: float | None = None
    mean_delay_s: float | None = None
    reservations: bool = False

    def __post_init__(self) -> None:
        if self.loss_in is not None and not 0 < self.loss_in < 1:
            raise InputError(
                f"loss_in: found {self.loss_in:g}, accepted is a probability between 0 and 1 (both excluded)"
            )
        for name in ("delay_s", "mean_delay_s"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and isfinite(value)):
                raise InputError(f"{name}: found {value:g}, accepted is a finite number of seconds above 0")

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the constraints that there are."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) not in {None, False})

    def without(self, name: str) -> Agreement:
        """The same, less a constraint."""
        left: dict[str, Any] = {name: False if name == "reservations" else None}
        return replace(self, **left)

    def margins(self, sessions: Sessions, state: FixedPoint) -> dict[str, FloatArray]:
        """Return the margin of each constraint on the steady state: a ratio, 1 at the bound, less where it is kept."""
        kept = {}
        if self.loss_in is not None:
            kept["loss_in"] = state.loss_in[..., 0] / self.loss_in
        if self.mean_delay_s is not None:
            kept["mean_delay_s"] = state.delay_s[..., 0] / self.mean_delay_s
        if self.reservations:
            kept["reservations"] = np.max(sessions.reservations_per_s / state.session_per_s, axis=-1)
        return {name: np.asarray(each) for name, each in kept.items()}

    def kept(self, sessions: Sessions, state: FixedPoint) -> FloatArray:
        """True if all constraints on the steady state are kept, for each parameter set."""
        good = np.array(state.converged)
        for margin in self.margins(sessions, state).values():
            good &= margin <= 1.0
        return np.asarray(good)
