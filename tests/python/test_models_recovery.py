"""What a loss takes beyond the smaller window: against draws of packets, realisations, and the packet simulator."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains import variants
from parshall_studies.chains.growth import growth
from parshall_studies.chains.measured_loss import measured
from parshall_studies.chains.recovery import (
    IndependentLosses,
    MeasuredClass,
    MeasuredRepairs,
    backed_off,
    measured_repairs,
)
from parshall_studies.large_deviations import network


def test_a_timer_that_doubles_lasts_as_long_as_drawn() -> None:
    random = np.random.default_rng(1)
    lost = 0.3
    more = random.geometric(1 - lost, 200_000)
    drawn = np.array([sum(2 ** min(k, 6) for k in range(int(n))) for n in range(40)])[more]
    # The mean of 200,000 draws has a standard error of 0.5 %.
    assert backed_off(lost) == pytest.approx(float(drawn.mean()), rel=0.02)


def test_a_recovery_loses_a_retransmission_as_often_as_drawn() -> None:
    random, p, window = np.random.default_rng(2), 0.05, 10
    packets = random.random((100_000, 15)) < p
    packets[:, 0] = True
    again = packets & (random.random(packets.shape) < p)
    # 0.082, with a standard error of 0.0009.
    found = float(IndependentLosses(p).lost_again(np.array([window]))[0])
    assert found == pytest.approx(float(again.any(axis=1).mean()), abs=0.003)


def test_shares_add_up_and_rack_waits_for_no_timer() -> None:
    windows = np.array([4.0, 50.0, 400.0])
    sack, rack = (IndependentLosses(0.01, rtts).repairs(windows, lambda w: w / 2) for rtts in (16.7, None))
    assert np.sum([each.share for each in sack], axis=0) == pytest.approx([1, 1, 1])
    assert sack[1].rtts.min() > 16.7
    assert sack[1].lost_at.tolist() == [2.0, 25.0, 200.0]
    assert len(rack) == 1
    assert rack[0].rtts.max() < 4


@pytest.mark.slow
def test_realisations_with_repairs_vary_as_predicted() -> None:
    """HighSpeed whose losses take 2 or, one in ten, 20 round trips: drawn step by step from its rules."""
    always = measured([1.0], [1.0], smoothing="none")
    tenth = measured(np.ones(10), np.arange(10) == 0, smoothing="none")
    repairs = MeasuredRepairs(1.0, (MeasuredClass(always, 2.0, 0.6, 1.0), MeasuredClass(tenth, 20.0, 0.3, 0.5)))
    loss = 1e-3
    s = variants.spectrum("highspeed", loss, recovery=repairs)
    random, control = np.random.default_rng(5), growth("highspeed")
    series: list[FloatArray] = []
    window, cycles = np.array([50.0]), 0
    for _ in range(4000):
        control.window = window
        sent: list[float] = []
        while True:
            before = control.window.copy()
            control.advance()
            sent.append(float((before[0] + control.window[0]) / 2 - 0.5))
            if random.random() < 1 - (1 - loss) ** np.floor(before[0]):
                break
        rare = random.random() < 0.1
        found = control.window.copy()
        rtts, rate, kept = (20, 0.3, 0.5) if rare else (2, 0.6, 1.0)
        series.append(np.array([*sent, *[rate * found[0]] * rtts]))
        window, cycles = control.reduced(kept * found), cycles + 1
    drawn = np.concatenate(series)
    # 4000 cycles: the mean to some 1 %; the variance of means over 1000 round trips, 130 of them, to 12 %.
    assert s.mean == pytest.approx(float(drawn.mean()), rel=0.03)
    assert s.loss_rate == pytest.approx(cycles / drawn.size, rel=0.03)
    step = 1e-6
    curvature = float(np.diff(s.tilted_mean([-step, step]))[0]) / (2 * step)
    means = drawn[: drawn.size // 1000 * 1000].reshape(-1, 1000).mean(axis=1)
    assert 1000 * float(means.var()) == pytest.approx(curvature, rel=0.4)


@pytest.mark.parametrize(
    ("control", "loss", "rtt_s", "seconds"),
    [
        ("reno", 0.02, 0.012, 1500),
        ("reno", 0.002, 0.012, 1500),
        ("bic", 1e-3, 0.012, 900),
        ("highspeed", 1e-3, 0.012, 900),
        ("scalable", 1e-3, 0.012, 900),
    ],
)
def test_packets_have_the_mean_of_the_chain_with_recovery(
    control: str, loss: float, rtt_s: float, seconds: float
) -> None:
    """Within 3 %, and 1 % of chance: some 4000 cycles and more, whose means vary by about 60 %."""
    link = {**network.WIDE, "loss": {"name": "bernoulli", "probability": loss}}
    found = network.measured(link, [{**network.TCP, "congestion_control": control}], 60 + seconds, rtt_s=rtt_s)
    recovery = IndependentLosses(loss, network.TIMEOUT_S / rtt_s)
    predicted = variants.epochs(control, loss, rtt_s=rtt_s, w_max=2000, recovery=recovery).mean
    assert predicted == pytest.approx(found.record.mean, rel=0.04)


def test_bad_input() -> None:
    with pytest.raises(ModelInputError, match="loss: found 1"):
        IndependentLosses(1.0)
    with pytest.raises(ModelInputError, match="timeout_rtts: found -1"):
        IndependentLosses(0.1, -1)
    with pytest.raises(ModelInputError, match="kinds"):
        measured_repairs([10, 12], [1, 2], [0.5, 0.5], [1, 1], [10, 10], [5, 6])
