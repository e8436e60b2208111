"""Statements of the source that need no simulation: its equations, iteration and tables, and section 5 by the model.

| symbol | name here | unit |
| --- | --- | --- |
| p^l(q) | `line`: a curve without its ends, p^max (q - min)/(max - min) | - |
| rho_1, rho_2, rho_3, rho_1^sigma, rho_3^sigma | `borders`: where the cases of eq. (10) and (11) meet | packets |

A figure without printed values is checked as in `analytic`: by the share of what was computed for which a statement
holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly
from parshall.report.document import Section, Table
from parshall.studies.study import Findings
from parshall_studies.diffserv import FixedPoint, Router, Sessions, fixed_point, router_state, session_rates
from parshall_studies.rio.analytic import CAPACITY_PER_S, TABLE_ACCESS_DELAY_S, overlapped, router, sessions
from parshall_studies.rio.network import PAPER, PROPAGATION_S, Curves
from parshall_studies.rio.simulated import LONG_RTTS_S, RESERVED_PER_S, ROUTERS

_CLOSE = 0.05
"""Below it errors are small, in the source's words."""
_IN_PROBABILITIES = np.linspace(0.0, 1.0, 11)
_OUT_PROBABILITIES = np.geomspace(0.01, 1.0, 25)
_SURFACES = {"p_in^max up to 1": 1.0, "p_in^max up to 0.1": 0.1}
"""Readings of Fig. 8, whose axes are not said."""
_BOUNDS = (0.002, 0.004, 0.006, 0.008)
"""Bounds of p_in for which a feasible region has an edge."""
_SAME = 1e-6
_FOUND = 1e-5
"""Relative distance at which an iteration has found a fixed point."""
_ROUNDS = 100
"""Rounds over all sessions; one session at a time comes nearer by a tenth in each, and slower in Tables 1 and 3."""


def findings() -> Findings:
    """The checks, and their table."""
    checks = [*_printed(), *_equations(), *_iterations(), *_annexe(), *_section_5()]
    rows = [(each.artefact, each.quantity, f"{each.reference:g}", f"{each.ours:.3g}") for each in checks]
    prose = (
        "What the source says and can be computed without a simulation: whether its equations agree with each other, "
        "whether its iteration finds the fixed point, how near to each other the two columns of its tables are, and "
        "what section 5 states of its model.",
    )
    table = Table("", ("where", "statement", "published", "ours"), rows, numbers=(2, 3))
    return Findings(checks, [Section("Statements of the text", prose, tables=[table])])


# --- sections 4.1 to 4.3: printed against printed


def _printed() -> Iterator[Claim]:
    """Model and simulation as printed: close in each table, within 5 % in most cases."""
    within: list[bool] = []
    for table, model in PAPER.group("analytic").items():
        measured = PAPER.group("simulated")[table]
        close = [abs(model[name] / measured[name] - 1) < _CLOSE for name in model]
        within += close
        if table != "table2":
            quantity = f"printed quantities whose two columns are within {100 * _CLOSE:g} %"
            yield equal(table, quantity, len(close), exactly(sum(close)), note="model over simulation less 1")
    share = exactly(float(np.mean(within)) - 0.5)
    note = f"{sum(within)} of {len(within)}; published: in most cases"
    yield sign(
        "section4",
        f"printed pairs of model and simulation within {100 * _CLOSE:g} %, share less a half",
        1,
        share,
        note,
    )
    rtts = np.asarray(PROPAGATION_S)
    yield _share("section4", "propagation RTTs are between 100 and 300 ms", [(rtts >= 0.1) & (rtts <= 0.3)])
    states = np.arange(101.0)
    curves = ROUTERS["table2"]
    all_out, some_in = states >= curves.out_max, states > curves.in_min
    yield _share("section4", "out packets are all lost before an in packet is, not overlapped", [all_out[some_in]])


# --- section 3.2: equations against each other


def line(states: FloatArray, low: float, high: float, most: float) -> FloatArray:
    """A curve of drop probabilities without its ends: p^l of §3.2."""
    return most * (states - low) / (high - low)


def _equations() -> Iterator[Claim]:
    """Eq. (4) beside (5), (6) beside (7), and the line at the mean queue, of the three routers of section 4."""
    apart: dict[str, list[float]] = {"in": [], "out": []}
    below, differs = [], []
    for curves in ROUTERS.values():
        for name, lost, transformed, at_mean in _losses(curves):
            apart[name].append(abs(transformed / lost - 1))
            below.append(at_mean <= lost)
            differs.append(abs(at_mean / lost - 1) > _SAME)
    for name, equations in (("in", "(4) and (5)"), ("out", "(6) and (7)")):
        quantity = f"largest distance of the two forms of eq. {equations}"
        yield _none("section3", quantity, max(apart[name]), "rounding", "relative")
    yield _share("section3", "the line at the mean queue is not above the mean loss", [np.array(below)])
    yield _share("section3", "the line at the mean queue differs from the mean loss", [np.array(differs)])


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
    yield _none("section3", quantity, distances["table2"][1], "found", note)
    diverging = np.array([first > _FOUND for first, *_ in distances.values()])
    yield _share("section3", "moving all sessions at once does not converge", [diverging])


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
    for name, distance in borders(p_in, p_out, burst).items():
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


# --- section 5 by the model


def _section_5() -> Iterator[Claim]:
    yield from _of_section_4s_network()
    yield from _of_the_surface()
    yield from _of_classes()


def _of_section_4s_network() -> Iterator[Claim]:
    """§5.1 of section 4.1's hundred sessions."""
    solved = fixed_point(sessions(), overlapped(0.01, 0.06))
    yield _share(
        "section5",
        f"a session of section 4.1 reaches {RESERVED_PER_S:g} packets/s",
        [solved.session_per_s >= RESERVED_PER_S],
    )
    product = solved.session_per_s * solved.session_rtt_s
    apart = float(np.max(np.abs(product / product.mean() - 1)))
    note = f"a token bucket gives the same rate at each RTT; from {product.min():.3g} to {product.max():.3g} packets"
    quantity = "largest distance of rate times RTT from its mean over the sessions"
    yield _none("section5", quantity, apart, "close", note)
    yield _share("section5", "out packets a second fall with the RTT", [np.diff(solved.session_out_per_s) < 0])


def _of_the_surface() -> Iterator[Claim]:
    """§5.2 and §5.3 over p_in^max and p_out^max, with five sessions of long RTTs."""
    solved = fixed_point(sessions(LONG_RTTS_S), overlapped(_IN_PROBABILITIES[:, None], _OUT_PROBABILITIES))
    used, lost = solved.utilisation[..., 0], solved.loss_in[..., 0]
    for reading, most in _SURFACES.items():
        yield _steeper(most, reading)
    yield _share("fig8", "a lower p_out^max raises utilisation", [np.diff(used, axis=1) < 0])
    longest = solved.session_per_s[..., -1]
    yield _share(
        "section5",
        "the p_out^max of the best utilisation is the worst for the longest session",
        [used.argmax(axis=1) == longest.argmin(axis=1)],
    )
    best = [used[0] >= used.max(axis=0) - _SAME, lost[0] <= lost.min(axis=0) + _SAME]
    yield _share("section5", "p_in^max = 0 is the best, by utilisation and by p_in", best)
    reached = solved.session_per_s >= RESERVED_PER_S
    yield _share("section5", "a lower p_in^max takes no session below 40 packets/s", [reached[:-1] | ~reached[1:]])
    yield from _of_the_edge()


def _steeper(most: float, reading: str) -> Claim:
    """Whether p_out^max from 0.01 to 1 moves the queue more than p_in^max from 0 to `most` does."""
    inside, outside = np.linspace(0.0, most, 21), np.linspace(0.01, 1.0, 25)
    queue = fixed_point(sessions(), overlapped(inside[:, None], outside)).queue_packets[..., 0]
    by_out, by_in = float(np.ptp(queue, axis=1).mean()), float(np.ptp(queue, axis=0).mean())
    quantity = "range of the mean queue with p_out^max less that with p_in^max"
    note = f"{by_out:.1f} and {by_in:.1f} packets, means over the other one"
    return sign("fig8", quantity, 1, exactly(by_out - by_in), note, reading=reading)


def _of_the_edge() -> Iterator[Claim]:
    """§5.3, Fig. 11: the best feasible pair, for each bound."""
    solved = fixed_point(sessions(), overlapped(_IN_PROBABILITIES[:, None], _OUT_PROBABILITIES))
    used, lost = solved.utilisation[..., 0], solved.loss_in[..., 0]
    at_edge, falls = [], []
    for bound in _BOUNDS:
        feasible = lost <= bound
        row, column = np.unravel_index(np.where(feasible, used, -1.0).argmax(), used.shape)
        at_edge.append(column == 0 or not feasible[row, column - 1])
        edge = [_crossing(lost[k], used[k], bound) for k in range(len(used)) if lost[k, -1] <= bound < lost[k, 0]]
        falls.append(np.argmax(edge) == 0)
    yield _share("fig11", "the feasible pair of the best utilisation is at the edge", [np.array(at_edge)])
    yield _share("fig11", "utilisation along the edge is best at p_in^max = 0", [np.array(falls)])


def _crossing(lost: FloatArray, used: FloatArray, bound: float) -> float:
    """Utilisation where p_in falls to a bound along p_out^max."""
    return float(np.interp(-bound, -lost, used))


def _of_classes() -> Iterator[Claim]:
    """§5.3: a class of sessions of one RTT, and one of unequal sessions."""
    equal = Sessions(np.full(100, 0.2), RESERVED_PER_S, 20)
    solved = fixed_point(equal, overlapped(0.01, _OUT_PROBABILITIES))
    best = solved.session_per_s[int(solved.utilisation[:, 0].argmax())]
    label = "sessions of one RTT all reach 40 packets/s at the p_out^max of the best utilisation"
    yield _share("section5", label, [best >= RESERVED_PER_S])
    low, high = (_reaching(fixed_point(sessions(LONG_RTTS_S), overlapped(0.01, each))) for each in (0.06, 1.0))
    label = "unequal sessions reach 40 packets/s more often at p_out^max = 1 than at 0.06"
    yield _share("section5", label, [np.array([high > low])], f"{low} and {high} of {100 + len(LONG_RTTS_S)}")


def _reaching(solved: FixedPoint) -> int:
    return int(np.sum(solved.session_per_s >= RESERVED_PER_S))


def _none(artefact: str, quantity: str, distance: float, tolerance: str, note: str) -> Claim:
    """A distance that is to be none; of other formulas it is of the order of the values."""
    other = Null("of the order of the values", exactly(1.0))
    return equal(artefact, quantity, 0.0, exactly(distance), within=PAPER.within(tolerance), note=note, nulls=[other])


def _share(artefact: str, label: str, parts: Sequence[NDArray[np.bool_]], note: str = "") -> Claim:
    share = float(np.mean(np.concatenate([np.ravel(part) for part in parts])))
    return equal(artefact, f"share of what we computed for which {label}", 1.0, exactly(share), note=note)
