"""H against the tail index by every estimator, where the relation of Fig. 4(a) should hold and where not.

`hurst_own` has the source's own clients and bins; here are clients and bins with which the theory says that it holds.

| symbol | name here | unit |
| --- | --- | --- |
| alpha | `tail_index` | - |
| K | `in_progress` | transfers |
| E[D], b | `Clients.transfer_s`, b = E[D] (alpha - 1)/alpha: mean and smallest time of a transfer | s |
| T | time scale | s |

H = (3 - alpha)/2 is a limit: first of many sources, then of large scales (Willinger, Taqqu, Sherman & Wilson 1997). A
record comes near it if two things hold, which choose the setting here:

1. Its scales are long against transfers. Even for transfers at a constant rate the variance of what is sent in T is
   A (T/b)^(3-alpha) - B T/b; the second term dies out as (T/b)^(alpha-2), very slowly near alpha = 2 (`exact`: at
   alpha = 1.95 H is within 0.08 from T = 150 b = 70 E[D] on). Hence bins of eight mean transfer times: the estimators
   begin at 10 to 24 bins.
2. At the largest scale there are still several transfers at a time that outlast it, K (T/b)^(1-alpha) of them. In the
   other order of limits, with few sources, what is sent becomes a stable Lévy motion, whose increments are independent
   (Mikosch, Resnick, Rootzén & Stegeman 2002): a typical record then shows H = 1/2 whatever the tail, and the rare one
   with a huge transfer a level shift. Hence many clients, each slow against the link.

Whittle's two estimators take the shape of fGn (of
fARIMA) to hold at every scale; they get the series in bins of 16, the scale from which the others read.

References: W. Willinger, M. Taqqu, R. Sherman, D. Wilson, IEEE/ACM ToN 5(1), 1997; T. Mikosch, S. Resnick, H. Rootzén,
A. Stegeman, Is network traffic approximated by stable Lévy motion or fractional Brownian motion?, Annals of Applied
Probability 12(1), 2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.studies.study import Case, Scale
from parshall_studies.hurst import ESTIMATORS
from parshall_studies.hurst.series import aggregated
from parshall_studies.synthesis import on_off
from parshall_studies.tail_index.network import LINK_BPS, WARM_UP, Clients, two_servers
from parshall_studies.tail_index.running import Tables, case
from parshall_studies.tail_index.settings import PAPER

SLOW = Clients(count=400, access_bps=40e3, mean_bytes=2400, idle_s=1.44)
"""A transfer of the mean size takes 0.48 s; some 100 of them at a time load the link by 0.4."""
FAST = Clients(count=32, access_bps=LINK_BPS, mean_bytes=29_200, idle_s=2.0)
"""As many as the source has, as fast as the link; a third of a transfer at a time. Sizes and times are ours."""
BUSY = (0.48, 0.16)
"""Idle times with which the slow clients offer 0.8 and 1.2 of the link's rate."""
BINS = 2500
"""Of a record: 4 s of the source's 10,000 s."""
COARSER = FIRST_BINS = 16
"""Bins that make one for Whittle's estimators; the scale at which most others begin."""
_WHITTLE = ("whittle_fgn", "whittle_farima")
_BROKEN_AT = 1.65
"""The tail index at which the settings that break the relation are shown: neither end of its range."""
_LARGEST = 20
"""The largest scale is a so-manieth of the record (that of `variance_time`)."""

FloatArray = NDArray[np.float64]
Estimates = dict[str, float]
_Setting = tuple[str, Clients, float, int]
"""Its words, the clients, the tail index, and how many records."""


@dataclass(frozen=True)
class Size:
    """How much is simulated."""

    tail_indices: tuple[float, ...]
    duration_s: float
    repetitions: int
    fewer: int
    """Repetitions at higher loads, where the relation breaks."""
    own: int
    """Repetitions of the source's own clients (`hurst_own`)."""


SIZES: dict[Scale, Size] = {
    "quick": Size(PAPER["h_tail_indices"][::3], 10_000.0, 4, 1, 3),
    "paper": Size(PAPER["h_tail_indices"], 10_000.0, 20, 10, 10),
}


@dataclass(frozen=True)
class AtTail:
    """What a tail index gives in a setting.

    Parameters
    ----------
    what
        The setting in words.
    tail_index
        alpha.
    utilisation
        Of the link, mean.
    full
        In which part of the bins the link was full (above 95 %).
    outlasting
        Transfers at a time that outlast the largest scale, K (T/b)^(1-alpha).
    exact
        H that infinitely many ideal sources show at the smallest scale (`exact`).
    repetitions
        H by every estimator, a record each.
    """

    what: str
    tail_index: float
    utilisation: float
    full: float
    outlasting: float
    exact: float
    repetitions: tuple[Estimates, ...]

    @property
    def relation(self) -> float:
        """(3 - alpha)/2."""
        return (3 - self.tail_index) / 2

    def h(self, method: str) -> Interval:
        """H by an estimator: mean over records, and its 95 % interval."""
        return mean_interval(self.values(method))

    def values(self, method: str) -> list[float]:
        """H by an estimator, of each record, in order of size."""
        return sorted(each[method] for each in self.repetitions)


@dataclass(frozen=True)
class HurstPanel:
    """The panel: TCP's traffic, ideal ON/OFF sources of the same times, and where the relation breaks."""

    tcp: tuple[AtTail, ...]
    ideal: tuple[AtTail, ...]
    broken: tuple[AtTail, ...]


def settings(size: Size) -> dict[str, list[_Setting]]:
    """What is found by TCP, by ideal sources, and where the relation breaks."""
    loaded = [Clients(SLOW.count, SLOW.access_bps, SLOW.mean_bytes, idle_s) for idle_s in BUSY]
    return {
        "tcp": [("TCP, many slow clients", SLOW, alpha, size.repetitions) for alpha in size.tail_indices],
        "ideal": [("ideal sources", SLOW, alpha, size.repetitions) for alpha in size.tail_indices],
        "broken": [
            ("TCP, few fast clients", FAST, _BROKEN_AT, size.repetitions),
            ("ideal sources, few and fast", FAST, _BROKEN_AT, size.repetitions),
            *(
                (f"TCP, many slow clients, {_offered(each):.1f} of the link offered", each, _BROKEN_AT, size.fewer)
                for each in loaded
            ),
        ],
    }


def cases(size: Size) -> dict[tuple[str, int], Case]:
    """The traffic of each tail index, and its H."""
    return {
        (name, number): _case(setting, size)
        for name, group in settings(size).items()
        for number, setting in enumerate(group)
    }


def together(answers: Mapping[tuple[str, int], AtTail]) -> HurstPanel:
    """The answers of `cases`."""
    groups = {
        name: tuple(answer for (group, _), answer in answers.items() if group == name)
        for name in ("tcp", "ideal", "broken")
    }
    return HurstPanel(**groups)


def in_progress(clients: Clients) -> float:
    """K, transfers at a time, were the link never in the way."""
    return clients.count * clients.transfer_s / (clients.transfer_s + clients.idle_s)


def outlasting(clients: Clients, tail_index: float, scale_s: float) -> float:
    """How many transfers at a time take longer than a scale: K (T/b)^(1-alpha).

    Examples
    --------
    >>> round(outlasting(SLOW, 1.35, 500.0), 1), round(outlasting(FAST, 1.35, 500.0), 4)
    (5.5, 0.007)
    """
    return float(in_progress(clients) * (scale_s / _smallest_s(clients, tail_index)) ** (1 - tail_index))


def exact(tail_index: float, scale: float) -> float:
    """H that the growth of the variance has at a scale, in smallest transfer times: sources without number.

    Half the logarithmic slope of V(T) = 2 times the integral of (T - u) r(u) over u < T, where r(u), the covariance of
    the number of transfers in progress, is the mean of what is left of D after u (Cox 1984): E[D] - u for u < b, and
    b (u/b)^(1-alpha)/(alpha - 1) beyond.

    Parameters
    ----------
    tail_index
        alpha, in (1, 2).
    scale
        T/b, above 1.

    Examples
    --------
    >>> [round(exact(1.95, scale), 3) for scale in (10, 150, 1000, 1e9)]
    [0.681, 0.603, 0.58, 0.538]
    """
    alpha, x = tail_index, scale
    power = x ** (3 - alpha) / ((alpha - 1) * (2 - alpha) * (3 - alpha))
    linear = x * (alpha / (alpha - 1) - 1 / 2 - 1 / ((alpha - 1) * (2 - alpha)))
    constant = 1 / ((alpha - 1) * (3 - alpha)) - alpha / (2 * (alpha - 1)) + 1 / 3
    return float(((3 - alpha) * power + linear) / (power + linear + constant) / 2)


def _smallest_s(clients: Clients, tail_index: float) -> float:
    return clients.transfer_s * (tail_index - 1) / tail_index


def _expected(clients: Clients, tail_index: float, size: Size) -> tuple[float, float]:
    """Transfers that outlast the largest scale, and the exact H at the smallest."""
    smallest = FIRST_BINS * size.duration_s / BINS / _smallest_s(clients, tail_index)
    return outlasting(clients, tail_index, size.duration_s / _LARGEST), exact(tail_index, smallest)


def _offered(clients: Clients) -> float:
    return in_progress(clients) * clients.access_bps / LINK_BPS


def _case(setting: _Setting, size: Size) -> Case:
    what, clients, alpha, repetitions = setting
    label = f"H of {what}, tail index {alpha:g}"
    if what.startswith("ideal"):
        return Case(label, _ideal, (what, clients, alpha, size))
    scenario = two_servers(clients, alpha, size.duration_s, size.duration_s / BINS, repetitions)
    return case(label, scenario, _by_tcp, what, clients, alpha, size)


def _by_tcp(tables: Tables, what: str, clients: Clients, tail_index: float, size: Size) -> AtTail:
    loads, estimates = _measured(tables, size)
    return AtTail(what, tail_index, *loads, *_expected(clients, tail_index, size), estimates)


def _measured(tables: Tables, size: Size) -> tuple[tuple[float, float], tuple[Estimates, ...]]:
    samples = tables.link_samples.filter(pl.col("time_s") >= size.duration_s * WARM_UP).sort("repetition", "time_s")
    share = samples["forwarded_bytes"].to_numpy() * 8 / (size.duration_s / BINS * LINK_BPS)
    parts = samples.partition_by("repetition", maintain_order=True)
    estimates = tuple(_estimated(part["forwarded_bytes"].to_numpy().astype(np.float64)) for part in parts)
    return (float(share.mean()), float((share > 0.95).mean())), estimates


def _ideal(what: str, clients: Clients, tail_index: float, size: Size) -> AtTail:
    """ON/OFF sources that send at a constant rate for as long as a transfer would take, and share nothing."""
    bin_s = size.duration_s / BINS
    records = [
        on_off(
            round(BINS * (1 - WARM_UP)),
            clients.count,
            np.random.default_rng(number),
            mean_on=clients.transfer_s / bin_s,
            mean_off=clients.idle_s / bin_s,
            tail_index=tail_index,
            rate=clients.access_bps / LINK_BPS,
        )
        for number in range(1, size.repetitions + 1)
    ]
    load = float(np.mean(records))
    full = float(np.mean(np.array(records) > 0.95))
    expected = _expected(clients, tail_index, size)
    return AtTail(what, tail_index, load, full, *expected, tuple(_estimated(each) for each in records))


def _estimated(series: FloatArray) -> Estimates:
    """H by every estimator, at the scales at which it should be sought."""
    coarse = aggregated(series, COARSER)
    return {
        each.name: each.estimate(coarse if each.name in _WHITTLE else series, diagnose=False).h for each in ESTIMATORS
    }
