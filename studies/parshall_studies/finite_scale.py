"""Probabilities of means over finitely many round trips, exactly: the window's chain followed with its sum.

| symbol | name | unit |
| --- | --- | --- |
| W_i | window in the i-th RTT | packets |
| n | `scale` | RTTs |
| S_t = W_1 + ... + W_t | sum | packets |
| D_t(w, s) | P(W_t = w, S_t = s), the chain being stationary | probability |

D_1(w, w) is the stationary probability of w, and D_t+1(w', s + w') is the sum over w of D_t(w, s) P(w, w'). Sums from
n x on are dropped: they never come back below. What is asked for is the sum of D_n over all that is left.

Range: n states sums up to `MOST` (seconds). Windows above which the chain is with a probability of less than 1e-20 are
left out, which changes the answer by n times that at most.

References: Loiseau 2010, eq. (2), (6): the asymptotic theory of the same probability is in `large_deviations`.
"""

from __future__ import annotations

import numpy as np

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.markov import WindowChain

MOST = 1_000_000_000
"""Largest product of round trips, windows and sums."""

_NEGLIGIBLE = 1e-20


def exact_probability_below(chain: WindowChain, x: float, scale: int) -> float:
    """P(mean window over `scale` RTTs < `x` packets) of a stationary chain; a probability.

    Parameters
    ----------
    chain
        The window's chain (`parshall_studies.chains.markov.chain`).
    x
        Packets per RTT.
    scale
        n, RTTs.

    Raises
    ------
    ModelInputError
        `scale` is no whole number from 1, `x` not finite, or their product with the windows beyond `MOST`.

    Examples
    --------
    >>> from parshall_studies.chains.large_deviations import spectrum
    >>> from parshall_studies.chains.loss import Bernoulli
    >>> from parshall_studies.chains.markov import chain
    >>> exact = exact_probability_below(chain(Bernoulli(0.02)), 7, scale=200)
    >>> round(exact, 5), round(spectrum(Bernoulli(0.02)).probability_below(7, scale=200).value, 5)
    (0.01609, 0.0172)
    """
    if isinstance(scale, bool) or not np.isfinite(scale) or scale < 1 or int(scale) != scale:
        raise ModelInputError(f"scale: found {scale}, accepted are whole numbers from 1")
    if not np.isfinite(x):
        raise ModelInputError(f"x: found {x}, accepted are finite numbers")
    above = np.cumsum(chain.stationary[::-1])[::-1]
    sums = max(0, int(np.ceil(x * scale)))
    kept = np.flatnonzero((above >= _NEGLIGIBLE) & (chain.windows < sums))
    size = int(scale) * kept.size * sums
    if size > MOST:
        raise ModelInputError(
            f"x, scale: found {x:g} packets over {scale} RTTs, which with {kept.size} windows takes {size:.2g} steps; "
            f"accepted are {MOST:.2g}: a shorter scale, or the approximation, large_deviations.spectrum(...)"
            ".probability_below"
        )
    windows = chain.windows[kept].astype(np.int64)
    arriving = chain.transitions()[kept][:, kept].T.tocsr()
    reached: FloatArray = np.zeros((kept.size, sums))
    reached[np.arange(kept.size), windows] = chain.stationary[kept]
    for _ in range(int(scale) - 1):
        moved = arriving @ reached
        for row, window in enumerate(windows):
            reached[row, :window] = 0.0
            reached[row, window:] = moved[row, : sums - window]
    return min(1.0, float(reached.sum()))
