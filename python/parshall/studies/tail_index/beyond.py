"""Beyond the sources: other distributions, loops, controls and queues, and which property of the distribution matters.

The base is N = 45, B = 896, with slow start, Pareto sizes of tail index 1.5. The sensitivity analysis is Morris'
(elementary effects), through `SALib`: bounded Pareto sizes whose mean, tail index and largest value vary,
independently of each other.

References: M. Morris, Factorial sampling plans for preliminary computational experiments, Technometrics 33(2), 1991; T.
Iwanaga, W. Usher, J. Herman, Toward SALib 2.0, Socio-Environmental Systems Modelling 4, 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from SALib.analyze import morris as morris_analysis
from SALib.sample import morris as morris_sample
from scipy.optimize import brentq
from scipy.special import gamma

from parshall.report.document import Section, Table
from parshall.studies.study import Progress
from parshall.studies.tail_index.grid import Size
from parshall.studies.tail_index.measure import METRICS, Measured, measured
from parshall.studies.tail_index.network import PAYLOAD, butterfly, pareto

SOURCES, BUFFER = 45, 896
FACTORS = ("mean size", "tail index", "largest size")
_BOUNDS = ((500.0, 2000.0), (1.1, 3.0), (1.0, 3.0))
"""Packets; -; log10 of the largest value over the mean."""
_WORDS = {"loss": "the loss rate", "delay_ms": "the queueing delay", "throughput_mbps": "the throughput"}


@dataclass(frozen=True)
class Influence:
    """Morris' mu* of each factor on a metric (in the metric's unit), and the ends of its 95 % interval's half width."""

    metric: str
    strength: tuple[float, ...]
    half_width: tuple[float, ...]

    @property
    def strongest(self) -> str:
        """The factor that moves the metric most."""
        return FACTORS[int(np.argmax(self.strength))]


def bounded_pareto(mean: float, tail_index: float, largest: float) -> dict[str, Any]:
    """Bounded Pareto sizes of a given mean, by their smallest value; packets.

    Examples
    --------
    >>> bounded_pareto(1000, 1.5, 100_000)["minimum"]
    '517361 B'
    """

    def mean_from(smallest: float) -> float:
        part = 1 - (smallest / largest) ** tail_index
        if tail_index == 1:
            return float(smallest * np.log(largest / smallest) / part)
        power = smallest**tail_index * (smallest ** (1 - tail_index) - largest ** (1 - tail_index))
        return float(tail_index / (tail_index - 1) * power / part)

    smallest = float(brentq(lambda low: mean_from(low) - mean, 1e-6 * mean, mean * (1 - 1e-9)))
    return {
        "name": "bounded_pareto",
        "minimum": f"{round(smallest * PAYLOAD)} B",
        "maximum": f"{round(largest * PAYLOAD)} B",
        "tail_index": tail_index,
    }


def variants() -> dict[str, dict[str, Any]]:
    """What differs from the base, by name; arguments of `butterfly`."""
    mean = "1000 packets"
    return {
        "Pareto, tail index 1.5 (base)": {"size": pareto(1.5)},
        "bounded Pareto, same tail index, up to 100,000": {"size": bounded_pareto(1000, 1.5, 1e5)},
        "Pareto, tail index 2.5 (variance 0.8 mean²)": {"size": pareto(2.5)},
        "lognormal, same variance as Pareto 2.5": {
            "size": {"name": "lognormal", "mean": mean, "sigma": float(np.sqrt(np.log(1.8)))}
        },
        "Weibull, same variance as Pareto 2.5": {
            "size": {"name": "weibull", "mean": mean, "shape": _weibull_shape(0.8)}
        },
        "hyperexponential, variance 10 mean²": {"size": {"name": "hyperexponential", "mean": mean, "cv2": 10.0}},
        "lognormal, variance 10 mean²": {
            "size": {"name": "lognormal", "mean": mean, "sigma": float(np.sqrt(np.log(11.0)))}
        },
        "exponential": {"size": {"name": "exponential", "mean": mean}},
        "all of 1000 packets": {"size": {"name": "constant", "value": mean}},
        "CUBIC": {"size": pareto(1.5), "flow": {"congestion_control": "cubic"}},
        "initial window 10": {"size": pareto(1.5), "flow": {"initial_window": "10 packets"}},
        "RED": {
            "size": pareto(1.5),
            "queue": {
                "name": "red",
                "limit": f"{BUFFER} packets",
                "min_threshold": f"{BUFFER // 8} packets",
                "max_threshold": f"{BUFFER // 2} packets",
            },
        },
    }


def _weibull_shape(cv2: float) -> float:
    """Shape of the Weibull distribution whose variance is `cv2` squared means."""

    def excess(shape: float) -> float:
        return float(gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1 - cv2)

    return float(brentq(excess, 0.3, 10.0))


def compared(size: Size, progress: Progress) -> dict[str, Measured]:
    """The variants, and an open loop with as many transfers a second as the base has."""
    found: dict[str, Measured] = {}
    for name, arguments in variants().items():
        progress(f"beyond the source: {name}")
        found[name] = _measured(size, **arguments)
    base = next(iter(found.values()))
    arrivals = base.transfers / (size.duration_s * size.repetitions)
    progress("beyond the source: open loop")
    workload = {"name": "open_loop", "size": pareto(1.5), "arrivals_per_s": arrivals}
    found["open loop, as many transfers a second"] = _measured(
        size, size=pareto(1.5), flow={"workload": workload, "count": 1, "ssthresh_cached": False}
    )
    return found


def _measured(size: Size, /, **arguments: Any) -> Measured:
    chosen = arguments.pop("size")
    return measured(
        butterfly(
            SOURCES,
            BUFFER,
            chosen,
            cached=False,
            duration_s=size.duration_s,
            repetitions=min(2, size.repetitions),
            **arguments,
        )
    )


def influences(size: Size, progress: Progress, trajectories: int) -> list[Influence]:
    """Morris' analysis of the distribution's properties."""
    problem = {"num_vars": len(FACTORS), "names": list(FACTORS), "bounds": [list(each) for each in _BOUNDS]}
    points = morris_sample.sample(problem, trajectories, num_levels=4, seed=1)
    rows = []
    for number, (mean, tail_index, ratio) in enumerate(points):
        progress(f"sensitivity: {number + 1} of {len(points)}")
        rows.append(_measured(size, size=bounded_pareto(mean, tail_index, mean * 10**ratio)))
    found = []
    for metric in METRICS:
        values = np.array([row.values(metric).mean() for row in rows])
        effects = morris_analysis.analyze(problem, points, values, num_levels=4, seed=1)
        strength = tuple(float(each) for each in effects["mu_star"])
        found.append(Influence(metric, strength, tuple(float(each) for each in effects["mu_star_conf"])))
    return found


def answer(found: Sequence[Influence]) -> str:
    """Two sentences."""
    first = "; ".join(f"{_WORDS[each.metric]} is moved most by the {each.strongest}" for each in found)
    tail = [each.strength[1] / max(each.strength) for each in found]
    return (
        f"{first[0].upper()}{first[1:]}. The tail index moves them by {min(tail):.0%} to {max(tail):.0%} of what the "
        f"strongest "
        "property does: the distribution as a whole, and the load that it brings, matter, not its tail index alone."
        if min(tail) < 1
        else f"{first[0].upper()}{first[1:]}. The tail index is the strongest property for every metric."
    )


def section(found: dict[str, Measured], effects: Sequence[Influence]) -> Section:
    """The tables."""
    rows = [
        (
            name,
            f"{each.loss.mean():.4f}",
            f"{each.delay_ms.mean():.2f}",
            f"{each.throughput_mbps.mean():.0f}",
            f"{each.mean_packets:.0f}",
        )
        for name, each in found.items()
    ]
    strengths = [
        (
            _WORDS[each.metric],
            *(f"{value:.3g} ± {half:.2g}" for value, half in zip(each.strength, each.half_width, strict=True)),
        )
        for each in effects
    ]
    return Section(
        "The distribution as a whole",
        (
            answer(effects),
            f"N = {SOURCES}, B = {BUFFER}, with slow start. Every distribution has a mean of 1000 packets; what is "
            f"sampled of a "
            "heavy one differs, and is shown. BBR-like controls and CoDel are not among the variants: the simulator "
            "does not have "
            "them yet.",
        ),
        [
            Table(
                "Other distributions, loops, controls and queues",
                ("variant", "loss rate", "delay (ms)", "throughput (Mbit/s)", "sampled mean (packets)"),
                rows,
                numbers=(1, 2, 3, 4),
            ),
            Table(
                "Morris' μ*: mean size 500 to 2000 packets, tail index 1.1 to 3, largest size 10 to 1000 means (95 %)",
                ("metric", *FACTORS),
                strengths,
                numbers=(1, 2, 3),
            ),
        ],
    )
