"""Statements of sections 3 and 4 and of the annexe that need no simulation: equations, iteration, tables, borders.

| symbol | name here | unit |
| --- | --- | --- |
| p^l(q) | `line`: a curve without its ends, p^max (q - min)/(max - min) | - |
| rho_1, rho_2, rho_3, rho_1^sigma, rho_3^sigma | `borders`: where the cases of eq. (10) and (11) meet | packets |

References: Malouch & Liu, INRIA RR-4469, 2002.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly
from parshall.studies.artefact import Answers, Artefact
from parshall.studies.study import Case
from parshall_studies.diffserv import router_state, session_rates
from parshall_studies.rio.section5 import holds
from parshall_studies.rio.setting import (
    BURST_PACKETS,
    CAPACITY_PER_S,
    PAPER,
    RESERVED_PER_S,
    ROUTERS,
    RTTS_S,
    Curves,
    Model,
    Setting,
    router_of,
)

_CLOSE = PAPER.within("close").value
_ACCESS_S = PAPER.number("table_access_delay")
_SAME = PAPER.within("rounding").value
_FOUND = PAPER.within("found").value
_ROUNDS = 100
"""Rounds over all sessions; one session at a time comes nearer by a tenth in each, and slower in Tables 1 and 3."""


def points(setting: Setting) -> dict[str, Case]:
    """The claims, which depend on the formulas alone."""
    return {"claims": Case("statements of the text", computed, (setting.model,))}


@cache
def computed(model: Model) -> list[Claim]:
    """The claims by a reading of the formulas."""
    return [*_printed(), *_equations(model), *_iterations(model), *_annexe()]


def claims(answers: Answers, _: Setting) -> list[Claim]:
    """The claims."""
    found: list[Claim] = answers["claims"]
    return found


# --- sections 4.1 to 4.3: printed against printed


def _printed() -> Iterator[Claim]:
    """Model and simulation as printed: close in each table, within 5 % in most cases."""
    within: list[bool] = []
    percent = f"within {100 * _CLOSE:g} %"
    for table, model in PAPER.group("analytic").items():
        close = [abs(model[name] / each - 1) < _CLOSE for name, each in PAPER[f"simulated.{table}"].items()]
        within += close
        if table != "table2":
            quantity = f"printed quantities whose two columns are {percent}"
            yield equal(table, quantity, len(close), exactly(sum(close)), note="model over simulation less 1")
    share = exactly(float(np.mean(within)) - 0.5)
    note = f"{sum(within)} of {len(within)}; published: in most cases"
    yield sign("section4", f"printed pairs of model and simulation {percent}, share less a half", 1, share, note)
    rtts = np.asarray(RTTS_S)
    yield holds("section4", "propagation RTTs are between 100 and 300 ms", [(rtts >= 0.1) & (rtts <= 0.3)])
    states, curves = np.arange(101.0), ROUTERS["table2"]
    all_out = (states >= curves.out_max)[states > curves.in_min]
    yield holds("section4", "out packets are all lost before an in packet is, not overlapped", [all_out])


# --- section 3.2: equations against each other


def line(states: FloatArray, low: float, high: float, most: float) -> FloatArray:
    """A curve of drop probabilities without its ends: p^l of §3.2."""
    return most * (states - low) / (high - low)


def _equations(model: Model) -> Iterator[Claim]:
    """Eq. (4) beside (5), (6) beside (7), and the line at the mean queue, of the three routers of section 4."""
    found = [each for table, curves in ROUTERS.items() for each in _losses(model, table, curves)]
    for name, equations in (("in", "(4) and (5)"), ("out", "(6) and (7)")):
        apart = max(abs(transformed / lost - 1) for kind, lost, transformed, _ in found if kind == name)
        yield _none("section3", f"largest distance of the two forms of eq. {equations}", apart, "rounding", "relative")
    below = np.array([at_mean <= lost for _, lost, _, at_mean in found])
    differs = np.array([abs(at_mean / lost - 1) > _SAME for _, lost, _, at_mean in found])
    yield holds("section3", "the line at the mean queue is not above the mean loss", [below])
    yield holds("section3", "the line at the mean queue differs from the mean loss", [differs])


def _losses(model: Model, table: str, curves: Curves) -> Iterator[tuple[str, float, float, float]]:
    """Of each class: eq. (4) or (6), eq. (5) or (7), and p^l of the mean queue."""
    solved = model.in_table(table, _ACCESS_S)
    state = router_state(router_of(curves), solved.load_in_per_s[0], solved.load_out_per_s[0])
    pi = state.state_probabilities
    states, queue = np.arange(pi.size, dtype=np.float64), np.array(float(state.queue_packets))
    for name, low, high, most, lost in (
        ("in", curves.in_min, curves.in_max, curves.in_probability, state.loss_in),
        ("out", curves.out_min, curves.out_max, curves.out_probability, state.loss_out),
    ):
        values, at_mean = line(states, low, high, most), float(line(queue, low, high, most))
        transformed = at_mean - float(values[: low + 1] @ pi[: low + 1]) + float((1 - values[high:]) @ pi[high:])
        yield name, float(lost), transformed, at_mean


# --- section 3.3: the iteration


def _iterations(model: Model) -> Iterator[Claim]:
    """One session at a time, as printed, and all at once, which the source calls a source of oscillations."""
    quantity = "distance of the source's iteration from the fixed point"
    note = f"largest relative one of a session's rate, Table 2, {_ROUNDS} rounds from equal shares of the capacity"
    yield _none("section3", quantity, _distance(model, "table2", at_once=False), "found", note)
    diverging = np.array([_distance(model, table, at_once=True) > _FOUND for table in ROUTERS])
    yield holds("section3", "moving all sessions at once does not converge", [diverging])


def _distance(model: Model, table: str, *, at_once: bool) -> float:
    exact = model.in_table(table, _ACCESS_S).session_per_s
    return float(np.max(np.abs(_iterated(model, table, at_once=at_once) / exact - 1)))


def _iterated(model: Model, table: str, *, at_once: bool) -> FloatArray:
    """T^i after many rounds of Fig. 3 from equal shares of the capacity, all of it *in*."""
    router, count = router_of(ROUTERS[table]), len(RTTS_S)
    propagation_s = np.asarray(RTTS_S) + _ACCESS_S
    rates = np.zeros((2, count))
    rates[0] = CAPACITY_PER_S / count
    turns = [np.arange(count)] if at_once else list(np.arange(count)[:, None])
    for _ in range(_ROUNDS):
        for moved in turns:
            state = router_state(router, *rates.sum(axis=1))
            rtt_s = propagation_s[moved] + (state.queue_packets + model.own_service) / CAPACITY_PER_S  # eq. (8)
            losses = state.loss_in, state.loss_out
            sent = session_rates(*losses, rtt_s, RESERVED_PER_S, BURST_PACKETS, formulas=model.formulas)
            rates[:, moved] = sent.in_per_s, sent.out_per_s
    return np.asarray(rates.sum(axis=0))


# --- the annexe: where the cases of eq. (10) and (11) meet


def _annexe() -> Iterator[Claim]:
    """Each printed border beside what it is the border of, over losses and buckets."""
    draws = np.random.default_rng(1)
    p_out = 10 ** draws.uniform(-3, -1, 1000)
    p_in = p_out * draws.uniform(0.01, 1, 1000)
    for name, distance in borders(p_in, p_out, draws.uniform(1, 20, 1000)).items():
        quantity = f"largest distance of a border from its printed place: {name}"
        yield _none("annexe", quantity, float(np.max(np.abs(distance))), "rounding", "packets")


def borders(p_in: FloatArray, p_out: FloatArray, burst: FloatArray) -> dict[str, FloatArray]:
    """The value that is 0 at each printed border.

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
    return {
        "rho_1, the bucket just fills": rho_1 - spent(rho_1) / 2 - filled,
        "rho_2, the last out packet goes": unspent - rho_2 - filled,
        "rho_3, no out packets in the first case": spent(rho_3) - unspent,
        "rho_1^sigma, half of the window is rho": after(rho_1_full) / 2 - rho_1_full,
        "rho_3^sigma, no out packets after a timeout": after(rho_3_full) - unspent,
    }


def _none(artefact: str, quantity: str, distance: float, tolerance: str, note: str) -> Claim:
    """A distance that is to be none; of other formulas it is of the order of the values."""
    other = Null("of the order of the values", exactly(1.0))
    return equal(artefact, quantity, 0.0, exactly(distance), within=PAPER.within(tolerance), note=note, nulls=[other])


ARTEFACT: Artefact[Setting] = Artefact("statements", points, claims)
