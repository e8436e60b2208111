"""The source's equations beside each other, its iteration, and where the cases of its annexe meet.

| symbol | name here | unit |
| --- | --- | --- |
| p^l(q) | `line`: a curve without its ends, p^max (q - min)/(max - min) | - |
| rho_1, rho_2, rho_3, rho_1^sigma, rho_3^sigma | `borders`: where the cases of eq. (10) and (11) meet | packets |

References: N. Malouch, Z. Liu, INRIA RR-4469, 2002, §3.2, §3.3, annexe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from parshall.models.diffserv import Router, Sessions, fixed_point, router_state, session_rates
from parshall.models.inputs import FloatArray
from parshall.stats.claim_rules import equal
from parshall.stats.claims import Claim, Null
from parshall.stats.region import exactly
from parshall.studies.rio.analytic import CAPACITY_PER_S, TABLE_ACCESS_DELAY_S, router, sessions
from parshall.studies.rio.network import PAPER, Curves
from parshall.studies.rio.simulated import RESERVED_PER_S, ROUTERS

_SAME = PAPER.within("rounding").value
_ROUNDS = 100
"""Rounds over all sessions; one session at a time comes nearer by a tenth in each, and slower in Tables 1 and 3."""


def checks() -> Iterator[Claim]:
    """All of them."""
    yield from _equations()
    yield from _iterations()
    yield from _annexe()


# --- section 3.2: equations against each other


def line(states: FloatArray, low: float, high: float, most: float) -> FloatArray:
    """A curve of drop probabilities without its ends: p^l of §3.2."""
    return most * (states - low) / (high - low)


def _equations() -> Iterator[Claim]:
    """Eq. (4) beside (5), (6) beside (7), and the line at the mean queue, of the three routers of section 4."""
    apart: dict[str, list[float]] = {"in": [], "out": []}
    by_line: dict[str, list[float]] = {"in": [], "out": []}
    below, differs = [], []
    for curves in ROUTERS.values():
        for name, lost, transformed, at_mean in _losses(curves):
            apart[name].append(abs(transformed / lost - 1))
            by_line[name].append(abs(at_mean / lost - 1))
            below.append(at_mean <= lost)
            differs.append(abs(at_mean / lost - 1) > _SAME)
    for name, equations in (("in", "(4) and (5)"), ("out", "(6) and (7)")):
        quantity = f"largest distance of the two forms of eq. {equations}"
        yield equal(
            "section3",
            quantity,
            0.0,
            exactly(max(apart[name])),
            within=PAPER.within("rounding"),
            note="relative",
            nulls=[Null("the line at the mean queue alone", exactly(max(by_line[name])))],
        )
    yield share_of("section3", "the line at the mean queue is not above the mean loss", [np.array(below)])
    yield share_of("section3", "the line at the mean queue differs from the mean loss", [np.array(differs)])


def _losses(curves: Curves) -> Iterator[tuple[str, float, float, float]]:
    """Of each class: eq. (4) or (6), eq. (5) or (7), and p^l of the mean queue."""
    solved = fixed_point(sessions(access_delay_s=TABLE_ACCESS_DELAY_S), router(curves))
    state = router_state(router(curves), solved.load_in_per_s[0], solved.load_out_per_s[0])
    pi = state.state_probabilities
    states = np.arange(pi.size, dtype=np.float64)
    queue = float(state.queue_packets)
    for name, low, high, most, lost in (
        ("in", curves.in_min, curves.in_max, curves.in_probability, state.loss_in),
        ("out", curves.out_min, curves.out_max, curves.out_probability, state.loss_out),
    ):
        values = line(states, low, high, most)
        at_mean = float(line(np.array(queue), low, high, most))
        transformed = at_mean - float(values[: low + 1] @ pi[: low + 1]) + float((1 - values[high:]) @ pi[high:])
        yield name, float(lost), transformed, at_mean


# --- section 3.3: the iteration


def _iterations() -> Iterator[Claim]:
    """One session at a time, as printed, and all at once, which the source calls a source of oscillations."""
    given = sessions(access_delay_s=TABLE_ACCESS_DELAY_S)
    distances = {
        table: [
            _distance(given, router(curves), at_once) for at_once in ((True, False) if table == "table2" else (True,))
        ]
        for table, curves in ROUTERS.items()
    }
    quantity = "distance of the source's iteration from the fixed point"
    note = f"largest relative one of a session's rate, Table 2, {_ROUNDS} rounds from equal shares of the capacity"
    found = PAPER.within("found")
    at_once, one = (exactly(each) for each in distances["table2"])
    yield equal("section3", quantity, 0.0, one, within=found, note=note, nulls=[Null("all at once", at_once)])
    diverging = np.array([first > found.value for first, *_ in distances.values()])
    yield share_of("section3", "moving all sessions at once does not converge", [diverging])


def _distance(given: Sessions, router: Router, at_once: bool) -> float:
    exact = fixed_point(given, router).session_per_s
    return float(np.max(np.abs(_iterated(given, router, at_once=at_once) / exact - 1)))


def _iterated(given: Sessions, router: Router, *, at_once: bool) -> FloatArray:
    """T^i after many rounds of Fig. 3 from equal shares of the capacity, all of it *in*."""
    propagation_s = np.asarray(given.rtt_s) + TABLE_ACCESS_DELAY_S
    rates = np.zeros((2, given.count))
    rates[0] = CAPACITY_PER_S / given.count
    turns = [np.arange(given.count)] if at_once else list(np.arange(given.count)[:, None])
    for _ in range(_ROUNDS):
        for moved in turns:
            state = router_state(router, *rates.sum(axis=1))
            rtt_s = propagation_s[moved] + (state.queue_packets + 1) / CAPACITY_PER_S  # eq. (8)
            sent = session_rates(state.loss_in, state.loss_out, rtt_s, RESERVED_PER_S, 20)
            rates[:, moved] = sent.in_per_s, sent.out_per_s
    return np.asarray(rates.sum(axis=0))


# --- the annexe: where the cases of eq. (10) and (11) meet


def _annexe() -> Iterator[Claim]:
    """Each printed border beside what it is the border of, over losses and buckets."""
    draws = np.random.default_rng(1)
    p_out = 10 ** draws.uniform(-3, -1, 1000)
    p_in = p_out * draws.uniform(0.01, 1, 1000)
    burst = draws.uniform(1, 20, 1000)
    other = borders(p_in, p_out, burst, moved=1.1)
    for name, distance in borders(p_in, p_out, burst).items():
        quantity = f"largest distance of a border from its printed place: {name}"
        yield equal(
            "annexe",
            quantity,
            0.0,
            exactly(float(np.max(np.abs(distance)))),
            within=PAPER.within("rounding"),
            note="packets",
            nulls=[Null("a border that is a tenth higher", exactly(float(np.max(np.abs(other[name])))))],
        )


def borders(p_in: FloatArray, p_out: FloatArray, burst: FloatArray, *, moved: float = 1.0) -> dict[str, FloatArray]:
    """What is 0 at each printed border, times `moved`.

    The windows of the cases are W with p_in S_in + p_out S_out = 1: `spent` of a bucket that never fills, `unspent` of
    one that never runs empty, and `after` of one that is full at the beginning.
    """
    delta, mixed, filled = p_out - p_in, 2 * p_in + p_out, np.sqrt(2 * burst)
    unspent = np.sqrt(8 / (3 * p_in))

    def spent(rho: FloatArray) -> FloatArray:
        return (rho * delta + np.sqrt((rho * delta) ** 2 + 6 * p_out)) / (1.5 * p_out)

    def after(rho: FloatArray) -> FloatArray:
        half = rho * delta / 2
        return (half + np.sqrt(half**2 + 1.5 * p_out * (burst * delta + 1))) / (0.75 * p_out)

    rho_1 = (filled * (2 * p_out + p_in) + np.sqrt(2 * burst * delta**2 + 2 * mixed)) / mixed
    rho_2, rho_3 = unspent - filled, np.sqrt(3 / (2 * p_in))
    rho_1_full, rho_3_full = np.sqrt(2 * burst * delta + 2) / np.sqrt(mixed), rho_3 * (1 - p_in * burst)
    rho_1, rho_2, rho_3, rho_1_full, rho_3_full = (
        moved * each for each in (rho_1, rho_2, rho_3, rho_1_full, rho_3_full)
    )
    return {
        "rho_1, the bucket just fills": rho_1 - spent(rho_1) / 2 - filled,
        "rho_2, the last out packet goes": unspent - rho_2 - filled,
        "rho_3, no out packets in the first case": spent(rho_3) - unspent,
        "rho_1^sigma, half of the window is rho": after(rho_1_full) / 2 - rho_1_full,
        "rho_3^sigma, no out packets after a timeout": after(rho_3_full) - unspent,
    }


def share_of(artefact: str, label: str, parts: Sequence[NDArray[np.bool_]], note: str = "") -> Claim:
    """The claim that a statement holds for all of what was computed."""
    share = float(np.mean(np.concatenate([np.ravel(part) for part in parts])))
    return equal(artefact, f"share of what we computed for which {label}", 1.0, exactly(share), note=note)
