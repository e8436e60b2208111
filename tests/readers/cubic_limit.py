"""The constants of CUBIC under independent losses, from its limiting Markov chain.

| symbol | meaning | unit |
| --- | --- | --- |
| W | window just before a loss | packets |
| E | packets between two losses, exponential of mean 1/p | packets |
| t | time between two losses: E = (1/RTT) integral of the window | s |

As p -> 0 the window is a fluid between losses, and the windows just before them form a Markov chain (with
fast convergence together with W_max). Everything scales with (RTT/p)^(3/4) C^(1/4) in the cubic region and
with 1/sqrt(p) in the Reno-friendly one, so that one number each is left. No closed form is known; many chains
are run side by side, from a fixed seed.

References: S. Poojary, V. Sharma, Queueing Systems 91, 2019 (arXiv 1510.08496); RFC 9438 §4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.analysis.models.cubic import BETA, C
from parshall.analysis.models.inputs import FloatArray


@dataclass(frozen=True, slots=True)
class Constants:
    """W (p/RTT)^(3/4) at C = 0.4, without and with fast convergence; W sqrt(p) where Reno-friendly."""

    cubic: float
    cubic_fast_convergence: float
    friendly: float


def limit_constants(chains: int = 4000, losses: int = 300, warm_up: int = 60) -> Constants:
    """Find the three constants for beta = 0.7, to about 1/sqrt(`chains` * `losses`).

    Examples
    --------
    >>> constants = limit_constants(chains=500, losses=100, warm_up=40)
    >>> 1.27 < constants.cubic < 1.33
    True
    """
    return Constants(
        cubic=_cubic(chains, losses, warm_up, fast_convergence=False),
        cubic_fast_convergence=_cubic(chains, losses, warm_up, fast_convergence=True),
        friendly=_friendly(chains, losses, warm_up),
    )


def _cubic(chains: int, losses: int, warm_up: int, *, fast_convergence: bool) -> float:
    """In units where RTT/p = C = 1."""
    random = np.random.default_rng(0)
    maximum = np.ones(chains)
    start = BETA * maximum
    packets = seconds = 0.0
    for i in range(losses):
        gap = random.exponential(size=chains)
        k = np.cbrt(maximum - start)
        t = _time_to_send(gap, maximum, k)
        window = maximum + (t - k) ** 3
        if i >= warm_up:
            packets, seconds = packets + gap.sum(), seconds + t.sum()
        early = fast_convergence & (window < maximum)
        maximum = np.where(early, window * (1 + BETA) / 2, window)
        start = BETA * window
    return float(packets / seconds * C**0.25)


def _time_to_send(packets: FloatArray, maximum: FloatArray, k: FloatArray) -> FloatArray:
    """Time at which the increasing integral of `maximum` + (t - k)^3 is `packets`, by bisection."""
    low, high = (
        np.zeros_like(packets),
        packets / (maximum - k**3) + 1e-12,
    )  # the window is never below its start
    for _ in range(60):
        middle = (low + high) / 2
        short = maximum * middle + ((middle - k) ** 4 - k**4) / 4 < packets
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


def _friendly(chains: int, losses: int, warm_up: int) -> float:
    """In units where p = 1: a packet adds 2 alpha to the squared window up to the last loss's, then 2."""
    random = np.random.default_rng(0)
    alpha = 3 * (1 - BETA) / (1 + BETA)
    window = np.full(chains, 1.3)
    packets = rounds = 0.0
    for i in range(losses):
        prior, start, gap = window, BETA * window, random.exponential(size=chains)
        climb = (prior**2 - start**2) / (2 * alpha)
        below = np.sqrt(start**2 + 2 * alpha * np.minimum(gap, climb))
        window = np.where(gap < climb, below, np.sqrt(prior**2 + 2 * np.maximum(gap - climb, 0)))
        if i >= warm_up:
            packets += gap.sum()
            rounds += ((below - start) / alpha + np.maximum(window - prior, 0)).sum()
    return float(packets / rounds)
