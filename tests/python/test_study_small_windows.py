"""What the source says of small windows: held of flows that do it, and denied of flows that do not."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claims import Claim
from parshall_studies.chains.markov import chain
from parshall_studies.large_deviations import small_windows
from parshall_studies.large_deviations.on_off import BY_MODEL
from parshall_studies.large_deviations.record import Record

EXCESS = "p(w) below 100 packets over eq. (11), less 1: sign"
BY_EQ_11 = "share of means over 100 RTTs below 100 packets, eq. (11) less seen: sign"
BY_MEASURED = "share of means over 100 RTTs below 100 packets, measured p(w) less seen: sign"


def drawn(window: FloatArray) -> Record:
    """A record of these windows, one a round trip; a loss is where the next one is smaller."""
    lost = np.append(np.diff(window) < 0, False)
    nothing = np.zeros(window.size)
    rtts = np.ones(window.size)
    start = np.arange(window.size, dtype=np.float64) * 0.012
    return Record(start, window, lost, nothing.astype(bool), rtts, window, nothing.astype(np.int64), nothing)


def more_often(factor: float) -> FloatArray:
    """Windows of a flow that loses so many times more often than eq. (11) below 100 packets; 2^17 round trips."""

    def loss(w: FloatArray) -> FloatArray:
        return np.where(w < small_windows.SMALL, factor, 1.0) * BY_MODEL(w)

    return chain(loss).sample(2**17, np.random.default_rng(7))


def by_quantity(window: FloatArray) -> dict[str, Claim]:
    return {each.quantity: each for each in small_windows.claims(drawn(window), BY_MODEL, "")}


def test_a_flow_of_eq_11_has_no_excess_and_no_other_share_of_small_means() -> None:
    found = by_quantity(more_often(1.0))
    assert {found[name].verdict for name in (EXCESS, BY_EQ_11, BY_MEASURED)} == {"compatible"}
    chains = found["mean of eq. (2) with the measured p(w) over the flow's"]
    assert chains.verdict == "reproduced"
    assert chains.ours == pytest.approx(1.0, abs=0.01)


def test_a_flow_with_losses_at_small_windows_has_more_small_means_than_eq_11() -> None:
    found = by_quantity(more_often(8.0))
    assert found[EXCESS].verdict == "reproduced"
    assert found[BY_EQ_11].verdict == "reproduced"
    # Its losses depend on the window alone, so that its own chain is right.
    assert found[BY_MEASURED].verdict == "compatible"
    fewer = by_quantity(more_often(0.0))
    assert fewer[EXCESS].verdict == "not_reproduced"
    assert fewer[BY_EQ_11].verdict == "not_reproduced"


def test_windows_that_stay_small_for_long_are_more_than_their_chain_makes() -> None:
    """The same windows with runs of small ones put together: the same p(w) as far as losses go, longer small spells."""
    window = more_often(8.0)
    mixed = np.concatenate([window[window < 130], window[window >= 130]])
    less = small_windows.small_means(mixed, chain(drawn(window).loss()), "measured p(w)", 1, "")
    assert less.verdict == "not_reproduced"


def test_a_flow_without_small_windows_has_no_excess_to_judge() -> None:
    window = more_often(1.0)
    assert EXCESS not in by_quantity(window[window >= small_windows.SMALL])
