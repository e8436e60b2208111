"""Two competing flows against realisations of their chain."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.analysis.models.inputs import ModelInputError
from parshall_studies.chains.competing import pair


def test_fairness_at_each_scale_against_realisations() -> None:
    flows = pair(lambda total: np.minimum(1, total / 200), w_max=60)
    random = np.random.default_rng(3)
    runs, rtts = 400, 2200
    w = np.full((2, runs), 10)
    series = np.empty((rtts, 2, runs))
    for step in range(rtts):
        series[step] = w
        lost = random.random((2, runs)) < np.minimum(1, w.sum(axis=0) / 200)
        w = np.where(lost, np.maximum(w // 2, 1), np.minimum(w + 1, 60))
    settled = series[200:]
    assert flows.mean == pytest.approx(float(settled.mean()), rel=0.01)
    for scale in (10, 100, 500):
        means = settled.reshape(-1, scale, 2, runs).mean(axis=1)
        jain = means.sum(axis=1) ** 2 / (2 * (means**2).sum(axis=1))
        # What the first order leaves out, and the standard error of the realisations' mean.
        error = 4 * (1 - float(jain.mean())) ** 2 + 4 * float(jain.std()) / np.sqrt(jain.size)
        assert float(flows.fairness(scale)) == pytest.approx(float(jain.mean()), abs=error)
        variance = float((means[:, 0] - means[:, 1]).var())
        assert float(flows.difference_variance(scale)) == pytest.approx(variance, rel=0.08)


def test_fairness_grows_with_the_scale_and_flows_are_alike() -> None:
    flows = pair(lambda total: np.minimum(0.9, 0.01 + total / 100), w_max=30)
    assert float(flows.stationary @ flows.windows[1]) == pytest.approx(flows.mean, rel=1e-9)
    assert flows.stationary @ flows.transitions == pytest.approx(flows.stationary, abs=1e-11)
    assert np.all(np.diff(flows.fairness([1, 10, 100, 1000])) > 0)


def test_bad_input() -> None:
    with pytest.raises(ModelInputError, match="w_max"):
        pair(lambda w: 0.1 + 0 * w, w_max=1000)
    with pytest.raises(ModelInputError, match="probabilities"):
        pair(lambda w: w, w_max=10)
    with pytest.raises(ModelInputError, match="scales"):
        pair(lambda w: 0.1 + 0 * w, w_max=10).fairness([0])
