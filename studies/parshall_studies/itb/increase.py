"""Table 2: what a round trip adds and a loss takes.

| symbol | here | unit |
| --- | --- | --- |
| alpha | growth of the window over a round trip | packets |
| beta | 1 - new ssthresh over the window before | 1 |

Where the source prints a number, ours is held against it. Where it names a function (inc and decr of HighSpeed TCP,
cub of CUBIC, f of H-TCP, BIC's binary search), ours is held against that function as its own paper has it, which is
theory:

| control | function | from |
| --- | --- | --- |
| HighSpeed | b(w) = 0.5 - 0.4 ln(w/38)/ln(83000/38), a(w) = 2 w^2 p(w) b/(2 - b), p(w) = 0.078/w^1.2 | RFC 3649 §5 |
| CUBIC | w(t) = C (t - K)^3 + W_max, K = cbrt((W_max - w(0))/C), with fast convergence | Rhee & Xu 2005 |
| H-TCP | 2 (1 - beta) (1 + 10 (t - 1) + (t - 1)^2/4), t in s since the last loss | Leith & Shorten 2004 |
| BIC | half of the way to W_max, ACK by ACK: a round trip leaves exp(-1/2) of it | Xu, Harfoush & Rhee 2004 |

One flow, no queue, every 1/p-th packet lost. H-TCP's beta needs a queue, since it is 1 - RTT_min/RTT_max (not less
than 0.2, not more than 0.5): there one flow fills a buffer of half a bandwidth-delay product.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §2.1, Table 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.artefact import Artefact, Measurement
from parshall_studies.itb.controls import RTT_S, lossy
from parshall_studies.itb.network import PAPER, VARIANTS, Setting, Values

FACTOR_LOSS = 1e-4
WINDOW = 500.0
PER_RTT = 20
"""Samples a round trip: the window before a loss is at most a twentieth of a round trip old."""

SMALL_LOSS, SMALL_WINDOW = 0.02, 8.0
"""Windows of 5 to 12 packets: below 14, BIC does as Reno."""

CUBIC_C = 0.4
QUEUE_BDP = 0.5


@dataclass(frozen=True)
class Series:
    """Time, s, window and slow-start threshold, packets, of the first flow, shape (n,)."""

    time_s: Values
    cwnd: Values
    ssthresh: Values

    @property
    def losses(self) -> NDArray[np.int64]:
        """Where the threshold changes: the sample before each loss that took something."""
        falls = np.flatnonzero(np.diff(self.ssthresh) != 0)
        return falls[self.cwnd[falls] > self.ssthresh[falls + 1]]

    @property
    def decreases(self) -> Values:
        """What each loss takes of the window."""
        return 1 - self.ssthresh[self.losses + 1] / self.cwnd[self.losses]

    def growth(self) -> tuple[NDArray[np.int64], Values]:
        """Where the window grew over a round trip without a loss in it, and by how much."""
        steps = self.cwnd[PER_RTT:] - self.cwnd[:-PER_RTT]
        same = self.ssthresh[PER_RTT:] == self.ssthresh[:-PER_RTT]
        at = np.flatnonzero((steps > 0) & same)
        return at, steps[at]


def series(run: Run) -> Series:
    """The samples of the first flow."""
    assert run.flow_samples is not None, "the probe is on"  # noqa: S101
    known = run.flow_samples.drop_nulls(["cwnd_packets", "ssthresh_packets"]).sort("time_s")
    columns = (known[name].to_numpy() for name in ("time_s", "cwnd_packets", "ssthresh_packets"))
    return Series(*columns)


def _points(_: Setting) -> dict[str, Measurement]:
    """A flow of each control; BIC with small windows; H-TCP with a queue."""
    sample_s = RTT_S / PER_RTT
    scenarios = {
        **{name: lossy(name, FACTOR_LOSS, 10, WINDOW, sample_s) for name in VARIANTS},
        "small": lossy("bic", SMALL_LOSS, 200, SMALL_WINDOW, sample_s),
        "queued": with_queue("htcp"),
    }
    return {name: Measurement(f"Table 2, {name}", scenario, series) for name, scenario in scenarios.items()}


def _claims(made: Mapping[str, Series], _: Setting) -> list[Claim]:
    """Table 2, all six rows."""
    htcp, step = 1 - 1 / (1 + QUEUE_BDP), math.exp(-0.5)
    grown = {name: float(np.median(made[name].growth()[1])) for name in ("reno", "small")}
    published = (
        ("alpha of reno, packets a round trip", 1.0, grown["reno"], PAPER.within("sampled")),
        ("alpha of bic, small windows, packets a round trip", 1.0, grown["small"], PAPER.within("small_window")),
        ("alpha of scalable over cwnd", 0.01, relative_increase(made["scalable"]), PAPER.within("sampled", 0.01)),
        ("beta of htcp, 1 - RTT_min/RTT_max", htcp, np.median(made["queued"].decreases), PAPER.within("sampled", htcp)),
    )
    increase, decrease = highspeed(made["highspeed"])
    functions = (
        ("alpha of bic: a step over that before", step, binary_search(made["bic"]), PAPER.within("sampled", step)),
        ("alpha of cubic_2005: window over cub(t)", 1.0, cubic(made["cubic_2005"]), PAPER.within("sampled_often")),
        ("alpha of highspeed over inc(cwnd)", 1.0, increase, PAPER.within("sampled")),
        ("beta of highspeed over decr(cwnd)", 1.0, decrease, PAPER.within("sampled_often")),
        ("alpha of htcp over f(t)", 1.0, _htcp_alpha(made["htcp"]), PAPER.within("sampled")),
    )
    betas = (
        (
            f"beta of {name}",
            beta,
            made[name].decreases.mean(),
            PAPER.within("decrease_scalable" if name == "scalable" else "decrease", beta),
        )
        for name, beta in PAPER["decrease"].items()
    )
    rows = (
        *((row, "published") for row in (*betas, *published)),
        *((row, "theory") for row in functions),
    )
    return [
        equal(
            "table2",
            quantity,
            reference,
            exactly(float(ours)),
            within=within,
            basis="theory" if basis == "theory" else "published",
        )
        for (quantity, reference, ours, within), basis in rows
    ]


def _section(made: Mapping[str, Series], setting: Setting) -> Section:
    rows = [
        (each.quantity, f"{each.reference:.4g}" + ("" if each.theory is None else " (theory)"), f"{each.ours:.4g}")
        for each in _claims(made, setting)
    ]
    table = Table("Table 2", ("quantity", "published or theory", "ours"), rows, numbers=(1, 2))
    text = (
        "One flow that loses every 10,000th packet, at an RTT of 100 ms. The source prints numbers for Reno, for "
        "Scalable TCP, and for the betas of BIC and CUBIC, and H-TCP's beta as a formula; elsewhere it names "
        "functions, and ours are held against these."
    )
    return Section("Table 2: increase and decrease", (text,), [table])


def with_queue(control: str) -> Scenario:
    """One flow at 100 Mbit/s, and a buffer of half a bandwidth-delay product: RTT_max is 1.5 times RTT_min."""
    return Scenario.from_document(
        {
            "duration": "60 s",
            "warm_up": "20 s",
            "bottleneck": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": f"{QUEUE_BDP:g} BDP"}},
            "flows": [{"rtt": f"{RTT_S:g} s", "tcp": "rfc", "congestion_control": control}],
            "probes": {"flow_samples": f"{RTT_S / PER_RTT:g} s", "link_samples": False},
        }
    )


def relative_increase(made: Series) -> float:
    """Median increase of a round trip over the window."""
    at, steps = made.growth()
    return float(np.median(steps / made.cwnd[at]))


def binary_search(made: Series) -> float:
    """Median ratio of a round trip's growth to that of the one before, where BIC searches (1 to 30 packets)."""
    at, steps = made.growth()
    by_place = dict(zip(at.tolist(), steps.tolist(), strict=True))
    pairs = [(step, by_place.get(place + PER_RTT)) for place, step in by_place.items()]
    return float(np.median([after / step for step, after in pairs if after is not None and 2.0 < step < 30.0]))


def cubic(made: Series) -> float:
    """Median of the window over C (t - K)^3 + W_max, t since each loss.

    W_max is the window before the loss, or 0.9 times that where the window had not come back to the last W_max.
    """
    ratios, w_max = [], 0.0
    for start, end in zip(made.losses[:-1], made.losses[1:], strict=True):
        before, after = made.cwnd[start], made.ssthresh[start + 1]
        w_max = 0.9 * before if before < w_max else before
        # The first round trip after the loss is left out: fast recovery holds the window.
        since = slice(start + PER_RTT, end)
        t = made.time_s[since] - made.time_s[start] - np.cbrt((w_max - after) / CUBIC_C)
        ratios.append(made.cwnd[since] / (CUBIC_C * t**3 + w_max))
    return float(np.median(np.concatenate(ratios)))


def highspeed_decrease(window: Values) -> Values:
    """b(w) of RFC 3649 §5.

    >>> highspeed_decrease(np.array([38.0, 83_000.0])).round(6).tolist()
    [0.5, 0.1]
    """
    values: Values = 0.5 - 0.4 * np.log(window / 38) / np.log(83_000 / 38)
    return values


def highspeed_increase(window: Values) -> Values:
    """a(w) of RFC 3649 §5, packets; its appendix B has 70 at a window of 80,000 or so.

    >>> highspeed_increase(np.array([38.0, 83_000.0])).round(0).tolist()
    [1.0, 71.0]
    """
    b = highspeed_decrease(window)
    values: Values = window**2 * (0.078 / window**1.2) * 2 * b / (2 - b)
    return values


def highspeed(made: Series) -> tuple[float, float]:
    """Increase over a(w), the median, and decrease over b(w), the mean."""
    at, steps = made.growth()
    increase = np.median(steps / highspeed_increase(made.cwnd[at]))
    return float(increase), float(np.mean(made.decreases / highspeed_decrease(made.cwnd[made.losses])))


def _htcp_alpha(made: Series) -> float:
    at, steps = made.growth()
    losses = made.losses
    known = at[at > losses[0]]
    last = losses[np.searchsorted(losses, known, side="right") - 1]
    since = made.time_s[known] - made.time_s[last] + RTT_S / 2
    beta = made.ssthresh[last + 1] / made.cwnd[last]
    beyond = np.maximum(since - 1.0, 0.0)
    expected = 2 * (1 - beta) * (1 + 10 * beyond + 0.25 * beyond**2)
    return float(np.median(steps[at > losses[0]] / expected))


TABLE2 = Artefact("table2", _points, _claims, _section)
