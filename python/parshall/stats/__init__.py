"""Estimators: confidence intervals, fairness, quantiles of histograms; whichever instrument measured."""
