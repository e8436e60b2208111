"""The large-deviations study: its parts; the packet simulator shows the spectrum where timeouts are rare."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.signal import lfilter
from scipy.stats import ks_2samp

from parshall.instruments.observation.flow import TracedFlow
from parshall.instruments.simulation import run
from parshall.report.plot import Points
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains import variants
from parshall_studies.chains.competing import pair
from parshall_studies.chains.growth import growth
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.markov import chain
from parshall_studies.chains.measured_loss import measured
from parshall_studies.chains.recovery import IndependentLosses
from parshall_studies.large_deviations import (
    constant,
    cross_traffic,
    fairness,
    network,
    on_off,
    real,
    record,
    spectra,
    theory,
)
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.spectrum import interval_means


def test_packets_are_counted_per_rtt() -> None:
    """A round of two RTTs gives half of its packets to each; nothing is lost."""
    rtt = PAPER["rtt_s"]
    rounds = pl.DataFrame(
        {"start_s": [0.0, rtt, 3 * rtt], "length_s": [rtt, 2 * rtt, rtt], "window_packets": [10, 16, 5]}
    )
    assert network.per_rtt(rounds, rtt)[:3].tolist() == pytest.approx([10, 8, 8])


def _samples(cwnd: list[float], ssthresh: list[float]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A sample each quarter of a round trip of 12 ms, and a hundred packets sent in each round trip."""
    time = 0.003 * np.arange(len(cwnd))
    samples = {"time_s": time, "cwnd_packets": cwnd, "ssthresh_packets": ssthresh, "srtt_s": np.full(len(cwnd), 0.012)}
    starts = np.arange(0.0, float(time[-1]), 0.012)
    rounds = {"start_s": starts, "length_s": np.full(starts.size, 0.012), "window_packets": np.full(starts.size, 100)}
    return pl.DataFrame(samples), pl.DataFrame(rounds)


def test_a_reduction_is_one_loss_event_however_long_its_repair() -> None:
    """Three round trips of growth, a recovery of two, one of growth, a timeout that slow start ends, growth."""
    climbing = [20 + place / 4 for place in range(12)]
    again = [11.5 + place / 4 for place in range(6)]
    cwnd = [*climbing, *[11.0] * 8, *again, *[1.0] * 8, 2.0, 4.0, *(6.5 + place / 4 for place in range(12))]
    ssthresh = [*[10.0] * 12, *[11.0] * 14, *[6.0] * 22]
    found = record.recorded(*_samples(cwnd, ssthresh))
    assert np.flatnonzero(found.repairing).size == 2
    assert found.kinds().tolist() == [1, 0, 1]
    assert found.events.sum() == 2
    assert found.windows.tolist()[:3] == [20, 21, 22]
    assert found.events.tolist()[:3] == [False, False, True]
    assert found.rtts[found.repairing].tolist() == pytest.approx([2.0, 2.5])
    assert found.after(1) == (2, 0)
    assert found.after(2) == (2, 1)
    # Time and packets are all there: a hundred packets a round trip.
    assert found.mean == pytest.approx(100)
    assert found.throughput.tolist() == pytest.approx([100] * found.throughput.size)
    assert found.repairs().classes[1].kept == pytest.approx((6.5 / 12.75) / (11.5 / 22.75))


def test_a_window_that_a_kernel_takes_down_step_by_step_is_one_reduction() -> None:
    """Proportional rate reduction: from 20 to 10 within a round trip, then a round trip at ssthresh, then growth."""
    climbing = [17 + place / 4 for place in range(13)]
    cwnd = [*climbing, 18.0, 15.0, 15.0, 12.0, *[10.0] * 4, *(10.25 + place / 4 for place in range(16))]
    ssthresh = [*[9.0] * 13, *[10.0] * 24]
    found = record.recorded(*_samples(cwnd, ssthresh))
    assert found.kinds().tolist() == [1, 0, 0]
    assert found.events.sum() == 1
    assert found.found[found.repairing].tolist() == [20.0]
    assert found.rtts[found.repairing].tolist() == pytest.approx([2.0])
    assert found.windows.tolist() == [17, 18, 19, 20, 10, 11, 12], "no trial while the window is taken down"


def test_losses_of_constant_cross_traffic_come_once_a_cycle() -> None:
    """The round trips of the simulator that lose packets are two a cycle: the loss, and its repair."""
    reading = constant.FITTING
    workload = {"name": "cbr", "rate": f"{round(reading.cross_bps)} bit/s"}
    udp = {"name": "udp", "rtt": "12 ms", "packet_size": "1500 B", "workload": workload}
    link = {**network.LINK, "rate": f"{round(reading.link_bps)} bit/s"}
    probes = {"rounds": 1, "flows": 1, "flow_samples": "3 ms"}
    done = run(network.declared(link, [network.TCP, udp], 100, probes=probes))
    rounds = network.rounds_of(done)
    found = record.recorded(network.samples_of(done), rounds)
    cycles = found.window[found.repairing].size
    assert int(rounds["lost"].sum()) >= 1.9 * cycles
    assert found.events.sum() == cycles
    # It climbs by a packet a round trip from one half of the top to the top.
    assert np.diff(np.flatnonzero(found.events)).min() > 70


@pytest.mark.slow
def test_counted_once_losses_hardly_follow_losses_and_the_chain_has_the_mean() -> None:
    found = network.measured(network.ethernet(), [network.TCP, network.AS_PAYLOAD], 400).record
    trials, losses = found.after(1)
    # 0.40 where the round trips of the repair count too; some 200 events know 0.02 to 0.01.
    assert losses / trials < 0.08
    assert on_off.chain(found, "reno").mean == pytest.approx(found.mean, rel=0.03)


@pytest.mark.slow
def test_the_chain_of_a_control_with_memory_has_the_mean_in_cross_traffic() -> None:
    tcp = {**network.TCP, "congestion_control": "bic", "recovery": "rack"}
    found = network.measured(network.ethernet(), [tcp, network.AS_PAYLOAD], 300).record
    assert on_off.chain(found, "bic").mean == pytest.approx(found.mean, rel=0.03)


def test_figure_1_of_the_chain() -> None:
    found = theory.figure_1()
    checks, (section,) = found.checks, found.sections
    verdicts = {(check.artefact, check.quantity): check.outcome for check in checks}
    assert verdicts["fig1a", "apex, packets per RTT"] == "holds"
    # The extremes of one record of this length vary by more than the tolerance.
    assert verdicts["fig1b", "chain: lowest mean over 500 RTTs, packets per RTT"] == "compatible"
    assert verdicts["fig1b", "chain: highest mean over 500 RTTs, packets per RTT"] == "compatible"
    assert verdicts["fig1b", "eq. (10) less the largest mean over 100 RTTs: sign"] == "holds"
    # Ours beside our own theory is never counted as published.
    assert {check.quantity for check in checks if check.published is not None} == {
        "apex, packets per RTT",
        "f(11), 1/RTT",
        "eq. (10) less the largest mean over 100 RTTs: sign",
        "this bias at 100 RTTs less that at 1000, relative: sign",
    }
    assert [drawn.name for drawn in section.figures] == ["fig1a", "fig1b"]


def test_figure_2_has_the_sources_two_curves_and_their_ratio() -> None:
    found = theory.figure_2("quick")
    (check,), (section,) = found.checks, found.sections
    assert check.outcome == "holds"
    assert [len(panel.marks) for panel in section.figures[0].plot.panels] == [2, 3]


def test_the_packet_simulator_shows_the_chains_spectrum() -> None:
    link = {**network.LINK, "loss": {"name": "bernoulli", "probability": 0.002}}
    found = network.measured(link, [network.TCP], 1560).record
    recovery = IndependentLosses(0.002, network.TIMEOUT_S / PAPER["rtt_s"])
    s = variants.spectrum("reno", 0.002, w_max=300, recovery=recovery)
    assert found.mean == pytest.approx(s.mean, rel=0.03)
    means = interval_means(found.throughput, 200)
    # The curvature of f at the apex is the inverse of the variance, at any scale.
    step = 1e-5
    variance = float(np.diff(s.tilted_mean([-step, step]))[0]) / (2 * step)
    assert float(means.var()) * 200 == pytest.approx(variance, rel=0.2)


def test_readings_of_the_testbeds_rates() -> None:
    """1 Gbit/s less 833 Mbit/s are 167 packets of 1500 bytes in 12 ms; 96 packets more take 1.152 ms."""
    stated, ethernet = constant.AS_STATED, constant.READINGS[-1]
    assert stated.free == pytest.approx(167)
    assert stated.top == pytest.approx(167 * 13.152 / 12)
    # 1500 of 1538 bytes on the wire; 1472 of 1500 bytes are payload of UDP.
    assert ethernet.link_bps == pytest.approx(975.3e6, rel=1e-4)
    assert ethernet.cross_bps == pytest.approx(848.8e6, rel=1e-4)


def test_constant_cross_traffic_on_ethernet_has_the_published_window() -> None:
    found = constant._record(constant.FITTING, 90)
    assert (found.window.min(), found.window.max()) == pytest.approx(PAPER["constant_range"], rel=0.05)
    assert float(found.cwnd.mean()) == pytest.approx(PAPER["constant_mean"], rel=0.02)


def test_the_cross_traffics_spread() -> None:
    """32 independent sources: sigma is 112.7 Mbit/s at a moment, 112.3 over 1.2 ms; 30 s know it to some 3 %."""
    fine = cross_traffic._arriving(network.AS_MEASURED, 90)
    rate = interval_means(fine, 8)
    assert float(rate.std()) == pytest.approx(112.3e6, rel=0.08)
    assert float(rate.mean()) == pytest.approx(581.8e6, rel=0.05)
    # In bins of 1.2 ms a number of packets that is a multiple of four is far likelier than the ones beside it.
    packets = np.bincount(np.round(rate * PAPER["cross_bin_s"] / 12_000).astype(int))[20:100]
    assert packets[0::4].sum() > 2 * packets[1::4].sum()
    smooth = np.bincount(np.round(interval_means(fine, cross_traffic.SMOOTH) * 1.05e-3 / 12_000).astype(int))[20:80]
    assert smooth[0::4].sum() == pytest.approx(smooth[1::4].sum(), rel=0.15)
    lag = round(0.0545 / PAPER["cross_bin_s"])
    assert float(cross_traffic.autocorrelation(rate, np.array([lag]))[0]) == pytest.approx(np.exp(-1), abs=0.12)


def test_real_flows_are_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(real.VARIABLE, str(tmp_path))
    found = real.real("quick")
    checks, (section,) = found.checks, found.sections
    assert checks == []
    assert section.paragraphs[0].startswith("Left out: no series of real flows was found. PARSHALL_DATA")


def test_real_flows_are_compared_with_their_chain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A series of Reno's chain in the place of a real flow: windows of some 30 packets, 60,000 RTTs."""
    windows = chain(Bernoulli(0.002)).sample(60_000, np.random.default_rng(1))
    (tmp_path / "cwnd").mkdir()
    rows = "".join(f"{0.1 * place:.1f},{window:.0f}\n" for place, window in enumerate(windows))
    with gzip.open(tmp_path / "cwnd" / "wireless_reno_1_1_10000_cwnd.csv.gz", "wt") as file:
        file.write("t_s,cwnd_pkts\n" + rows)
    # A window that is never reduced shows no round-trip time.
    with gzip.open(tmp_path / "cwnd" / "longDistance_cubic_5_1_53002_cwnd.csv.gz", "wt") as file:
        file.write("t_s,cwnd_pkts\n" + "".join(f"{place},{100 + place % 2}\n" for place in range(200)))
    monkeypatch.setenv(real.VARIABLE, str(tmp_path))
    found = real.real("quick")
    checks, (section,) = found.checks, found.sections
    assert section.paragraphs[-1].startswith("Left out: longDistance_cubic_5_1_53002_cwnd.csv.gz: fewer than 20")
    assert {check.artefact for check in checks} == {"fig7c"}
    at_1000 = [check for check in checks if "over 1000 RTTs" in check.quantity]
    assert [check.note for check in at_1000] == ["in range: yes; extremes of 59 intervals"] * 2
    assert {check.outcome for check in at_1000} <= {"compatible", "undecided"}, "extremes of one record"
    assert all(check.published is None for check in checks)
    # Scales below ten loss cycles are not the theory's.
    short = [check for check in checks if "in range: no" in check.note]
    assert {(check.theory, check.outcome) for check in short} == {(None, "reported")}
    assert [drawn.name.split("-")[1] for drawn in section.figures] == ["windows", "p", "spectra"]


@pytest.mark.slow
def test_a_cubic_series_is_compared_with_cubics_chain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CUBIC's packets under independent losses as a series: a row whenever the window changes, spikes among them."""
    link = {**network.WIDE, "loss": {"name": "bernoulli", "probability": 2e-4}}
    flow = {**network.TCP, "congestion_control": "cubic", "rtt": "0.1 s"}
    rounds = network.rounds_of(run(network.declared(link, [flow], 1060, probes={"rounds": 1})))
    time, window = rounds["start_s"].to_numpy(), rounds["window_packets"].to_numpy()
    rows, last = ["t_s,cwnd_pkts"], window[0]
    for at, value in zip(time.tolist(), window.tolist(), strict=True):
        if value <= 0.9 * last:
            # A reduction takes a round trip, as Linux's does.
            rows += [f"{at + 0.01 * k:.6f},{last - (last - value) * k // 10}" for k in range(1, 10)]
        rows.append(f"{at + (0.1 if value <= 0.9 * last else 0.0):.6f},{value}")
        last = value
    at, value = rows[500].split(",")
    rows[500] += f"\n{float(at) + 0.002:.6f},9999\n{float(at) + 0.004:.6f},{value}"
    (tmp_path / "cwnd").mkdir()
    with gzip.open(tmp_path / "cwnd" / "longDistance_cubic_5_1_53002_cwnd.csv.gz", "wt") as file:
        file.write("\n".join(rows) + "\n")
    (tmp_path / "cwnd" / "longDistance_cubic_5_1_53002_p_of_cwnd.csv.gz").write_bytes(gzip.compress(b"cwnd_pkts,p"))
    monkeypatch.setenv(real.VARIABLE, str(tmp_path))
    (section,) = real.real("paper").sections
    assert "left out: 1\xa0row in which" in section.paragraphs[-2]
    # In one recovery as many packets as before were sent in a round trip: that looks like a reduction that was undone.
    assert "reductions that the sender undid, which are no losses: 1. Loss events left: " in section.paragraphs[-1]
    assert "; of these, those that leave no smaller window: " in section.paragraphs[-1]
    row = section.tables[0].rows[-1]
    assert row[1] == "cubic"
    # The chain's mean is up to 5 % low, and the reductions drawn out here add half a round trip each.
    assert float(row[7]) == pytest.approx(float(row[6]), rel=0.1)


def test_extremes_of_a_record_lie_where_they_are_expected() -> None:
    """60 records of Reno's chain: 95 % of their extremes within the interval (57, with a deviation of 1.7)."""
    s, window = ld.spectrum(Bernoulli(0.02)), chain(Bernoulli(0.02), 200)
    random = np.random.default_rng(3)
    (low, high), (lower, upper) = s.extremes(2**15, 500)
    means = [interval_means(window.sample(2**15, random), 500) for _ in range(60)]
    assert sum(low <= each.min() <= high for each in means) >= 52
    assert sum(lower <= each.max() <= upper for each in means) >= 52


def test_extremes_of_drawn_records_are_those_of_realisations() -> None:
    """A hundred records at once, against records drawn one by one: the same distribution of extremes."""
    window, random = chain(Bernoulli(0.02), 200), np.random.default_rng(5)
    low, high = spectra.sampled_extremes(window, 4000, (200,))[200]
    means = [interval_means(window.sample(4000, random), 200) for _ in range(100)]
    # Kolmogorov's test of two samples of 100: above 0.24 with a probability below 0.7 %.
    assert ks_2samp(low, [each.min() for each in means]).statistic < 0.24
    assert ks_2samp(high, [each.max() for each in means]).statistic < 0.24


def test_extremes_are_held_against_those_of_a_record_of_their_length() -> None:
    window = chain(Bernoulli(0.02), 200)
    s, series = ld.spectrum(window), window.sample(2**15, np.random.default_rng(3))
    own = spectra.extremes_checks("x", "own", series, s, (500,))
    assert {check.outcome for check in own} == {"compatible"}
    other = spectra.extremes_checks("x", "other", 0.7 * series, s, (500,))
    assert {check.outcome for check in other} == {"fails"}
    assert all(check.published is None for check in [*own, *other])


def test_spectra_that_superimpose_have_one_width_and_no_memory() -> None:
    random = np.random.default_rng(4)
    independent = random.normal(size=1_000_000)
    walk = lfilter([1.0], [1.0, -np.exp(-1 / 100)], independent)
    width, memory = spectra.one_spectrum("x", "", independent, (100, 500))
    assert width.outcome == "holds"
    assert not width.cannot_fail
    assert not width.contested
    assert memory.ours >= 0.05
    width, _ = spectra.one_spectrum("x", "", independent[:60_000], (100, 500))
    assert width.outcome == "compatible", "a short record reproduces nothing that a longer one could reject"
    width, memory = spectra.one_spectrum("x", "", walk, (100, 500))
    assert width.outcome == "fails"
    assert memory.ours < 0.05


def test_the_plot_of_p_ends_where_windows_are_few() -> None:
    windows = np.concatenate([np.tile(np.arange(50, 150), 100), [9000]])
    plot = on_off.loss_plot(measured(windows, windows > 140))
    (panel,) = plot.panels
    assert panel.x.maximum == 149
    points = panel.marks[-1]
    assert isinstance(points, Points)
    assert np.max(points.x) <= 149


def test_a_spectrum_that_is_known_in_part_has_its_extremes() -> None:
    """Its end has no tilt; a density there once hid those of the other throughputs."""
    s = variants.spectrum("reno", 0.002, w_max=268, recovery=IndependentLosses(0.002, 16.7))
    (_, _), (low, high) = s.extremes(75_000, 200, 1e-3)
    assert low < high < s.bounds(75_000, 200)[1] < s.highest


def test_cubics_rules_at_a_flows_own_losses() -> None:
    """Windows that the rules made are played back; a reduction that is undone is told from one that lasts."""
    rule, early, aim, windows = growth("cubic", 0.1), np.array([False]), 0.0, []
    events = np.arange(2000) % 41 == 40
    rule.begin(np.array([100.0]), early)
    for event in events:
        windows.append(float(rule.window[0]))
        if event:
            early = rule.window < aim
            aim = float(rule.aim(rule.window, early)[0])
            rule.begin(rule.window, early)
        else:
            rule.advance()
    made = np.array(windows)
    assert real.played(made, events, 0.1) == pytest.approx(made.mean())
    assert real.played(made, np.zeros_like(events), 0.1) > 10 * made.mean()
    again = np.flatnonzero(events)[10]
    made[again + 1 :] += made[again] - made[again + 1]
    frame = pl.DataFrame({"window_packets": made, "lost": events, "start_s": 0.1 * np.arange(2000)})
    flow = TracedFlow({"group": "cubic", "repetition": 0, "flow": 0}, {}, frame, pl.DataFrame(), {})
    assert np.flatnonzero(real.undone(flow)).tolist() == [again]


def test_two_flows_at_a_red_queue_are_as_fair_as_predicted() -> None:
    one, two, _ = fairness._simulated(1860)
    flows = pair(fairness._dropped, fairness.W_MAX, by_packets=True)
    for scale, within in ((30, 0.15), (100, 0.25)):
        seen = 1 - float(fairness.jain_of(one, two, scale).mean())
        # 1 - J to the first order; 600 and 180 intervals, each with a deviation of about its mean.
        assert 1 - float(flows.fairness(scale)) == pytest.approx(seen, rel=within)
