"""Studies on real stacks: one artefact of each, for some seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from emulations import ON_THE_KERNEL

import parshall.instruments.emulation
from parshall.studies.artefact import Artefact, Measurement
from parshall.studies.study import Emulated, emulated
from parshall_studies import mpi, stacks
from parshall_studies.itb import exchanges, files, rtts, web
from parshall_studies.itb.network import Place, bed
from parshall_studies.itb.network import Setting as Hosts
from parshall_studies.itb.pair import TABLE6
from parshall_studies.large_deviations import constant, cross_traffic, download, on_off, pairs
from parshall_studies.large_deviations.flow import Flow
from parshall_studies.large_deviations.setting import Setting
from parshall_studies.multiple_time_scale import real_stacks as mts
from parshall_studies.multiple_time_scale import side_by_side
from parshall_studies.multiple_time_scale.grid import SOURCE, Normalised
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import Background
from parshall_studies.rio import ON_LINUX
from parshall_studies.rio.tables import measured
from parshall_studies.scaling import for_linux
from parshall_studies.tail_index import hybrid
from parshall_studies.tail_index import real_stacks as tail_index
from parshall_studies.tail_index.setting import FIG1

pytestmark = ON_THE_KERNEL


def on_kernel(point: Measurement) -> Any:
    """The answer of a measurement with hosts of Linux."""
    found = replace(point, scenario=for_linux(point.scenario, ("persistent",))).emulated().answer()
    assert isinstance(found, Emulated)
    assert found.validity.level in {"valid", "doubtful", "invalid"}
    return found.answer


SLOW = replace(Setting(), slower=2.5, warm_up_s=3.0, constant_s=6.0, cross_s=4.0, flow_s=6.0, beyond=False)


@pytest.mark.parametrize("artefact", [constant.FIG3, on_off.FIG5])
def test_flows_of_linux_have_the_windows_that_their_links_leave_them(artefact: Artefact[Setting]) -> None:
    (point,) = artefact.points(SLOW).values()
    ours: Flow = on_kernel(point)
    record = ours.record
    # (C - X) (RTT + B/C) is 134 packets; a busy machine sends in bursts, which lose packets earlier.
    assert artefact is not constant.FIG3 or 60 < record.window.max() < 160
    assert record.window.min() < record.mean < record.window.max()
    assert 0 < record.events.mean() < 0.2


def test_a_capture_of_linux_says_what_its_socket_says() -> None:
    (point,) = download.FIG7.points(replace(Setting(), flow_s=36.0)).values()
    found: download.Download = on_kernel(point)
    assert found.mean == pytest.approx(found.socket_window, rel=0.15)
    # The capture has the warm-up too, in which slow start loses no more than a window of about 120 packets, twice.
    assert 0 <= found.flow.row["retransmissions"] - found.socket_retransmissions < 240


@pytest.mark.gate
def test_messages_of_linux_wait_for_their_replies() -> None:
    """Ten exchanges of 1 MB over 1 Gbit/s and 11.6 ms: longer than what the line takes, each longer than an RTT."""
    work = mpi.Work("ping_pong", 1_000_000, 10)
    taken = exchanges.times(exchanges.scenario(), "this", exchanges.Exchange(work, "", 0.0, over_mpi=False)).answer
    assert len(taken) == 10
    assert (taken > 2 * 8e6 / 1e9 + 0.0116).all()
    assert taken[-1] < taken[0] < 1.0


@pytest.mark.needs("mpirun", "ip")
def test_ranks_of_mpi_exchange_over_the_network_and_nothing_else() -> None:
    """A large message waits for an agreement, a round trip each, unless it leaves at once; both cross the network."""
    taken = {}
    for eager in (False, True):
        work = mpi.Work("ping_pong", 1_000_000, 8, eager=eager)
        taken[eager] = exchanges.times(exchanges.scenario(), "this", exchanges.Exchange(work, "8 messages", 0.0)).answer
        assert len(taken[eager]) == 8
        assert (taken[eager] > 2 * 8e6 / 1e9 + 0.0116).all()
    # As of the source's network: two agreements of 11.6 ms in each exchange, once slow start is over.
    assert np.median(taken[False][4:]) - np.median(taken[True][4:]) > 0.0116


def test_hosts_of_linux_lose_in_their_interface() -> None:
    """One host of 20 Mbit/s, no limit to its window: its queue of 20 packets loses, and it fills its line."""
    scenario = for_linux(bed([Place("one", "reno", 1)], Hosts(slower=50, repetitions=1), 20.0, 8.0))
    run = parshall.instruments.emulation.emulate(scenario)
    (goodput,) = rtts.goodputs(run, 50).values["one"][0]
    assert 0.7e9 < goodput < 1e9
    assert run.flows["retransmissions"][0] > 0


def test_sessions_of_linux_get_what_they_reserved() -> None:
    scenario = ON_LINUX.measurements("quick")["tables", ("table1", "cubic")].scenario
    scenario = scenario.with_values({"duration": "21 s", "warm_up": "15 s"})
    found = emulated("CUBIC", scenario, measured, 6.0).answer().answer
    values = {name: float(each[0]) for name, each in found.values.items()}
    assert 5400 < values["T"] < 6400  # 6000 packets/s are the link's
    assert 3000 < values["T_in"] < 4100  # 100 sessions reserve 40 packets/s each
    assert values["p_in"] < values["p_out"] < 0.1
    assert found.session_per_s.shape == (1, 100)


def test_linux_without_metrics_forgets_ssthresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept between connections spares the losses at which slow start ends: the factor of Fig. 1."""
    monkeypatch.setitem(tail_index.SETTLING_S, "quick", 2.0)
    monkeypatch.setitem(tail_index.MEASURED_S, "quick", 2.0)
    losses = {}
    for curve in FIG1[::2]:
        point = tail_index.Point(curve, 4.0, tail_index.SLOWER, "quick")
        scenario = point.scenario(point.real, 1, 1000.0)
        warm_up_s = 2.0 * tail_index.SLOWER
        losses[curve.slow_start] = emulated("", scenario, tail_index.measured_of, warm_up_s).answer().answer.loss[0]
    assert losses[True] > 3 * losses[False]


def test_hosts_among_simulated_sources_get_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """45 of 500 sources are Linux's; the link is as full, and as lossy, as with simulated ones alone."""
    monkeypatch.setitem(hybrid.SIZES, "quick", hybrid.Size((1.5,), 2.0))
    measurement = hybrid.ON_LINUX.measurements("quick")["fig2", (100, 1.5)]
    found, expected = measurement.emulated().answer().answer, measurement.simulated().answer()
    # Simulated shares vary by 0.05 from run to run (standard deviation); four of them.
    assert found.share == pytest.approx(1, abs=0.2)
    assert found.point.throughput_mbps == pytest.approx(expected.point.throughput_mbps, rel=0.1)
    assert found.point.loss == pytest.approx(expected.point.loss, rel=0.1)


def test_small_buffers_limit_a_pair_of_linux_hosts() -> None:
    """Table 6: 64 kB a round trip of 19.8 ms are 26.5 Mbit/s; a kernel offers up to 1.3 times as much."""
    setting = Hosts(stretched=10, pair_s=0.4, repetitions=1, default_bytes=65_536)
    point = TABLE6.points(setting)["default"]
    assert isinstance(point, Measurement)
    scenario = for_linux(point.scenario.with_values({"flows.0.congestion_control": "cubic"}), ("receive_window",))
    (mbps,) = emulated("Table 6", scenario, point.measure, *point.arguments).answer().answer
    limit = 8 * setting.default_bytes / (setting.pair_rtt_ms / 1000) / 1e6
    assert 0.8 * limit < mbps < 1.4 * limit


def test_files_of_linux_come_over_http() -> None:
    """Ten files by the web server that is there: each takes a connection, a request, and what its line takes."""
    count = 10
    found = web.over_http(web.scenario(count), "this", web.server(), count).answer
    least = 2 * web.RTT_S + 8 * np.array(web.sizes(count)) / 10e6
    assert found.shape == (count,)
    assert (found > least).all()
    assert np.median(found / least) < 4


def test_files_of_linux_share_a_bottleneck() -> None:
    """Figs 8 and 9: files in competition take as long as the bottleneck does for all of them, others their own time."""
    start = ("uniform", 0.05)
    places = [
        Place("crowded", "cubic_2005", 20, 0.1, start),
        Place("free", "cubic_2005", 5, 0.1, start, reverse=4),
    ]
    scenario = for_linux(bed(places, Hosts(slower=50, repetitions=1), 19.8, 20.0))
    found = emulated("files", scenario, files.completions).answer().answer.values
    (crowded,), (free,) = found["crowded"], found["free"]
    assert (crowded.size, free.size) == (20, 5)
    assert (free > 0.99 * files.alone_s(0.1)).all()
    assert crowded.max() > 2 * files.alone_s(0.1) * 0.99
    assert free.mean() < crowded.mean()


def test_sockets_of_linux_send_the_cross_traffic_of_fig_4() -> None:
    """32 sources that are ON 0.1 of 0.22 s send 593 Mbit/s with headers; four seconds are 16 ON times of each."""
    (point,) = cross_traffic.FIG4.points(SLOW).values()
    found: cross_traffic.Arrivals = on_kernel(point)
    assert found.mean.mean == pytest.approx(593, rel=0.2)
    assert 60 < found.deviation.mean < 250


def test_pairs_of_linux_share_their_links() -> None:
    points = pairs.FAIRNESS.points(replace(Setting(), slower=0.2, flow_s=3.0))
    both: pairs.Both = on_kernel(points[pairs.MIXED])
    assert 0.1 < both.shares(1).mean() < 0.9
    # 60 Mbit/s are 100 packets in a round trip of 20 ms.
    assert 60 < (both.one + both.two).mean() < 115


def in_network(number: int, rtt_ms: int, mean_packets: float) -> side_by_side.Loaded:
    alone = Measured(0.0, (), 5.0, None, 0.0, 0.0)
    normalised = Normalised(Background(1.05, mean_packets, 17), alone, 5.0)
    return side_by_side.Loaded(side_by_side.Place(number, "reno", rtt_ms), normalised)


def test_a_plain_connection_has_the_window_of_the_source() -> None:
    """32 packets of 1000 bytes a round trip of 200 ms; with the buffer of a window limit alone it has up to 27.

    Its clients are so light that they leave it its window.
    """
    scenario = side_by_side.scenario([in_network(1, 200, 1.0)], ["reno"], 8.0, {side_by_side.HOST: True})
    (found,) = emulated("plain", scenario, side_by_side.of_run).answer().answer
    window = found.goodput_mbps * 1e6 * 0.2 / 8 / (1000 - 40)
    assert 28 < window <= 33
    assert SOURCE.window == 32


@pytest.mark.needs("clang", "bpf_helpers.h")
@pytest.mark.skipif(stacks.missing(mts.PROGRAM) is not None, reason="no BPF program for the kernel")
def test_connections_of_linux_are_steered() -> None:
    """Both settings are networks of one emulation, with the kernel's program over Reno, among simulated clients."""
    loads = [in_network(number, 30, 40.0) for number in (1, 2)]
    scenario = side_by_side.scenario(loads, [mts.HOW["steered"]] * 2, 8.0, {side_by_side.HOST: True})
    found = emulated("steered", scenario, side_by_side.of_run).answer().answer
    assert len(found) == 2
    for each in found:
        assert 0.5 < each.goodput_mbps < 10
        assert each.background_mbps > 0.3
