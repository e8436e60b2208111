"""Estimators and generators on plain numbers; whichever instrument measured.

Confidence intervals, ranges of models, fairness, quantiles of histograms; means of heavy tails (`tails`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
