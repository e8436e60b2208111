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
Each network is solved with the source's formulas and with sessions as Markov chains (`models.diffserv.chain`).

**Noise.** A session's rate over some minutes is itself uncertain: s_i, its standard error over the repetitions. The
sum of squares of the errors exceeds what the model alone would make by that of the s_i, so the mean error less noise
is the mean error times sqrt(1 - sum s_i^2 / sum e_i^2). This takes both for alike in shape.

**What goes with large errors**, of each network: max_out over the bandwidth-delay product C D; the standard deviation
of the simulated queue over the model's, *swing*, above 1 where sessions grow and shrink together; and *unevenness*,
the standard deviation of a session's error about a parabola in its RTT, less noise: neighbours in RTT get what
differs by it, from the phase in which they meet the swinging queue (Floyd & Jacobson 1992).

References: N. Malouch, Z. Liu, INRIA RR-4469, 2002, §4; S. Floyd, V. Jacobson, On traffic phase effects in packet-
switched gateways, Internetworking: Research and Experience 3(3), 1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from parshall.analysis.models.inputs import FloatArray
from parshall_studies.diffserv import REFINED, TABLES, FixedPoint, Router, Sessions, fixed_point, router_state
from parshall_studies.routers.simulated import Setting, Simulated, simulate

LOW = (20, 30, 0.04, 1.0, 40, 0.4, 0.1, 0.1, 0.0, np.log(0.02), 0.2, 5, 1.5)
HIGH = (150, 120, 0.2, 4.0, 200, 1.0, 0.9, 0.9, 0.5, 0.0, 1.0, 40, 4.0)


@dataclass(frozen=True)
class Errors:
    """What a reading of the model says of a network, over what the simulator does, less 1."""

    load: float
    queue: float
    loss_out: float
    session: float
    """Mean over the sessions of |model/simulation - 1|."""
    session_less_noise: float
    smallest_window: float
    """W of the model, packets."""


@dataclass(frozen=True)
class Case:
    """A random network, and what model and simulator say of it."""

    sessions: Sessions
    router: Router
    source: Errors
    refined: Errors
    session_noise: float
    """What the simulation's own uncertainty makes of a session's mean error."""
    swing: float
    unevenness: float

    @property
    def buffer_share(self) -> float:
        """max_out over C D."""
        product = float(np.asarray(self.router.capacity_per_s)) * float(np.mean(np.asarray(self.sessions.rtt_s)))
        return float(np.asarray(self.router.out_max)) / product

    @property
    def out_of_range(self) -> str:
        """Why the source's formulas are not meant for it; '' if they are."""
        window = self.source.smallest_window
        if window < 6:
            return f"a session's window is {window:.1f} packets: at least half of its losses are timeouts"
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


def compared(sessions: Sessions, router: Router, setting: Setting) -> Case:
    """Solve and simulate a network; it takes two repetitions and more to tell noise from errors."""
    seen = simulate(sessions, router, setting)
    rates, repetitions = seen.session_per_s.mean(axis=0), seen.session_per_s.shape[0]
    noise = seen.session_per_s.std(axis=0, ddof=1) / np.sqrt(repetitions) / rates
    source, refined = (fixed_point(sessions, router, formulas=formulas) for formulas in (TABLES, REFINED))
    state = router_state(router, refined.load_in_per_s[0], refined.load_out_per_s[0])
    errors = refined.session_per_s / rates - 1
    place = np.linspace(-1.0, 1.0, rates.size)  # sessions are in the order of their RTTs
    rest = errors - np.polyval(np.polyfit(place, errors, 2), place)
    return Case(
        sessions,
        router,
        _errors(source, seen, noise),
        _errors(refined, seen, noise),
        float(np.sqrt(2.0 / np.pi) * np.mean(noise)),
        seen.queue_sd_packets.mean / float(state.queue_sd_packets),
        float(np.sqrt(max(0.0, np.mean(rest**2) - np.mean(noise**2)))),
    )


def _errors(solution: FixedPoint, seen: Simulated, noise: FloatArray) -> Errors:
    errors = solution.session_per_s / seen.session_per_s.mean(axis=0) - 1
    mean = float(np.mean(np.abs(errors)))
    left = max(0.0, 1.0 - float(np.sum(noise**2) / np.sum(errors**2)))
    return Errors(
        float(solution.load_per_s[0]) / seen.load_per_s.mean - 1,
        float(solution.queue_packets[0]) / seen.queue_packets.mean - 1,
        _relative(float(solution.loss_out[0]), 0.0 if seen.loss_out is None else seen.loss_out.mean),
        mean,
        mean * left**0.5,
        float(solution.session_window_packets.min()),
    )


def _relative(predicted: float, measured: float) -> float:
    """The relative error; not a number where nothing was lost."""
    return predicted / measured - 1 if measured > 0 else float("nan")


def quantiles(errors: Sequence[Errors], name: str) -> FloatArray:
    """Median and 90th percentile of the absolute errors."""
    values = np.abs([getattr(each, name) for each in errors])
    return np.asarray(np.quantile(values[np.isfinite(values)], [0.5, 0.9]))
