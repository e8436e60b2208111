"""Spectral radius of any tilted chain, sparse: for rules and augmented states that are not skip-free.

Lambda(q) is the logarithm of the largest real eigenvalue of A(q), A_ij = exp(q (r_i - r_ref)) P_ij, from ARPACK or,
for small chains, LAPACK; its derivative is sum u_i v_i r_i / sum u_i v_i with the left and right eigenvectors u and v.

Range: |q| (max r - min r) <= 200, beyond which entries leave double precision. `chains.skip_free` has no such limit.

References: Loiseau 2010, footnote 1.
"""

from __future__ import annotations

import numpy as np
import scipy

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.skip_free import Tilted

_DENSE = 250
_RANGE = 200.0


class SparseTilt:
    """The tilted chain of an irreducible P, shape (m, m), with rewards r, shape (m,).

    `lowest` and `highest` are the means at the ends of the range of q: the spectrum is known between them.

    Raises
    ------
    ModelInputError
        If q is out of range, or an eigenvalue is not found.
    """

    def __init__(self, transitions: scipy.sparse.csr_array, rewards: FloatArray) -> None:
        self._p, self._r = transitions, rewards
        self._middle = float(rewards.max() + rewards.min()) / 2
        spread = float(np.ptp(rewards))
        self.largest_q = _RANGE / spread if spread > 0 else np.inf
        self.limits: tuple[float, float] | None = (-self.largest_q, self.largest_q)
        self.costly = False
        if spread == 0:
            self.lowest = self.highest = float(rewards[0])
        else:
            ends = self.solve(np.array([-self.largest_q, self.largest_q])).mean
            self.lowest, self.highest = float(ends[0]), float(ends[1])

    def solve(self, q: FloatArray, guess: FloatArray | None = None) -> Tilted:
        """Lambda and alpha at each q, shape (k,)."""
        del guess
        q = np.asarray(q, dtype=np.float64)
        if np.any(np.abs(q) > self.largest_q * (1 + 1e-12)):
            raise ModelInputError(f"q: found {np.abs(q).max():g}, accepted are up to {self.largest_q:g} per packet")
        solved = [self._solve(float(one)) for one in q]
        reduced, mean = np.array([a for a, _ in solved]), np.array([b for _, b in solved])
        return Tilted(reduced, np.full(q.shape, self._middle), reduced + q * self._middle, mean)

    def end(self, highest: bool) -> float:
        """F where the known part of the spectrum ends."""
        q = self.largest_q if highest else -self.largest_q
        solved = self.solve(np.array([q]))
        return float(solved.log_radius[0] - q * solved.mean[0])

    def _solve(self, q: float) -> tuple[float, float]:
        tilted = scipy.sparse.diags_array(np.exp(q * (self._r - self._middle))) @ self._p
        if self._r.size <= _DENSE:
            values, left, right = scipy.linalg.eig(tilted.toarray(), left=True, right=True)
            best = int(np.argmax(values.real))
            radius, u, v = float(values[best].real), left[:, best], right[:, best]
        else:
            try:
                start = np.ones(self._r.size)
                values, vectors = scipy.sparse.linalg.eigs(tilted, k=1, which="LR", v0=start, tol=1e-12, ncv=40)
                _, others = scipy.sparse.linalg.eigs(tilted.T.tocsr(), k=1, which="LR", v0=start, tol=1e-12, ncv=40)
            except scipy.sparse.linalg.ArpackNoConvergence as error:
                raise ModelInputError(f"q = {q:g}: no eigenvalue was found") from error
            radius, u, v = float(values[0].real), others[:, 0], vectors[:, 0]
        weights = np.abs(u) * np.abs(v)
        return float(np.log(radius)), float(weights @ self._r / weights.sum())
