"""Traces in Python: refusals, tables, what windows say, the page, the command line; real traces where they are."""

from __future__ import annotations

import gzip
import json
import os
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.foundations.errors import InputError, OutputExistsError
from parshall.instruments.observation import Observation, observe
from parshall.instruments.observation.flow import TracedFlow, clopper_pearson
from parshall.report.observation.page import document, write_page
from parshall_studies import synthesis
from parshall_studies.chains.growth import growth
from parshall_studies.chains.large_deviations import spectrum
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.observed.arrivals import arrivals
from parshall_studies.observed.spectra import variability

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("PARSHALL_DATA", ROOT.parent / "shared" / "data"))
CORPUS = ROOT / "fuzz" / "corpus" / "captures"
CWND = ROOT / "fuzz" / "corpus" / "series" / "cwnd.csv"

Cli = Callable[..., Any]


def shared(name: str) -> Path:
    """A file of the shared data, which the project does not contain."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there (PARSHALL_DATA names the folder)")
    return path


def udp_only(path: Path) -> Path:
    """A capture of one datagram, raw IP."""
    packet = bytes([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]) + bytes(8)
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    path.write_bytes(header + struct.pack("<IIII", 1, 2, len(packet), len(packet)) + packet)
    return path


# --- refusals: one clear message each ---


def refusals(folder: Path) -> Iterator[tuple[Path, str]]:
    missing = folder / "missing.pcap"
    yield missing, "missing.pcap: no such file"
    text = folder / "notes.txt"
    text.write_text("dear diary")
    yield text, 'found text that begins with "dear diary"; accepted: pcap, pcapng'
    empty = folder / "empty"
    empty.touch()
    yield empty, "found an empty file"
    header = folder / "header.pcap"
    header.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    yield header, "a capture without a packet"
    yield udp_only(folder / "udp.pcap"), "no TCP among 1 frames: 1 of other protocols"
    cut = folder / "cut.pcap"
    cut.write_bytes((CORPUS / "ethernet.pcap").read_bytes()[:60])
    yield cut, "a capture without a packet; reading stopped at byte 24"
    yield folder, "no trace: "


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.pcap")  # Latin 1: no UTF-8
    try:
        path.write_bytes((CORPUS / "ethernet.pcap").read_bytes())
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    assert ps.observe(path).flows.equals(ps.observe(CORPUS / "ethernet.pcap").flows)


def test_what_cannot_be_observed_is_refused_in_one_message(tmp_path: Path) -> None:
    for path, words in refusals(tmp_path):
        with pytest.raises(InputError) as caught:
            ps.observe(path)
        message = str(caught.value)
        assert words in message, message
        assert "\n" not in message
    with pytest.raises(InputError, match="give at least one"):
        ps.observe()
    with pytest.raises(InputError, match="rtt_s: found -1"):
        ps.observe(CWND, rtt_s=-1)


def test_output_is_not_overwritten_unless_told(tmp_path: Path) -> None:
    target = tmp_path / "out"
    first = ps.observe(CORPUS / "vlan.pcap", output=target)
    assert ps.Observation.load(target).flows.equals(first.flows)
    with pytest.raises(OutputExistsError, match="or overwrite=True"):
        ps.observe(CORPUS / "vlan.pcap", output=target)
    ps.observe(CWND, output=target, overwrite=True)
    assert ps.Observation.load(target).captures[0]["format"] == "cwnd"
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(OutputExistsError, match=r"holds thesis\.tex, which is no part of a result"):
        ps.observe(CORPUS / "vlan.pcap", output=other, overwrite=True)
    with pytest.raises(InputError):
        ps.observe(tmp_path / "missing", output=tmp_path / "new")
    assert not (tmp_path / "new").exists(), "nothing half-written is left"
    with pytest.raises(InputError, match="not the directory of a result"):
        ps.Observation.load(other)


# --- tables ---


def test_every_file_of_the_corpus_has_its_flow() -> None:
    own = [CWND, CWND.with_name("tcp_info.csv"), ROOT / "fuzz" / "corpus" / "json_logs" / "ndt7.json"]
    for path in [*sorted(CORPUS.iterdir()), *own]:
        observation = ps.observe(path)
        assert len(observation.flows) == 1, path
        if observation.captures[0]["format"].startswith("pcap"):
            row = observation.flows.to_dicts()[0]
            assert (row["packets_sent"], row["retransmissions"]) == (6, 2), path
            assert observation.trace_flows["delivered_bytes"].to_list() == [4000], path
            assert observation.trace_flows["ending"].to_list() == ["reset"], path


def test_several_traces_are_numbered_and_parts_are_joined(tmp_path: Path) -> None:
    both = ps.observe(CORPUS / "vlan.pcap", CORPUS / "little.pcapng")
    assert both.flows["repetition"].to_list() == [0, 1]
    assert both.flow(0, 1).capture["format"] == "pcapng"
    whole = (CORPUS / "raw.pcap").read_bytes()
    length = struct.unpack_from("<I", whole, 24 + 8)[0]
    border = 24 + 16 + length
    (tmp_path / "a").write_bytes(whole[:border])
    (tmp_path / "b").write_bytes(whole[:24] + whole[border:])
    joined = ps.observe(tmp_path / "a", tmp_path / "b", join=True)
    assert joined.flows.drop("repetition").equals(ps.observe(CORPUS / "raw.pcap").flows.drop("repetition"))


def test_flows_are_chosen_by_number_or_address() -> None:
    observation = ps.observe(CORPUS / "vlan.pcap")
    assert len(observation.selected(["10.0.0.1"])) == len(observation.selected(["0"])) == 1
    with pytest.raises(InputError, match=r'found "10\.9"'):
        observation.selected(["10.9"])
    with pytest.raises(InputError, match="found 7"):
        observation.flow(7)


# --- what windows say ---


def reno(p_packet: float, rounds: int, seed: int) -> TracedFlow:
    """A flow whose windows are the chain's; a loss shows in its slot, and half of the time in the next one too."""
    random = np.random.default_rng(seed)
    window, windows, lost = 10, [], []
    while len(windows) < rounds:
        loses = random.random() < 1 - (1 - p_packet) ** window
        windows.append(window)
        lost.append(loses)
        window = max(window // 2, 1) if loses else window + 1
        if loses and random.random() < 0.5:
            windows.append(window)
            lost.append(True)
    frame = pl.DataFrame({"window_packets": windows, "lost": lost, "start_s": np.arange(len(windows)) * 0.1})
    return TracedFlow({"group": "chain", "repetition": 0, "flow": 0}, {}, frame, pl.DataFrame(), {})


def test_the_loss_function_is_that_of_the_chain() -> None:
    p = 0.002
    flow = reno(p, 60_000, 1)
    bins = flow.loss_function()
    assert len(bins) > 12
    assert sum(each.rounds for each in bins) == flow.steady.sum()
    inside = [each.p_low <= 1 - (1 - p) ** each.window <= each.p_high for each in bins]
    assert np.mean(inside) >= 0.85, "95 % intervals"
    assert all(low.high <= high.low for low, high in pairwise(bins))


def test_increase_and_decrease_are_those_of_reno() -> None:
    changes = reno(0.001, 20_000, 2).changes()
    assert changes.increase == pytest.approx((1, 1, 1))
    assert changes.factor is not None
    assert changes.factor[1] == pytest.approx(0.5, abs=0.03)
    assert changes.is_reno


def test_a_window_that_does_not_grow_has_an_increase_of_zero() -> None:
    windows = np.full(90, 7)
    windows[[30, 60]] = 5
    lost = np.zeros(90, dtype=bool)
    lost[[29, 59]] = True
    rounds = pl.DataFrame({"round": range(90), "start_s": np.arange(90.0), "window_packets": windows, "lost": lost})
    row = {"flow": 0, "repetition": 0, "group": "flat"}
    assert TracedFlow(row, {}, rounds, pl.DataFrame(), {}).changes().increase == (0, 0, 0)


def test_the_spectrum_is_that_of_the_fitted_chain() -> None:
    flow = reno(0.002, 60_000, 4)
    found = variability(flow)
    assert [each.scale for each in found.empirical] == [100, 200, 500, 1000]
    assert found.fitted is not None
    exact = spectrum(Bernoulli(0.002))
    # Losses in consecutive round trips are one event here and two in the chain: rare with windows of this size.
    assert found.fitted.mean == pytest.approx(exact.mean, rel=0.02)
    for each in found.empirical[2:]:
        bounds = found.fitted.bounds(flow.windows.size, each.scale)
        assert bounds == pytest.approx(exact.bounds(flow.windows.size, each.scale), rel=0.04), "what p(w) was fitted on"
        assert (each.lowest, each.highest) == pytest.approx(bounds, rel=0.1), "one realisation"


def test_a_flow_too_short_for_any_scale_says_so() -> None:
    with pytest.raises(InputError, match="299 round trips are too few for any scale; 400 are needed"):
        variability(reno(0.02, 299, 5))


def grown(control: str, p_packet: float, rounds: int, seed: int) -> TracedFlow:
    """A flow whose windows a control's rules make, under independent losses but none twice in a row; RTTs of 0.1 s."""
    random, windows, lost = np.random.default_rng(seed), [], []
    rule, early, w_max = growth(control, 0.1), np.array([False]), 0.0
    rule.begin(np.array([200.0]), early)
    for _ in range(rounds):
        window = float(rule.window[0])
        again = bool(lost and lost[-1])  # it would be the same loss event, for which no window is reduced
        loses = not again and random.random() < 1 - (1 - p_packet) ** int(window)
        windows.append(int(window))
        lost.append(loses)
        if loses:
            early = np.array([window < w_max])
            w_max = float(rule.aim(rule.window, early)[0])
            rule.begin(rule.window, early)
        else:
            rule.advance()
    frame = pl.DataFrame({"window_packets": windows, "lost": lost, "start_s": np.arange(rounds) * 0.1})
    row = {"group": control, "repetition": 0, "flow": 0, "mean_rtt_s": 0.1}
    return TracedFlow(row, {}, frame, pl.DataFrame(), {})


@pytest.mark.slow
@pytest.mark.parametrize("control", ["bic", "highspeed", "cubic", "scalable"])
def test_the_fitted_chain_is_that_of_the_named_control(control: str) -> None:
    flow = grown(control, 1e-3, 20_000, 3)
    own, renos = variability(flow, control), variability(flow)
    assert own.fitted is not None
    assert renos.fitted is not None
    mean = float(flow.windows.mean())
    # p(w, k) is known from about a thousand losses, 3 %; Reno's chain halves and climbs by one, which these do not.
    assert own.fitted.mean == pytest.approx(mean, rel=0.04)
    assert abs(renos.fitted.mean - mean) > 3 * abs(own.fitted.mean - mean)
    (*_, longest) = own.empirical
    bounds = own.fitted.bounds(flow.windows.size, longest.scale)
    assert longest.lowest == pytest.approx(bounds[0], rel=0.15), "the extreme of twenty intervals"
    # Above the largest window seen p(w) goes on as it was there, which flatters CUBIC's steep climbs.
    assert 0.9 * longest.highest < bounds[1] < 1.35 * longest.highest


def test_a_chain_that_needs_the_round_trip_time_says_so() -> None:
    flow = grown("cubic", 5e-4, 2000, 1)
    flow.row["mean_rtt_s"] = None
    found = variability(flow, "cubic")
    assert found.fitted is None
    assert "no round-trip time is known, and CUBIC grows with time" in found.reason
    assert found.empirical, "what the flow itself shows stays"
    with pytest.raises(InputError, match='control: found "vegas"; accepted: reno, bic'):
        variability(flow, "vegas")


@pytest.mark.slow
def test_a_chain_that_is_not_the_flows_predicts_nothing(cli: Cli, tmp_path: Path) -> None:
    """CUBIC's windows, and Reno's chain on their losses: its mean is far off, and no range comes from it."""
    flow = grown("cubic", 1e-4, 20_000, 3)
    renos = variability(flow)
    assert renos.fitted is not None
    assert renos.fitted.mean < flow.windows.mean() / 1.25
    assert not renos.predicts
    assert renos.bounds(flow.windows.size, 100) is None
    assert "a factor of" in renos.reason
    assert "up to 1.25 is accepted" in renos.reason
    rows = "".join(f"{0.1 * place:.1f},{window:.0f}\n" for place, window in enumerate(flow.windows))
    (tmp_path / "series.csv").write_text("t_s,cwnd_pkts\n" + rows)
    made = cli("observe", "series.csv", "--rtt", "100 ms", "--json")
    found = json.loads(made.stdout)["flows"][0]["variability"]
    assert "a factor of" in found["reason"]
    assert {each["chain_lowest"] for each in found["scales"]} == {None}
    assert found["chain_mean_packets"] < found["mean_packets"] / 1.25
    text = (tmp_path / "observe.html").read_text()
    assert "It is not a chain of this flow, so no range is predicted from it" in text
    assert "(chain:" not in text
    assert "a factor of" in " ".join(cli("observe", "series.csv", "--rtt", "100 ms", "--cc", "reno").stderr.split())


@pytest.mark.slow
def test_a_chain_that_fails_costs_nothing_else(cli: Cli, tmp_path: Path) -> None:
    """Losses at small windows alone: CUBIC's chain hardly ever comes back, and its spectrum is not known there."""
    random = np.random.default_rng(7)
    windows = np.concatenate([np.repeat(random.integers(20, 1000, 40), 60), random.integers(20, 60, 2600)])
    lost = (windows < 60) & (random.random(windows.size) < 0.2)
    frame = pl.DataFrame({"window_packets": windows, "lost": lost, "start_s": np.arange(windows.size) * 0.2})
    row = {"group": "cubic", "repetition": 0, "flow": 0, "mean_rtt_s": 0.2}
    found = variability(TracedFlow(row, {}, frame, pl.DataFrame(), {}), "cubic")
    assert found.fitted is None
    assert len(found.empirical) == 4
    assert found.superposition is not None
    assert "CUBIC's chain" in found.reason
    assert "accepted is" not in found.reason, "words of the solver are not the reader's"
    (tmp_path / "short.csv").write_text(
        "t_s,cwnd_pkts\n" + "".join(f"{0.1 * i:.1f},{10 + i % 9}\n" for i in range(300))
    )
    made = cli("observe", "short.csv", "--rtt", "100 ms", "--json", "--no-page")
    short = json.loads(made.stdout)["flows"][0]["variability"]
    assert "too few for any scale" in short["reason"]


def test_arrivals_are_left_out_if_asked(cli: Cli, tmp_path: Path) -> None:
    capture = str(Path(__file__).parents[2] / "fuzz" / "corpus" / "captures" / "ethernet.pcap.gz")
    made = cli("observe", capture, "--no-arrivals", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["arrivals"] is None
    assert "Arrivals: how they depend" not in (tmp_path / "observe.html").read_text()
    assert json.loads(cli("observe", capture, "--json").stdout)["arrivals"]
    assert "Arrivals: how they depend" in (tmp_path / "observe.html").read_text()


@pytest.mark.parametrize("name", ["longDistance_cubic_5_1_53002", "longDistance_cubic_7_1_53030"])
def test_reductions_of_real_cubic_windows(name: str) -> None:
    """What is undone, and what no sender's window can be, is not a loss; a reduction leaves 0.7 (RFC 9438 §4.6)."""
    found = held_out(f"{name}_cwnd.csv.gz", rtt_s=0.2)
    factor = found.flow(0).changes().factor
    assert factor is not None
    # A slot's window is taken a round trip after the loss: growth since then, and slots cut by the edge.
    assert factor[1] == pytest.approx(0.7, abs=0.07)
    assert found.captures[0]["undone_reductions"] > 0
    assert found.captures[0]["spikes"] > 50


def test_reductions_of_real_reno_windows_stay() -> None:
    found = held_out("wireless_reno_1_1_10000_cwnd.csv.gz", rtt_s=None)
    factor = found.flow(0).changes().factor
    assert factor is not None
    assert factor[1] == pytest.approx(0.5, abs=0.01)
    # 98 falls of the window, of which 9 are back at once: upstream cuts it into as many congestion-avoidance periods.
    assert found.flows["loss_events"].to_list() == [89]
    assert found.captures[0]["undone_reductions"] == 9


def held_out(name: str, rtt_s: float | None) -> Observation:
    path = Path(__file__).parents[3] / "shared" / "data" / "cwnd" / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return observe(path, rtt_s=rtt_s)


@pytest.mark.parametrize(("name", "flows"), [("test-rrul_be-socket_stats", 8), ("test-tcp_nup", 50)])
def test_real_results_of_flent(name: str, flows: int) -> None:
    path = Path(__file__).parents[3] / "shared" / "data" / "flent" / f"{name}.flent.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    found = observe(path)
    assert (found.captures[0]["format"], len(found.flows)) == ("flent", flows)
    with_windows = found.flows.filter(pl.col("mean_cwnd_packets").is_not_null())
    assert len(with_windows) == (4 if flows == 8 else 50)
    assert with_windows["mean_rtt_s"].is_between(0.02, 1.0).all()


def test_any_csv_by_its_columns(cli: Cli, tmp_path: Path) -> None:
    rows = "".join(f"{100 * i},{1448 * (10 + i % 20)},90000\n" for i in range(900))
    (tmp_path / "log.csv").write_text("when,bytes,rtt\n" + rows)
    made = cli("observe", "log.csv", "--columns", "time=when:ms,cwnd=bytes:bytes,rtt=rtt:us,mss=1448", "--json")
    assert made.exit_code == 0, made.output
    flow = json.loads(made.stdout)["flows"][0]
    assert flow["mean_cwnd_packets"] == pytest.approx(19.5, rel=0.01)
    assert flow["mean_rtt_s"] == pytest.approx(0.09)
    refused = cli("observe", "log.csv")
    assert refused.exit_code == 2
    assert "any CSV with --columns" in " ".join(refused.stderr.split())


@pytest.mark.slow
def test_observe_fits_the_chain_that_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    flow = grown("scalable", 1e-3, 4000, 2)
    rows = "".join(f"{0.1 * place:.1f},{window:.0f}\n" for place, window in enumerate(flow.windows))
    (tmp_path / "series.csv").write_text("t_s,cwnd_pkts\n" + rows)
    made = cli("observe", "series.csv", "--rtt", "100 ms", "--cc", "scalable", "--json")
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)["flows"][0]["variability"]
    assert found["congestion_control"] == "scalable"
    assert found["chain_mean_packets"] == pytest.approx(found["mean_packets"], rel=0.1)
    assert [each["scale_rtts"] for each in found["scales"]] == [20, 50, 100]
    assert all(each["chain_lowest"] < found["mean_packets"] < each["chain_highest"] for each in found["scales"])
    text = (tmp_path / "observe.html").read_text()
    assert "Scalable's chain, fitted on p(w)" in text.replace("&#39;", "'")
    assert "that of Scalable's fitted chain" in text.replace("&#39;", "'")
    refused = cli("observe", "series.csv", "--cc", "scalible")
    assert refused.exit_code == 2
    assert '--cc: found "scalible"' in refused.stderr
    assert 'Did you mean "scalable"?' in refused.stderr


def test_slow_start_does_not_count() -> None:
    windows = [10, 20, 40, 80, 81, 82, 83, 84, 85, 86] * 3
    lost = ([False] * 9 + [True]) * 3
    frame = pl.DataFrame({"window_packets": windows, "lost": lost, "start_s": np.arange(30.0)})
    flow = TracedFlow({"group": "x"}, {}, frame, pl.DataFrame(), {})
    assert flow.steady.tolist() == ([False] * 3 + [True] * 7) * 3
    assert [(each.rounds, each.losses) for each in flow.loss_function()] == [(21, 3)]
    with pytest.raises(InputError, match="p\\(w\\) needs 20"):
        TracedFlow({"group": "x"}, {}, frame.head(10), pl.DataFrame(), {}).loss_function()


def test_clopper_pearson_covers() -> None:
    random = np.random.default_rng(3)
    drawn = random.binomial(40, 0.1, 2000)
    intervals = np.array([clopper_pearson(int(k), 40) for k in drawn])
    assert np.mean((intervals[:, 0] <= 0.1) & (intervals[:, 1] >= 0.1)) >= 0.95


# --- the page and the command line ---


def test_the_page_of_a_short_flow_says_what_it_has_not(tmp_path: Path) -> None:
    observation = ps.observe(CORPUS / "ethernet.pcap.gz")
    page = document(observation)
    text = " ".join(sentence for section in page.sections for sentence in section.paragraphs)
    assert "made at the sender" in text
    assert "gzip" in text
    write_page(observation, tmp_path / "page.html")
    assert "10.0.0.1:40000" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_flows_of_a_few_packets_have_a_row_and_no_section() -> None:
    both = ps.observe(CORPUS / "vlan.pcap", CORPUS / "little.pcapng")
    titles = [section.heading for section in document(both).sections]
    assert sum(title.startswith("Flow 0:") for title in titles) == 1, titles
    chosen = [section.heading for section in document(both, ["10.0.0.1"]).sections]
    assert sum(title.startswith("Flow 0:") for title in chosen) == 2, chosen


def test_the_page_says_where_reading_stopped(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes((CORPUS / "ethernet.pcap").read_bytes()[:-10])
    page = document(ps.observe(cut))
    text = " ".join(sentence for section in page.sections for sentence in section.paragraphs)
    assert "could be read up to byte" in text
    assert "ends in the middle of a record" in text


def test_observe_prints_json_and_writes_the_page(cli: Cli, tmp_path: Path) -> None:
    made = cli("observe", CORPUS / "vlan.pcap", "-o", "out", "--json")
    assert made.exit_code == 0, made.output
    value = json.loads(made.stdout)
    assert value["captures"][0]["tcp"] == 14
    flow = value["flows"][0]
    assert (flow["packets_sent"], flow["vantage"], flow["rounds"]) == (6, "sender", flow["rounds"])
    assert flow["loss_function"] is None
    assert (tmp_path / "out" / "observe.html").is_file()
    assert (tmp_path / "out" / "repetitions" / "0000" / "flows.parquet").is_file()


def test_observe_refuses_with_exit_code_2(cli: Cli, tmp_path: Path) -> None:
    for path, words in refusals(tmp_path):
        made = cli("observe", path)
        assert made.exit_code == 2, path
        assert words in made.stderr
    assert cli("observe", CORPUS / "vlan.pcap", "--flow", "nobody", "--no-page").exit_code == 2
    assert cli("observe", CWND, "--rtt", "soon", "--no-page").exit_code == 2
    made = cli("observe", CWND, "--rtt", "50 ms", "--no-page")
    assert made.exit_code == 0
    assert "cwnd.csv" in made.stdout
    assert not (tmp_path / "observe.html").exists()


# --- real traces ---


def test_an_ndt_download_is_as_tshark_sees_it() -> None:
    """Reference: tshark 4.0.17, `-Y tcp.analysis.X | wc -l`, and `-e tcp.analysis.ack_rtt`, on the decompressed file.

    tshark finds 4 fast retransmissions and 35 `out_of_order` segments of the server, where the capture was made: a
    sender's packets overtake each other nowhere before that, so all 39 were sent again. Of its 7067 RTT samples of
    that direction the least is 42.929 ms.
    """
    observation = ps.observe(shared("pcap/ndt-4c6fb_1625899199_000000000121C1A0.pcap.gz"))
    row = observation.largest.to_dicts()[0]
    assert row["retransmissions"] == 4 + 35
    assert row["min_rtt_s"] == pytest.approx(0.042929, abs=1e-6)
    facts = observation.flow(row["flow"]).facts
    assert (facts["vantage"], facts["segment_bytes"], facts["uncaptured_packets"]) == ("sender", 1188, 0)
    assert facts["handshake_rtt_s"] == pytest.approx(0.043082, abs=1e-6)
    assert observation.captures[0]["tcp"] == 18_240


def test_an_upload_with_merged_segments_is_as_tshark_sees_it() -> None:
    """Reference: tshark 4.0.17 finds no retransmission, and a least RTT of 2.737 ms."""
    observation = ps.observe(shared("pcap/mlab_large-ndt.pcap"))
    row = observation.largest.to_dicts()[0]
    assert (row["retransmissions"], row["packets_dropped"]) == (0, 0)
    assert row["min_rtt_s"] == pytest.approx(0.002737, abs=1e-6)
    facts = observation.flow(row["flow"]).facts
    assert (facts["merged_segments"], facts["segment_bytes"], facts["delivered_bytes"]) == (123, 1368, 1_616_579)


# Reference: tcptrace 6.6.7, `tcptrace -lrn`.


def observed_flow(name: str, sends: str = "") -> dict[str, Any]:
    """The rows of the largest flow of a capture, or of the one that `sends` names."""
    observation = ps.observe(shared(f"pcap/tcptrace/{name}"))
    row = observation.selected([sends] if sends else []).to_dicts()[0]
    flow = observation.flow(row["flow"])
    return {**row, **flow.facts, "rounds": flow.windows.size, "mean_window": float(flow.windows.mean())}


def test_an_old_sender_that_never_renews_its_echo_has_the_round_trips_of_tcptrace() -> None:
    """RTT 559.5 ms at least (of the SYN), 585.6 ms in the mean, 151.1 s / 0.5856 s = 258 round trips of 45 packets.

    tcptrace takes the newest segment that an ACK covers. Senders take the oldest, as the reader does: ACKs are of two
    packets, of which the first left 151.1 s / 11594 earlier.
    """
    found = observed_flow("sack_nasa_sim.dump.gz")
    assert (found["vantage"], found["packets_sent"], found["retransmissions"]) == ("sender", 11594, 7)
    assert found["min_rtt_s"] == pytest.approx(0.5595, rel=0.002)
    assert found["mean_rtt_s"] == pytest.approx(0.5856 + 151.1 / 11594, rel=0.002)
    # Slots of slow start, and the one under way at the end, make up for the 2 %.
    assert found["rounds"] == pytest.approx(258, rel=0.02)
    assert found["mean_window"] == pytest.approx(45, rel=0.02)


def test_probes_of_a_closed_window_are_no_losses() -> None:
    """6 probes and no retransmission; 47 probes, 1 retransmission, and 4 that came out of order."""
    found = observed_flow("zwnd.dmp.gz")
    assert (found["zero_window_probes"], found["retransmissions"], found["packets_dropped"]) == (6, 0, 0)
    assert (found["timeouts"], found["zero_windows"]) == (0, 7)
    found = observed_flow("urgent.dmp.gz", "132.235.1.12:19")
    assert found["zero_window_probes"] == 47
    # tcptrace's out of order are retransmissions of what was lost before the capture.
    assert found["retransmissions"] + found["out_of_order_packets"] == 1 + 4


def test_segments_longer_than_the_stated_size_are_packets() -> None:
    """238 segments of 1392 bytes with timestamps, where the handshake stated 1392 without them.

    The mean RTT of tcptrace is 38.1 ms, of the newest segment that an ACK covers; the oldest is no newer.
    """
    found = observed_flow("dlt_null.dmp.gz")
    assert (found["packets_sent"], found["merged_segments"], found["segment_bytes"]) == (238, 0, 1392)
    assert 0.0381 <= found["mean_rtt_s"] < 0.0381 * 1.03


@pytest.mark.parametrize("number", [1, 2, 3])
def test_reno_over_a_wireless_network(number: int) -> None:
    """An hour of Reno each; the round-trip time of 78.5 ms is the data's own description, from the slope."""
    observation = ps.observe(shared(f"cwnd/wireless_reno_1_{number}_10000_cwnd.csv.gz"))
    flow = observation.flow(0)
    assert flow.row["mean_rtt_s"] == pytest.approx(0.0785, rel=0.02)
    changes = flow.changes()
    assert changes.is_reno
    assert changes.factor is not None
    assert changes.factor[1] == pytest.approx(0.5, abs=0.01)
    # Periods of congestion avoidance as the data's authors cut them, which leave out short ones.
    with gzip.open(shared(f"cwnd/wireless_reno_1_{number}_10000_ca.csv.gz"), "rt") as file:
        periods = sum(1 for _ in file) - 1
    assert periods <= int(flow.events.sum()) <= 1.15 * periods


def test_cubic_needs_its_round_trip_time() -> None:
    path = shared("cwnd/longDistance_cubic_5_1_53002_cwnd.csv.gz")
    observation = ps.observe(path)
    assert observation.rounds.is_empty()
    assert "give the round-trip time" in observation.captures[0]["remarks"][0]
    assert len(ps.observe(path, rtt_s=0.2).rounds) == pytest.approx(5000, rel=0.01)


def test_kernel_samples_of_downloads() -> None:
    paths = sorted(shared("ndt7").glob("*.csv.gz"))
    observation = ps.observe(*paths)
    assert len(observation.flows) == len(paths) == 57
    assert observation.flow_samples["srtt_s"].is_not_null().all()
    assert observation.flows["packets_dropped"].is_null().all(), "TCP_INFO as it is in these files does not say"


# --- arrivals ---


def arriving(path: Path, counts: np.ndarray, bin_s: float, *, flags: int = 0x10, ports: int = 1) -> Path:
    """A capture with so many packets in each bin, evenly spaced, from `ports` ports in turn."""
    made = bytearray(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))
    sent = 0
    for place, number in enumerate(counts.tolist()):
        for k in range(int(number)):
            at = round((place + (k + 0.5) / number) * bin_s * 1e9)
            port = 1024 + sent % ports
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 41, sent % 65536, 0, 64, 6, 0, bytes(4), bytes([10, 0, 0, 2]))
            tcp = struct.pack(">HHIIBBHHH", port, 80, 1, 1, 0x50, flags, 1000, 0, 0)
            data = ip[:12] + bytes([10, 0, port >> 8, port & 255]) + ip[16:] + tcp + b"x"
            header = struct.pack("<IIII", 1_600_000_000 + at // 10**9, at % 10**9, len(data), 41)
            made += header + data
            sent += 1
    path.write_bytes(made)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("h", "label"), [(0.85, "long-range dependent"), (0.5, "no long-range dependence shown")])
def test_arrivals_have_the_verdict_of_what_they_were_made_of(h: float, label: str, tmp_path: Path) -> None:
    """fGn of a known H as packets a bin: each estimator is within 0.1 of it, some five standard errors of 2^14 bins."""
    counts = np.maximum(np.round(8 + 2 * synthesis.fgn(2**14, h, np.random.default_rng(5))), 0)
    observation = ps.observe(arriving(tmp_path / "fgn.pcap", counts, 0.0064))
    packets, octets, connections = arrivals(observation)
    # Bins of 0.1 ms are joined to 6.4 ms: those of the series, but for the first packet's place in them.
    assert packets.bin_s == pytest.approx(0.0064)
    assert packets.series.sum() >= 0.99 * counts.sum()
    for each in (packets, octets):
        assert each.verdict is not None
        assert each.verdict.label == label, each.verdict.sentence
        assert each.verdict.h == pytest.approx(h, abs=0.1)
    assert connections.verdict is None
    assert "are needed" in connections.reason
    text = " ".join(sentence for section in document(observation).sections for sentence in section.paragraphs)
    assert f": {label.capitalize()}:" in text


def test_new_connections_are_an_arrival_series_too(tmp_path: Path) -> None:
    counts = np.random.default_rng(6).poisson(3, 1024)
    path = arriving(tmp_path / "flows.pcap", counts, 0.01, flags=0x02, ports=60_000)
    (connections,) = [each for each in arrivals(ps.observe(path)) if each.quantity == "connections"]
    assert connections.series.sum() == pytest.approx(counts.sum(), abs=20)
    assert connections.verdict is not None
    assert connections.verdict.label == "too short to tell"


def test_arrivals_in_json(cli: Cli) -> None:
    made = cli("observe", CORPUS / "vlan.pcap", "--json", "--no-page")
    (trace,) = json.loads(made.stdout)["arrivals"]
    assert [each["quantity"] for each in trace] == ["packets", "bytes", "connections"]
    assert trace[0]["hurst"] is None
    assert "say nothing about long times" in trace[0]["reason"]
    assert json.loads(cli("observe", CWND, "--json", "--no-page").stdout)["arrivals"] == [[]]


def test_a_series_that_breaks_off_says_where_on_the_page(tmp_path: Path) -> None:
    rows = "".join(f"{0.1 * i:.1f},{10 + i * 7919 % 31}\n" for i in range(3000))
    whole = gzip.compress(("t_s,cwnd_pkts\n" + rows).encode())
    cut = tmp_path / "cwnd.csv.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    observation = ps.observe(cut)
    (stop,) = observation.captures[0]["stopped"]
    assert 0 < stop["byte"] < len(rows)
    text = " ".join(sentence for section in document(observation).sections for sentence in section.paragraphs)
    assert f"could be read up to byte {stop['byte']} (after decompression)" in text
