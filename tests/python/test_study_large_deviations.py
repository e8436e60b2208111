"""The large-deviations study: its parts; the packet simulator shows the spectrum where timeouts are rare."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp

from parshall.models import large_deviations as ld
from parshall.models.competing import pair
from parshall.models.growth import growth
from parshall.models.loss import Bernoulli
from parshall.models.markov import chain
from parshall.stats.spectrum import interval_means
from parshall.studies.large_deviations import (
    constant,
    cross_traffic,
    fairness,
    network,
    published,
    real,
    spectra,
    theory,
)
from parshall.traces.flow import TracedFlow


def test_packets_are_counted_per_rtt() -> None:
    """A round of two RTTs gives half of its packets to each; nothing is lost."""
    rtt = published.RTT_S
    rounds = pl.DataFrame(
        {"start_s": [0.0, rtt, 3 * rtt], "length_s": [rtt, 2 * rtt, rtt], "window_packets": [10, 16, 5]}
    )
    assert network.per_rtt(rounds)[:3].tolist() == pytest.approx([10, 8, 8])


def test_figure_1_of_the_chain() -> None:
    checks, section = theory.figure_1()
    verdicts = {(check.artefact, check.quantity): check.verdict for check in checks}
    assert verdicts["fig1a", "apex, packets per RTT"] == "reproduced"
    assert verdicts["fig1b", "lowest mean over 500 RTTs, packets per RTT"] == "reproduced"
    assert verdicts["fig1b", "highest mean over 500 RTTs, packets per RTT"] == "reproduced"
    assert [drawn.name for drawn in section.figures] == ["fig1a", "fig1b"]


def test_the_packet_simulator_shows_the_chains_spectrum() -> None:
    link = {**network.LINK, "loss": {"name": "bernoulli", "probability": 0.002}}
    series = network.per_rtt(network.rounds(link, [network.TCP], 1560))
    s = ld.spectrum(Bernoulli(0.002))
    assert float(series.mean()) == pytest.approx(s.mean, rel=0.02)
    means = interval_means(series, 200)
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
    found = constant._rounds(constant.READINGS[-1], 90)
    low, high = constant._range(found)
    assert (low, high) == pytest.approx(published.CONSTANT_RANGE, rel=0.05)


def test_the_cross_traffics_spread() -> None:
    """32 independent sources: sigma is 112.7 Mbit/s at a moment, 112.3 over 1.2 ms; 30 s know it to some 3 %."""
    rate = cross_traffic._arriving(network.AS_MEASURED, 90)
    assert float(rate.std()) == pytest.approx(112.3e6, rel=0.08)
    assert float(rate.mean()) == pytest.approx(581.8e6, rel=0.05)
    lag = round(0.0545 / published.CROSS_BIN_S)
    assert float(cross_traffic._autocorrelation(rate, np.array([lag]))[0]) == pytest.approx(np.exp(-1), abs=0.12)


def test_real_flows_are_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(real.VARIABLE, str(tmp_path))
    checks, section = real.real("quick")
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
    checks, section = real.real("quick")
    assert section.paragraphs[-1].startswith("Left out: longDistance_cubic_5_1_53002_cwnd.csv.gz: fewer than 20")
    assert {check.artefact for check in checks} == {"fig7c"}
    at_1000 = [check for check in checks if "over 1000 RTTs" in check.quantity]
    assert [check.note for check in at_1000] == ["in range: yes; extremes of 59 intervals"] * 2
    assert {check.verdict for check in at_1000} <= {"reproduced", "not_reproduced"}
    # Scales below ten loss cycles are not the theory's: nothing is published of them.
    short = [check for check in checks if "in range: no" in check.note]
    assert {(check.published, check.verdict) for check in short} == {(None, "extended")}
    assert [drawn.name.split("-")[1] for drawn in section.figures] == ["windows", "p", "spectra"]


def test_a_cubic_series_is_compared_with_cubics_chain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CUBIC's packets under independent losses as a series: a row whenever the window changes, spikes among them."""
    link = {**network.WIDE, "loss": {"name": "bernoulli", "probability": 2e-4}}
    rounds = network.rounds(link, [{**network.TCP, "congestion_control": "cubic", "rtt": "0.1 s"}], 1060)
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
    _, section = real.real("paper")
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


def test_a_check_of_extremes_says_what_is_chance_and_what_the_chain_leaves_out() -> None:
    window = chain(Bernoulli(0.02), 200)
    s, series = ld.spectrum(window), window.sample(2**15, np.random.default_rng(3))
    own = spectra.bounds_check("x", series, s, (500,), window)
    assert all("as here" in check.note and check.verdict == "reproduced" for check in own)
    other = spectra.bounds_check(
        "x", 0.8 * series, s, (500,), window, beyond=lambda scale, highest, bound, _: f"{scale} {highest} {bound:.3f}"
    )
    low, high = s.bounds(series.size, 500)
    assert [check.note.split("not here: ")[1] for check in other] == [f"500 False {low:.3f}", f"500 True {high:.3f}"]
    assert {check.verdict for check in other} == {"not_reproduced"}


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
        seen = 1 - float(fairness._jain(one, two, scale).mean())
        # 1 - J to the first order; 600 and 180 intervals, each with a deviation of about its mean.
        assert 1 - float(flows.fairness(scale)) == pytest.approx(seen, rel=within)
