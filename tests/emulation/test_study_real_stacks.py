"""Studies on real stacks: one artefact of each, for some seconds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from emulations import ON_THE_KERNEL

import parshall.emulation
from parshall.studies.itb import mpi, real_messages, real_mpi, real_rtts
from parshall.studies.large_deviations import captured, real_stacks
from parshall.studies.large_deviations.real_stacks import ARTEFACTS, SLOWER, Summary, summaries
from parshall.studies.rio import real_stacks as rio
from parshall.studies.study import Emulated, emulated
from parshall.studies.tail_index import real_stacks as tail_index

pytestmark = ON_THE_KERNEL


def test_flows_of_linux_have_the_windows_that_their_links_leave_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(real_stacks.SECONDS, "quick", 15.0)
    names = ("fig3", "fig5")
    some = [each for each in ARTEFACTS if each.name in names]
    scenario = real_stacks.at_once(some, SLOWER, "quick", 1, {})
    warm_up_s = real_stacks.WARM_UP_S["quick"]
    found = emulated("Reno", scenario, partial(summaries, drawn=False), names, warm_up_s).answer()
    assert isinstance(found, Emulated)
    assert found.validity.level in {"valid", "doubtful", "invalid"}
    ours: Summary = found.answer["fig3"]
    # (C - X) (RTT + B/C) is 147 packets; a busy machine sends in bursts, which lose packets earlier.
    assert 60 < ours.highest < 160
    for each in found.answer.values():
        assert each.lowest < each.mean < each.highest
        assert 0 < each.losses < 0.2


def test_a_capture_of_linux_says_what_its_socket_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured, "LENGTH", {"quick": 1000})
    found = emulated("download", captured.scenario("quick", 1, {}), captured.download, 1000).answer().answer
    assert found.mean == pytest.approx(found.socket_window, rel=0.15)
    # The capture has the warm-up too, in which slow start loses no more than a window of about 120 packets, twice.
    assert 0 <= found.flow.row["retransmissions"] - found.socket_retransmissions < 240


def test_messages_of_linux_wait_for_their_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten exchanges of 1 MB over 1 Gbit/s and 11.6 ms: longer than what the line takes, each longer than an RTT."""
    monkeypatch.setattr(real_messages, "MESSAGES", 10)
    scenario = real_messages.scenario(5, {"kernel": {"sysctls": real_messages.SYSCTLS}})
    found = real_messages.real_times(scenario, "this", 5).answer
    taken = np.diff(found.ends_s, prepend=0.0)
    assert len(taken) == 10
    assert (taken > 2 * 8e6 / 1e9 + 0.0116).all()
    assert taken[-1] < taken[0] < 1.0


@pytest.mark.skipif(mpi.missing() is not None, reason="no Open MPI")
def test_ranks_of_mpi_exchange_over_the_network_and_nothing_else() -> None:
    """A large message waits for an agreement, a round trip each, unless it leaves at once; both cross the network."""
    scenario = real_messages.scenario(5, {"kernel": {"sysctls": real_messages.SYSCTLS}})
    taken = {}
    for eager in (False, True):
        work = mpi.Work("ping_pong", 1_000_000, 8, eager=eager)
        exchange = real_mpi.Exchange(work, "8 messages", 0.0)
        taken[eager] = real_mpi.times(scenario, "this", exchange, 5).answer
        assert len(taken[eager]) == 8
        assert (taken[eager] > 2 * 8e6 / 1e9 + 0.0116).all()
    # As of the source's network: two agreements of 11.6 ms in each exchange, once slow start is over.
    assert np.median(taken[False][4:]) - np.median(taken[True][4:]) > 0.0116


def test_hosts_of_linux_lose_in_their_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    """One host of 20 Mbit/s, no limit to its window: its queue of 20 packets loses, and it fills its line."""
    monkeypatch.setitem(real_rtts.FLOW_S, "quick", 8.0)
    scenario = real_rtts.lasting([real_rtts.Place("reno", 1)], 20.0, real_rtts.SLOWER, "quick")
    run = parshall.emulation.emulate(scenario)
    (point,) = real_rtts.points(run, real_rtts.SLOWER)["reno-1"]
    assert 0.7e9 < point.goodput_bps < 1e9
    assert run.flows["retransmissions"][0] > 0


def test_sessions_of_linux_get_what_they_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rio.DURATION_S, "quick", 6.0)
    scenario = rio.scenario("table1", "cubic", "quick", 1, {})
    found = emulated("CUBIC", scenario, rio.summary, 6.0).answer().answer
    values = {name: float(each[0]) for name, each in found.values.items()}
    assert 5400 < values["T"] < 6400  # 6000 packets/s are the link's
    assert 3000 < values["T_in"] < 4100  # 100 sessions reserve 40 packets/s each
    assert values["p_in"] < values["p_out"] < 0.1
    assert len(found.session_per_s) == 100


def test_linux_without_metrics_forgets_ssthresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept between connections spares the losses at which slow start ends: the factor of Fig. 1."""
    monkeypatch.setitem(tail_index.SETTLING_S, "quick", 2.0)
    monkeypatch.setitem(tail_index.MEASURED_S, "quick", 2.0)
    losses = {}
    for setting in tail_index.SETTINGS[::2]:
        point = tail_index.Point(setting, 4.0, tail_index.SLOWER, "quick")
        scenario = point.scenario(point.real, 1, 1000.0)
        warm_up_s = 2.0 * tail_index.SLOWER
        losses[setting.slow_start] = emulated("", scenario, tail_index.measured_of, warm_up_s).answer().answer.loss[0]
    assert losses[True] > 3 * losses[False]
