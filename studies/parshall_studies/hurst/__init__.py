"""The Hurst parameter of a series: eight estimators, surrogates, and a verdict.

>>> import numpy as np
>>> from parshall_studies import hurst, synthesis
>>> x = synthesis.fgn(2**14, 0.8, np.random.default_rng(1))
>>> estimate = hurst.whittle_fgn(x)
>>> round(estimate.h, 2), tuple(round(end, 2) for end in estimate.ci), estimate.warnings
(0.8, (0.79, 0.81), ())

`ESTIMATORS` is the list of the estimators. `verdict` answers "is this long-range dependent?" for a series of counts.
"""

from __future__ import annotations

from parshall_studies.hurst.catalog import ESTIMATORS, Estimator, all_estimates
from parshall_studies.hurst.dfa import dfa
from parshall_studies.hurst.estimate import Diagram, Estimate, Scales
from parshall_studies.hurst.local_whittle import local_whittle
from parshall_studies.hurst.periodogram import periodogram
from parshall_studies.hurst.rescaled_range import rescaled_range
from parshall_studies.hurst.surrogates import SurrogateTest, surrogate_test
from parshall_studies.hurst.variance_time import variance_time
from parshall_studies.hurst.verdict import Verdict, verdict
from parshall_studies.hurst.wavelet import wavelet
from parshall_studies.hurst.whittle_farima import whittle_farima
from parshall_studies.hurst.whittle_fgn import whittle_fgn

__all__ = [
    "ESTIMATORS",
    "Diagram",
    "Estimate",
    "Estimator",
    "Scales",
    "SurrogateTest",
    "Verdict",
    "all_estimates",
    "dfa",
    "local_whittle",
    "periodogram",
    "rescaled_range",
    "surrogate_test",
    "variance_time",
    "verdict",
    "wavelet",
    "whittle_farima",
    "whittle_fgn",
]
