"""Estimators and generators on plain numbers; whichever instrument measured.

Confidence intervals, ranges of models, fairness, quantiles of histograms; the Hurst parameter (`hurst`), series that
have one (`synthesis`) and heavy tails (`tails`); the time scale at which traffic is worth predicting (`time_scale`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
