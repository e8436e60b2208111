"""Daubechies' orthogonal wavelets: their filters, and one step of the transform.

| symbol | name here | |
| --- | --- | --- |
| N | `moments` | vanishing moments; a filter has 2 N coefficients |
| h_k | `smooth` | low-pass filter; its coefficients add up to sqrt(2) |
| g_k = (-1)^k h_{2N-1-k} | `difference` | high-pass filter |

With y = sin^2(w/2), |H(w)|^2 = 2 (1 - y)^N P(y), P(y) = sum_k C(N-1+k, k) y^k for k < N. H is the product of
(1 + z)^N and of the roots of P within the unit circle, where z + 1/z = 2 - 4 y: of all such filters the one whose
energy comes first (extremal phase).

Range: N up to 10, for which the coefficients add up as they should to 1e-13.

References: I. Daubechies, Ten Lectures on Wavelets, SIAM 1992, §6.1 and table 6.1.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from parshall_studies.hurst.estimate import FloatArray


@cache
def smooth(moments: int) -> FloatArray:
    """h_k, shape (2 N,), the largest coefficients first.

    Examples
    --------
    >>> smooth(2).round(4).tolist()  # (1 + sqrt(3)) / (4 sqrt(2)), ...
    [0.483, 0.8365, 0.2241, -0.1294]
    """
    y = np.roots([comb(moments - 1 + k, k) for k in reversed(range(moments))])
    half = 1 - 2 * y
    outer = np.sqrt(half**2 - 1 + 0j)
    z = np.where(np.abs(half + outer) < 1, half + outer, half - outer)
    product = np.poly(np.concatenate([-np.ones(moments), z])).real
    return np.asarray(product * np.sqrt(2) / product.sum())


def step(series: FloatArray, moments: int) -> tuple[FloatArray, FloatArray]:
    """Approximation and detail of one octave, of every second position; zeros are taken for what is beyond the ends."""
    low = smooth(moments)[::-1]
    high = low[::-1] * (-1.0) ** np.arange(1, low.size + 1)
    return np.convolve(series, low)[1::2], np.convolve(series, high)[1::2]
