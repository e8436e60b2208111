"""Is it a power law, a lognormal or an exponential? All may pass as the tail of a sample; only one has a tail index.

| symbol | name here |
| --- | --- |
| u | threshold: the (k + 1)-th largest value |
| L_GPD | log-likelihood of the generalised Pareto distribution above u, a power law with a body: tail index 1/xi |
| L_LN | of the lognormal above u |
| L_E | of the exponential above u, which the generalised Pareto distribution becomes with xi = 0 |
| L_P | of the Pareto distribution above u, of which both can become one |

Compared is as much of the sample as one of the two describes: the largest k for which the Kolmogorov-Smirnov distance
is below 0.9/sqrt k (about the 5 % point with two estimated parameters, Lilliefors). A lognormal fits at least as well
if L_LN >= L_GPD, and it is no Pareto: 2 (L_LN - L_P) exceeds 2.71, the 5 % point where a parameter ends at its bound
(a lognormal becomes a Pareto distribution as its variance grows; Malevergne et al. 2011). An exponential does if 2
(L_GPD - L_E) does not exceed it.

References: Y. Malevergne, V. Pisarenko, D. Sornette, Testing the Pareto against the lognormal distributions with the
uniformly most powerful unbiased test applied to the distribution of cities, Physical Review E 83, 2011; A. Clauset, C.
Shalizi, M. Newman, SIAM Review 51(4), 2009, appendix C; S. Grimshaw, Computing maximum likelihood estimates for the
generalized Pareto distribution, Technometrics 35(2), 1993.
"""

from __future__ import annotations

import numpy as np
import scipy

from parshall_studies.tails.sample import FloatArray

PASSES = 0.9
"""Distance in units of 1/sqrt k up to which a distribution describes a tail."""
BOUND = 2.71
COMPARED = 5000
"""The most values that are compared: evenly chosen from the tail."""
_FEWEST = 50
_CANDIDATES = 24


def warning(x: FloatArray) -> str | None:
    """Return the laws that describe the largest values of `x` (descending, above 0) at least as well as a power law."""
    for k in np.unique(np.geomspace(_FEWEST, x.size - 1, _CANDIDATES).round().astype(int))[::-1]:
        threshold, above = x[k], x[:k]
        if k > COMPARED:
            above = above[np.linspace(0, k - 1, COMPARED).round().astype(int)]
        above = above[::-1]
        pareto, by_pareto = _generalised_pareto(above, threshold)
        lognormal, by_lognormal = _lognormal(above, threshold)
        if min(_distance(by_pareto), _distance(by_lognormal)) > PASSES:
            continue
        logs = np.log(above / threshold)
        mean = max(float(logs.mean()), np.finfo(float).tiny)
        plain = -above.size * (np.log(mean * threshold) + 1) - float(logs.sum())
        exponential = -above.size * (np.log(max(float((above - threshold).mean()), np.finfo(float).tiny)) + 1)
        if lognormal >= pareto and 2 * (lognormal - plain) > BOUND:
            return f"a lognormal fits the largest {k} values at least as well, and has no tail index"
        if 2 * (pareto - exponential) <= BOUND:
            return f"an exponential fits the largest {k} values as well, and has no tail index"
        return None
    return None


def _distance(p: FloatArray) -> float:
    """Kolmogorov-Smirnov distance times sqrt k of ascending probabilities."""
    rank = np.arange(1, p.size + 1) / p.size
    return float(np.max(np.maximum(rank - p, p - rank + 1 / p.size)) * np.sqrt(p.size))


def _generalised_pareto(above: FloatArray, threshold: float) -> tuple[float, FloatArray]:
    """Log-likelihood, and the distribution function at the values."""
    excess = above - threshold
    scale = max(float(excess.mean()), np.finfo(float).tiny)

    def loss(log_theta: float) -> float:
        # Grimshaw 1993: xi is the mean of log(1 + theta y), sigma = xi/theta.
        theta = np.exp(log_theta) / scale
        xi = float(np.mean(np.log1p(theta * excess)))
        return float(excess.size * (np.log(xi / theta) + 1 + xi))

    minimum = scipy.optimize.minimize_scalar(loss, bounds=(-12.0, 12.0), method="bounded", options={"xatol": 1e-4})
    theta = np.exp(minimum.x) / scale
    xi = float(np.mean(np.log1p(theta * excess)))
    return -float(minimum.fun), -np.expm1(-np.log1p(theta * excess) / xi)


def _lognormal(above: FloatArray, threshold: float) -> tuple[float, FloatArray]:
    """Log-likelihood above the threshold, and the distribution function at the values."""
    y, low = np.log(above), float(np.log(threshold))
    mean, variance = float(y.mean()), max(float(y.var()), np.finfo(float).tiny)

    def loss(parameters: FloatArray) -> float:
        mu, log_sigma = parameters
        sigma = np.exp(log_sigma)
        square = (variance + (mean - mu) ** 2) / (2 * sigma**2)
        return float(log_sigma + square + scipy.special.log_ndtr((mu - low) / sigma))

    start = np.array([mean, np.log(variance) / 2])
    minimum = scipy.optimize.minimize(
        loss, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-9, "maxiter": 800}
    )
    mu, sigma = minimum.x[0], np.exp(minimum.x[1])
    tail = scipy.special.log_ndtr((mu - y) / sigma) - scipy.special.log_ndtr((mu - low) / sigma)
    likelihood = -y.size * (minimum.fun + mean + np.log(2 * np.pi) / 2)
    return float(likelihood), -np.expm1(tail)
