"""The model against the simulator on random networks: a Latin hypercube, and the errors it shows.

| dimension | from | to |
| --- | --- | --- |
| sessions N | 20 | 150 |
| capacity a session, packets/s | 30 | 120 |
| shortest RTT, ms | 40 | 200 |
| longest over shortest RTT | 1 | 4 |
| max_in, packets | 40 | 200 |
| max_out over max_in | 0.4 | 1 |
| min over max, of each curve | 0.1 | 0.9 |
| p_in^max over p_out^max | 0 | 0.5 |
| p_out^max (logarithmic) | 0.02 | 1 |
| reservations over capacity | 0.2 | 1 |
| bucket, packets | 5 | 40 |
| access rate over capacity a session | 1.5 | 4 |

Errors are model over simulation less 1: of the total load, of the mean queue, of p_out, and of each session's rate
(its mean absolute value over the sessions). Both sides see the same RTTs and access links. TCP is as `Setting` says.

References: N. Malouch, Z. Liu, INRIA RR-4469, 2002, §4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from parshall.design.simulated import Setting, simulate
from parshall.models.diffserv import Router, Sessions, fixed_point
from parshall.models.inputs import FloatArray

LOW = (20, 30, 0.04, 1.0, 40, 0.4, 0.1, 0.1, 0.0, np.log(0.02), 0.2, 5, 1.5)
HIGH = (150, 120, 0.2, 4.0, 200, 1.0, 0.9, 0.9, 0.5, 0.0, 1.0, 40, 4.0)


@dataclass(frozen=True)
class Case:
    """A random network, and what model and simulator say of it."""

    sessions: Sessions
    router: Router
    load_error: float
    session_error: float
    """Mean over the sessions of |model/simulation - 1|."""
    queue_error: float
    loss_out_error: float
    smallest_window: float
    timeouts_model: float
    """p_TO of the session with the smallest window."""

    @property
    def out_of_range(self) -> str:
        """Why the model is not meant for it; '' if it is."""
        if self.smallest_window < 6:
            return f"a session's window is {self.smallest_window:.1f} packets: at least half of its losses are timeouts"
        queue, buffer = float(np.max(self.router.in_max)), float(np.max(self.router.out_max))
        if buffer < 0.1 * queue:
            return "out-packets have no queue of their own"
        return ""


def networks(count: int, seed: int = 20020501) -> list[tuple[Sessions, Router]]:
    """Random networks; the same for the same seed."""
    points = qmc.scale(qmc.LatinHypercube(len(LOW), rng=np.random.default_rng(seed)).random(count), LOW, HIGH)
    made = []
    for (
        n,
        per_session,
        shortest,
        spread,
        in_max,
        out_share,
        in_low,
        out_low,
        p_in,
        log_p_out,
        booked,
        burst,
        access,
    ) in points:
        p_out = float(np.exp(log_p_out))
        many, most = round(n), round(in_max)
        capacity, out_max = many * per_session, round(out_share * most)
        sessions = Sessions(
            np.round(np.linspace(shortest, shortest * spread, many), 6),
            booked * per_session,
            float(round(burst)),
            access_per_s=access * per_session,
            access_delay_s=1 / (access * per_session),  # one packet's transmission
        )
        router = Router(capacity, round(in_low * most), most, p_in * p_out, round(out_low * out_max), out_max, p_out)
        made.append((sessions, router))
    return made


def compare(count: int, setting: Setting, progress: Callable[[str], None]) -> list[Case]:
    """Solve and simulate random networks."""
    cases = []
    for number, (sessions, router) in enumerate(networks(count)):
        if number % 20 == 0:
            progress(f"model and simulator on random networks, {number} of {count}")
        cases.append(_case(sessions, router, setting))
    return cases


def _case(sessions: Sessions, router: Router, setting: Setting) -> Case:
    found, seen = fixed_point(sessions, router), simulate(sessions, router, setting)
    rates = seen.session_per_s.mean(axis=0)
    window = float(found.session_window_packets.min())
    return Case(
        sessions,
        router,
        float(found.load_per_s[0]) / seen.load_per_s.mean - 1,
        float(np.mean(np.abs(found.session_per_s / rates - 1))),
        float(found.queue_packets[0]) / seen.queue_packets.mean - 1,
        _relative(float(found.loss_out[0]), 0.0 if seen.loss_out is None else seen.loss_out.mean),
        window,
        min(1.0, 3.0 / window),
    )


def _relative(predicted: float, measured: float) -> float:
    """The relative error; not a number where nothing was lost."""
    return predicted / measured - 1 if measured > 0 else float("nan")


def quantiles(cases: Sequence[Case], name: str) -> FloatArray:
    """Median and 90th percentile of the absolute errors."""
    errors = np.abs([getattr(case, name) for case in cases])
    return np.asarray(np.quantile(errors[np.isfinite(errors)], [0.5, 0.9]))
