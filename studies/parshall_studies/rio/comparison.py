"""The model against the simulator on random networks: a Latin hypercube (`RANGES`), and the errors it shows.

Errors are model over simulation less 1: of the total load, of the mean queue, of p_out, and of each session's rate
(its mean absolute value over the sessions). Both sides see the same RTTs and access links. Each network is solved with
the source's formulas and with sessions as Markov chains (`parshall_studies.diffserv.chain`).

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

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import qmc

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Panel, Plot, Points, Style
from parshall.studies.study import Findings
from parshall_studies.diffserv import REFINED, TABLES, FixedPoint, Router, Sessions, fixed_point, router_state
from parshall_studies.routers.simulated import Setting, Simulated, simulate

RANGES: Mapping[str, tuple[float, float]] = {
    "sessions": (20, 150),
    "capacity of a session, packets/s": (30, 120),
    "shortest RTT, s": (0.04, 0.2),
    "longest over shortest RTT": (1.0, 4.0),
    "max_in, packets": (40, 200),
    "max_out over max_in": (0.4, 1.0),
    "min_in over max_in": (0.1, 0.9),
    "min_out over max_out": (0.1, 0.9),
    "p_in^max over p_out^max": (0.0, 0.5),
    "log of p_out^max": (float(np.log(0.02)), 0.0),
    "reservations over capacity": (0.2, 1.0),
    "bucket, packets": (5, 40),
    "access rate over capacity of a session": (1.5, 4.0),
}
WORDS = {
    "load": "the total load",
    "session": "a session's rate",
    "less_noise": "a session's rate, less the simulation's noise",
    "queue": "the mean queue",
    "loss_out": "p_out",
}
READINGS = {"source": "the source's formulas", "refined": "random losses and SACK"}
GOALS = (0.03, 0.10)
"""The demands on the median and the 90th percentile of a session's error, less noise."""
_WORST, _SMALL_BUFFER, _SWINGING, _SMALL_WINDOW = 10, 0.03, 1.2, 6.0

Network = Mapping[str, float]
"""A random network: of each reading (``source.load``) the errors of `WORDS`, and what goes with them (`compared`)."""


def networks(count: int, seed: int = 20020501) -> list[tuple[Sessions, Router]]:
    """Random networks; the same for the same seed."""
    low, high = zip(*RANGES.values(), strict=True)
    cube = qmc.LatinHypercube(len(RANGES), rng=np.random.default_rng(seed)).random(count)
    return [_network(point) for point in qmc.scale(cube, low, high)]


def _network(point: FloatArray) -> tuple[Sessions, Router]:
    n, per_session, shortest, spread, in_max, out_share, in_low, out_low, p_in, log_p_out, booked, burst, access = point
    many, most, p_out = round(n), round(in_max), float(np.exp(log_p_out))
    out_max = round(out_share * most)
    sessions = Sessions(
        np.round(np.linspace(shortest, shortest * spread, many), 6),
        booked * per_session,
        float(round(burst)),
        access_per_s=access * per_session,
        access_delay_s=1 / (access * per_session),  # one packet's transmission
    )
    inside, outside = (round(in_low * most), most, p_in * p_out), (round(out_low * out_max), out_max, p_out)
    return sessions, Router(many * per_session, *inside, *outside)


def compared(sessions: Sessions, router: Router, setting: Setting) -> dict[str, float]:
    """Solve and simulate a network; it takes two repetitions and more to tell noise from errors.

    Beside errors there are ``sessions``, ``noise`` (what the simulation's own uncertainty makes of a session's mean
    error), ``buffer`` (max_out over C D), ``swing``, ``unevenness`` and ``window``, the smallest W, packets.
    """
    seen = simulate(sessions, router, setting)
    rates, repetitions = seen.session_per_s.mean(axis=0), seen.session_per_s.shape[0]
    noise = seen.session_per_s.std(axis=0, ddof=1) / np.sqrt(repetitions) / rates
    source, refined = (fixed_point(sessions, router, formulas=formulas) for formulas in (TABLES, REFINED))
    state = router_state(router, refined.load_in_per_s[0], refined.load_out_per_s[0])
    errors = refined.session_per_s / rates - 1
    place = np.linspace(-1.0, 1.0, rates.size)  # sessions are in the order of their RTTs
    rest = errors - np.polyval(np.polyfit(place, errors, 2), place)
    product = float(np.asarray(router.capacity_per_s)) * float(np.mean(np.asarray(sessions.rtt_s)))
    return {
        **{f"source.{name}": each for name, each in _errors(source, seen, noise).items()},
        **{f"refined.{name}": each for name, each in _errors(refined, seen, noise).items()},
        "sessions": float(sessions.count),
        "noise": float(np.sqrt(2.0 / np.pi) * np.mean(noise)),
        "buffer": float(np.asarray(router.out_max)) / product,
        "swing": seen.queue_sd_packets.mean / float(state.queue_sd_packets),
        "unevenness": float(np.sqrt(max(0.0, np.mean(rest**2) - np.mean(noise**2)))),
        "window": float(source.session_window_packets.min()),
    }


def _errors(solution: FixedPoint, seen: Simulated, noise: FloatArray) -> dict[str, float]:
    errors = solution.session_per_s / seen.session_per_s.mean(axis=0) - 1
    mean, left = float(np.mean(np.abs(errors))), max(0.0, 1.0 - float(np.sum(noise**2) / np.sum(errors**2)))
    lost = 0.0 if seen.loss_out is None else seen.loss_out.mean
    return {
        "load": float(solution.load_per_s[0]) / seen.load_per_s.mean - 1,
        "queue": float(solution.queue_packets[0]) / seen.queue_packets.mean - 1,
        "loss_out": float(solution.loss_out[0]) / lost - 1 if lost > 0 else float("nan"),
        "session": mean,
        "less_noise": mean * left**0.5,
    }


def quantiles(found: Sequence[Network], name: str) -> tuple[float, float]:
    """Median and 90th percentile of the absolute values."""
    values = np.abs([each[name] for each in found])
    median, ninetieth = np.quantile(values[np.isfinite(values)], [0.5, 0.9])
    return float(median), float(ninetieth)


def findings(found: Sequence[Network], setting: Setting) -> Findings:
    """Claims, all beyond the source, and the section; networks out of the formulas' range are only listed."""
    within = [each for each in found if each["window"] >= _SMALL_WINDOW]
    claims: list[Claim] = []
    rows: list[tuple[str, ...]] = []
    for name, title in WORDS.items():
        values = {words: quantiles(within, f"{reading}.{name}") for reading, words in READINGS.items()}
        asked = [f"asked: below {100 * goal:.0f} %" if name == "less_noise" else "" for goal in GOALS]
        claims += [
            reported("comparison", f"{label} error of {title}, {reading}", exactly(value), goal)
            for reading, pair in values.items()
            for label, value, goal in zip(("median", "90th percentile"), pair, asked, strict=True)
        ]
        rows.append((title, *(f"{100 * value:.1f} %" for pair in values.values() for value in pair)))
    header = ("", "Source: median", "90th percentile", "Refined: median", "90th percentile")
    tables = [Table("Absolute errors", header, rows, numbers=(1, 2, 3, 4)), _largest(found)]
    axes = {"buffer": Axis("max_out over C D", log=True), "window": Axis("smallest window W", "packets")}
    caption = "Less the simulation's noise; W of the source's formulas."
    figures = [
        Chart(
            f"comparison_{name}",
            f"Error of a session's rate by the {name}",
            Plot([_panel(within, name, axis)], caption),
        )
        for name, axis in axes.items()
    ]
    return Findings(claims, [Section("Model against simulator", _prose(found, within, setting), tables, figures)])


def _prose(found: Sequence[Network], within: Sequence[Network], setting: Setting) -> tuple[str, ...]:
    noise = 100 * float(np.median([each["noise"] for each in within]))
    median, ninetieth = quantiles(within, "refined.less_noise")
    so = "" if median < GOALS[0] and ninetieth < GOALS[1] else " not"
    return (
        f"{len(found)} random networks, each solved and simulated {setting.repetitions} times for "
        f"{setting.duration_s - setting.warm_up_s:g} s with SACK TCP. A session's rate is not known better than the "
        f"simulation tells it: {noise:.1f} % in the median network. Errors are given as measured, and less this noise.",
        "The source's formulas make each lost packet the end of a period and 3/W of them timeouts. SACK senders "
        "answer the losses of one window once, and time out almost only where a retransmission is lost. The "
        "refined reading computes that, with random instead of periodic losses, as a Markov chain of a session's "
        f"window and bucket; nothing is fitted. Its sessions' rates are within {100 * median:.1f} % in the median and "
        f"{100 * ninetieth:.1f} % at the 90th percentile,{so} as asked (3 % and 10 %).",
        "What is left has three causes, none of which a Poisson router has. Where out-packets have a buffer of a "
        "few hundredths of the bandwidth-delay product, losses come in bursts. Where the queue swings more than a "
        "Poisson queue would, sessions grow and shrink together. And then neighbours in RTT get different rates, by "
        "the phase in which their packets meet a full queue. Queues and losses of out-packets are worst.",
    )


def _largest(found: Sequence[Network]) -> Table:
    percent = ("refined.load", "refined.less_noise", "source.less_noise", "unevenness")
    rows = [
        (f"{each['sessions']:.0f}", *(f"{100 * each[name]:.1f} %" for name in percent), _why(each))
        for each in sorted(found, key=lambda each: -each["refined.session"])[:_WORST]
    ]
    header = ("Sessions", "T", "Rates", "By the source", "Unevenness", "Why")
    return Table("The largest errors", header, rows, numbers=(0, 1, 2, 3, 4))


def _why(network: Network) -> str:
    reasons = {
        f"small buffer ({network['buffer']:.3f} of C D)": network["buffer"] < _SMALL_BUFFER,
        f"swinging queue ({network['swing']:.2f})": network["swing"] > _SWINGING,
        "phases": network["unevenness"] > 0.5 * network["refined.less_noise"],
        f"out of range: a window of {network['window']:.1f} packets": network["window"] < _SMALL_WINDOW,
    }
    return ", ".join(name for name, so in reasons.items() if so) or "none of the three"


def _panel(found: Sequence[Network], name: str, axis: Axis) -> Panel:
    x = [each[name] for each in found]
    marks: list[Points | Guide] = [
        Points(x, [100 * each[f"{reading}.less_noise"] for each in found], reading, Style(number, number))
        for number, reading in enumerate(READINGS)
    ]
    return Panel([*marks, Guide(3.0, "asked of the median")], axis, Axis("error of a session's rate", "%", minimum=0))
