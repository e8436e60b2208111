"""Solving the fixed point in two unknowns a router: its offered load and the share of *in* packets in it.

Everything else follows from these two (`network.Network.round`), so a thousand sessions are no harder than one, and the
oscillations of updating one session at a time do not arise. Three ways, each for the rows that the one before left:

1. Newton's method on log(T/C) and T_in/T with a Jacobian of differences, steps limited and halved until the
   residual falls;
2. damped substitution, then Newton again; Newton from other loads;
3. for one router, two nested bisections: at a given share the offered load falls as losses grow, so that one load
   fits, and between the shares 0 and 1 one fits, if the rates are continuous.

A row that none of them brings below the tolerance is said not to have converged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall_studies.diffserv.network import RouterNetwork, Rows

_LEAST_LOAD = 1e-12
_LONGEST_STEP = np.log(4.0)
_HALVINGS = 6
_DAMPING = 0.1
_SUBSTITUTIONS = 200
_OTHER_STARTS = ((0.5, 0.5), (1.2, 0.1), (0.9, 0.9))
"""T/C and T_in/T of every router."""


@dataclass
class SolverPoint:
    """The state of the rows: unknowns of shape (rows, 2 routers), their mismatch, iterations made."""

    unknowns: FloatArray
    wrong: FloatArray
    iterations: FloatArray

    @property
    def residual(self) -> FloatArray:
        """The largest mismatch of a row."""
        return np.asarray(np.abs(self.wrong).max(axis=1))


def solve(network: RouterNetwork, start: FloatArray, *, tolerance: float, most_iterations: int) -> SolverPoint:
    """Find the unknowns, (log(T/C), T_in/T) of each router in turn, that reproduce themselves."""
    start = np.array(start, dtype=np.float64)
    point = SolverPoint(start, mismatch(network, start), np.zeros(start.shape[0]))
    _newton(network, point, tolerance, most_iterations)
    if (left := _left(point, tolerance)).size:
        part = _part(point, left)
        _substitute(network.rows(left), part)
        _newton(network.rows(left), part, tolerance, most_iterations)
        _put(point, left, part)
    for load, share in _OTHER_STARTS:
        if (left := _left(point, tolerance)).size:
            other = np.tile([np.log(load), share], (left.size, start.shape[1] // 2))
            here = network.rows(left)
            part = SolverPoint(other, mismatch(here, other), point.iterations[left])
            _newton(here, part, tolerance, most_iterations)
            _put(point, left, part)
    if start.shape[1] == 2 and (left := _left(point, tolerance)).size:
        part = _part(point, left)
        _bisect(network.rows(left), part, tolerance)
        _newton(network.rows(left), part, tolerance, 3)
        _put(point, left, part)
    return point


def mismatch(network: RouterNetwork, unknowns: FloatArray) -> FloatArray:
    """Return the distance of each unknown from the one that it leads to."""
    log_load, mix = unknowns[:, 0::2], unknowns[:, 1::2]
    answer = network.round(log_load, mix)
    total = answer.load_in + answer.load_out
    wrong = np.empty_like(unknowns)
    wrong[:, 0::2] = np.log(np.maximum(total / network.capacity, _LEAST_LOAD)) - log_load
    wrong[:, 1::2] = np.divide(answer.load_in, total, out=mix.copy(), where=total > 0) - mix
    return wrong


def _left(point: SolverPoint, tolerance: float) -> Rows:
    return np.flatnonzero(~(point.residual <= tolerance))


def _part(point: SolverPoint, rows: Rows) -> SolverPoint:
    return SolverPoint(point.unknowns[rows], point.wrong[rows], point.iterations[rows])


def _put(point: SolverPoint, rows: Rows, part: SolverPoint) -> None:
    better = (part.residual < point.residual[rows]) | np.isnan(point.residual[rows])
    point.unknowns[rows[better]] = part.unknowns[better]
    point.wrong[rows[better]] = part.wrong[better]
    point.iterations[rows] = part.iterations


def _newton(network: RouterNetwork, point: SolverPoint, tolerance: float, most: int) -> None:
    active = np.arange(point.iterations.size)
    for _ in range(most):
        active = active[~(point.residual[active] <= tolerance)]
        if not active.size:
            return
        here = network.rows(active)
        x, wrong = point.unknowns[active], point.wrong[active]
        step = _step(here, x, wrong)
        squared = _squared_residual(wrong)
        trying, size = np.arange(active.size), np.ones(active.size)
        for _ in range(_HALVINGS):
            trial = _inside(x[trying] + size[trying, None] * step[trying])
            then = mismatch(here.rows(trying), trial)
            improved = _squared_residual(then) < squared[trying]
            rows = active[trying[improved]]
            point.unknowns[rows], point.wrong[rows] = trial[improved], then[improved]
            trying = trying[~improved]
            if not trying.size:
                break
            size[trying] *= 0.25
        point.iterations[active] += 1
        active = np.delete(active, trying)  # no way down along the step: left for the next method


def _step(network: RouterNetwork, x: FloatArray, wrong: FloatArray) -> FloatArray:
    """Newton's step, at most `_LONGEST_STEP` long."""
    rows, unknowns = x.shape
    nudge = np.full_like(x, 1e-7)
    nudge[:, 1::2] = np.where(x[:, 1::2] > 0.5, -1e-7, 1e-7)
    moved = np.repeat(x[None], unknowns, axis=0)
    for j in range(unknowns):
        moved[j, :, j] += nudge[:, j]
    every = network.rows(np.tile(np.arange(rows), unknowns))
    there = mismatch(every, moved.reshape(-1, unknowns)).reshape(unknowns, rows, unknowns)
    jacobian = np.moveaxis((there - wrong) / nudge.T[:, :, None], 0, 2)
    jacobian = np.where(np.isfinite(jacobian), jacobian, 0.0)
    singular = ~(np.abs(np.linalg.det(jacobian)) > 1e-30)
    jacobian[singular] = -np.eye(unknowns)  # substitution
    step = -np.linalg.solve(jacobian, wrong[:, :, None])[:, :, 0]
    longest = np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300)
    return np.asarray(step * np.minimum(1.0, _LONGEST_STEP / longest))


def _inside(x: FloatArray) -> FloatArray:
    x[:, 0::2] = np.clip(x[:, 0::2], np.log(_LEAST_LOAD), 50.0)
    x[:, 1::2] = np.clip(x[:, 1::2], 0.0, 1.0)
    return x


def _squared_residual(wrong: FloatArray) -> FloatArray:
    return np.asarray(np.nan_to_num(wrong * wrong, nan=np.inf).sum(axis=1))


def _substitute(network: RouterNetwork, point: SolverPoint) -> None:
    """Go a small part of the way to what the unknowns lead to, and keep the best."""
    x, wrong = point.unknowns.copy(), point.wrong.copy()
    best = _squared_residual(wrong)
    for _ in range(_SUBSTITUTIONS):
        x = _inside(x + _DAMPING * np.clip(wrong, -1.0, 1.0))
        wrong = mismatch(network, x)
        squared = _squared_residual(wrong)
        better = squared < best
        point.unknowns[better], point.wrong[better], best[better] = x[better], wrong[better], squared[better]
    point.iterations += _SUBSTITUTIONS


def _bisect(network: RouterNetwork, point: SolverPoint, tolerance: float) -> None:
    """Bracket the share of *in*, and for each share the load."""
    from scipy.optimize import elementwise  # noqa: PLC0415 - it takes a fifth of a second, and is seldom needed

    rows = np.arange(point.iterations.size)

    def too_little(log_load: FloatArray, mix: FloatArray, row: Rows) -> FloatArray:
        return mismatch(network.rows(row), np.stack([log_load, mix], axis=1))[:, 0]

    def fitting(mix: FloatArray, row: Rows) -> FloatArray:
        ends = (np.full(mix.shape, np.log(_LEAST_LOAD)), np.full(mix.shape, 50.0))
        root = elementwise.find_root(too_little, ends, args=(mix, row), tolerances={"xatol": 1e-14, "xrtol": 1e-14})
        return np.asarray(root.x)

    def too_little_in(mix: FloatArray, row: Rows) -> FloatArray:
        x = np.stack([fitting(mix, row), mix], axis=1)
        return mismatch(network.rows(row), x)[:, 1]

    ends = (np.zeros(rows.size), np.ones(rows.size))
    root = elementwise.find_root(too_little_in, ends, args=(rows,), tolerances={"xatol": tolerance / 100})
    mix = np.where(np.isfinite(root.x), root.x, point.unknowns[:, 1])
    x = np.stack([fitting(mix, rows), mix], axis=1)
    point.unknowns = np.where(np.isfinite(x), x, point.unknowns)
    point.wrong = mismatch(network, point.unknowns)
    point.iterations += root.nit
