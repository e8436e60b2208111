"""Statements of the source that need no simulation: of its tables' two columns, and of section 5 by the model.

A figure without printed values is checked as in `analytic`: by the share of what was computed for which a statement
holds. What the source says of its equations and iteration is in `equations`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from parshall.models.diffserv import FixedPoint, Sessions, fixed_point
from parshall.models.inputs import FloatArray
from parshall.report.document import Section, Table
from parshall.stats.claim_rules import equal, sign
from parshall.stats.claims import Claim, Null
from parshall.stats.region import exactly
from parshall.studies.rio import equations
from parshall.studies.rio.analytic import overlapped, sessions
from parshall.studies.rio.equations import share_of
from parshall.studies.rio.network import PAPER, PROPAGATION_S
from parshall.studies.rio.simulated import LONG_RTTS_S, RESERVED_PER_S, ROUTERS
from parshall.studies.study import Findings

_CLOSE = PAPER.within("close").value
_IN_PROBABILITIES = np.linspace(0.0, 1.0, 11)
_OUT_PROBABILITIES = np.geomspace(0.01, 1.0, 25)
_SURFACES = {"p_in^max up to 1": 1.0, "p_in^max up to 0.1": 0.1}
"""Readings of Fig. 8, whose axes are not said."""
_BOUNDS = (0.002, 0.004, 0.006, 0.008)
"""Bounds of p_in for which a feasible region has an edge."""
_SAME = PAPER.within("rounding").value


def findings() -> Findings:
    """The checks, and their table."""
    checks = [*_printed(), *equations.checks(), *_section_5()]
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
    yield share_of("section4", "propagation RTTs are between 100 and 300 ms", [(rtts >= 0.1) & (rtts <= 0.3)])
    states = np.arange(101.0)
    curves = ROUTERS["table2"]
    all_out, some_in = states >= curves.out_max, states > curves.in_min
    yield share_of("section4", "out packets are all lost before an in packet is, not overlapped", [all_out[some_in]])


# --- section 5 by the model


def _section_5() -> Iterator[Claim]:
    yield from _of_section_4s_network()
    yield from _of_the_surface()
    yield from _of_classes()


def _of_section_4s_network() -> Iterator[Claim]:
    """§5.1 of section 4.1's hundred sessions."""
    solved = fixed_point(sessions(), overlapped(0.01, 0.06))
    yield share_of(
        "section5",
        f"a session of section 4.1 reaches {RESERVED_PER_S:g} packets/s",
        [solved.session_per_s >= RESERVED_PER_S],
    )
    product = solved.session_per_s * solved.session_rtt_s
    apart = float(np.max(np.abs(product / product.mean() - 1)))
    note = f"a token bucket gives the same rate at each RTT; from {product.min():.3g} to {product.max():.3g} packets"
    quantity = "largest distance of rate times RTT from its mean over the sessions"
    rtts_s = solved.session_rtt_s
    equal_rates = exactly(float(np.max(np.abs(rtts_s / rtts_s.mean() - 1))))
    yield equal(
        "section5",
        quantity,
        0.0,
        exactly(apart),
        within=PAPER.within("close"),
        note=note,
        nulls=[Null("equal rates of all sessions", equal_rates)],
    )
    yield share_of("section5", "out packets a second fall with the RTT", [np.diff(solved.session_out_per_s) < 0])


def _of_the_surface() -> Iterator[Claim]:
    """§5.2 and §5.3 over p_in^max and p_out^max, with five sessions of long RTTs."""
    solved = fixed_point(sessions(LONG_RTTS_S), overlapped(_IN_PROBABILITIES[:, None], _OUT_PROBABILITIES))
    used, lost = solved.utilisation[..., 0], solved.loss_in[..., 0]
    for reading, most in _SURFACES.items():
        yield _steeper(most, reading)
    yield share_of("fig8", "a lower p_out^max raises utilisation", [np.diff(used, axis=1) < 0])
    longest = solved.session_per_s[..., -1]
    yield share_of(
        "section5",
        "the p_out^max of the best utilisation is the worst for the longest session",
        [used.argmax(axis=1) == longest.argmin(axis=1)],
    )
    best = [used[0] >= used.max(axis=0) - _SAME, lost[0] <= lost.min(axis=0) + _SAME]
    yield share_of("section5", "p_in^max = 0 is the best, by utilisation and by p_in", best)
    reached = solved.session_per_s >= RESERVED_PER_S
    yield share_of("section5", "a lower p_in^max takes no session below 40 packets/s", [reached[:-1] | ~reached[1:]])
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
    yield share_of("fig11", "the feasible pair of the best utilisation is at the edge", [np.array(at_edge)])
    yield share_of("fig11", "utilisation along the edge is best at p_in^max = 0", [np.array(falls)])


def _crossing(lost: FloatArray, used: FloatArray, bound: float) -> float:
    """Utilisation where p_in falls to a bound along p_out^max."""
    return float(np.interp(-bound, -lost, used))


def _of_classes() -> Iterator[Claim]:
    """§5.3: a class of sessions of one RTT, and one of unequal sessions."""
    equal = Sessions(np.full(100, 0.2), RESERVED_PER_S, 20)
    solved = fixed_point(equal, overlapped(0.01, _OUT_PROBABILITIES))
    best = solved.session_per_s[int(solved.utilisation[:, 0].argmax())]
    label = "sessions of one RTT all reach 40 packets/s at the p_out^max of the best utilisation"
    yield share_of("section5", label, [best >= RESERVED_PER_S])
    low, high = (_reaching(fixed_point(sessions(LONG_RTTS_S), overlapped(0.01, each))) for each in (0.06, 1.0))
    label = "unequal sessions reach 40 packets/s more often at p_out^max = 1 than at 0.06"
    yield share_of("section5", label, [np.array([high > low])], f"{low} and {high} of {100 + len(LONG_RTTS_S)}")


def _reaching(solved: FixedPoint) -> int:
    return int(np.sum(solved.session_per_s >= RESERVED_PER_S))
