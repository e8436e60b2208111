"""What real hosts are told (`[flows.kernel]`), hosts that differ, and flows whose end ends the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from captures import ECE, SYN, Packet, packets
from emulations import BULK, on_the_kernel, scenario

import parshall as ps
from parshall.instruments.emulation import validity
from parshall.instruments.emulation.kernel import emulated, left_to_the_kernel, unknown_to_models

FILE = {"name": "transfer", "size": "1460 kB"}


CALLS = {"rtt": "20 ms", "workload": {"name": "cbr", "rate": "100 kbit/s"}}
LOOP = {"name": "open_loop", "size": {"name": "constant", "value": "1 kB"}, "arrivals_per_s": 5.0}


def told(name: str, workload: Any = "bulk", **options: Any) -> dict[str, Any]:
    return {**BULK, "name": name, "workload": workload, "kernel": options}


def captured(made: ps.Run) -> list[Packet]:
    (path,) = made.captures("bottleneck")
    return packets(path)


@pytest.mark.gate
@on_the_kernel
def test_groups_have_sysctls_of_their_own(tmp_path: Path) -> None:
    """Timestamps take 12 of 1460 bytes, so more packets carry the same file."""
    given = scenario(
        told("with", FILE),
        told("without", FILE, sysctls={"net.ipv4.tcp_timestamps": 0, "net.ipv4.tcp_sack": False}),
        told("as-the-first", FILE, sysctls={"net.ipv4.tcp_timestamps": "1"}),
        ends_with=["with", "without", "as-the-first"],
        seconds=20,
        probes={"pcap": True},
    )
    assert len({str(group["kernel"]["sysctls"]) for group in emulated(given)["flows"]}) == 3
    made = ps.emulate(given, tmp_path / "run")
    assert made.transfers is not None
    first_time = pl.col("packets_sent") - pl.col("retransmissions")
    counts = dict(made.transfers.select("group", first_time).iter_rows())
    assert 1000 <= counts["without"] <= 1003
    assert 1009 <= counts["with"] <= 1012
    assert 1009 <= counts["as-the-first"] <= 1012
    assert made.transfers["flow"].sort().to_list() == [0, 1, 2]
    syns = {packet.source: packet for packet in captured(made) if packet.flags & SYN}
    has = {place: [syns[f"10.1.0.{place}"].option(kind) is not None for kind in (8, 4)] for place in (1, 2, 3)}
    assert has == {1: [True, True], 2: [False, False], 3: [True, True]}, "timestamps, and SACK permitted"


@on_the_kernel
def test_groups_with_ecn_and_without_meet_in_one_queue(tmp_path: Path) -> None:
    queue = {"name": "step", "limit": "100 packets", "threshold": "20 packets"}
    made = ps.emulate(
        scenario(
            {**BULK, "name": "ecn", "ecn": True},
            {**BULK, "name": "plain"},
            {**BULK, "name": "simulated", "endpoint": "simulated"},
            bottleneck={"rate": "10 Mbit/s", "queue": queue},
            seconds=4,
            probes={"pcap": True},
        ),
        tmp_path / "run",
    )
    goodput_bps = dict(made.flows.select("group", "goodput_bps").iter_rows())
    assert min(goodput_bps.values()) > 0.1e6
    assert 8.5e6 < sum(goodput_bps.values()) < 10e6
    by_tos = {source: {packet.tos & 3 for packet in captured(made) if packet.source == source} for source in SENDERS}
    assert 2 in by_tos["10.1.0.1"], "ECT(0)"
    assert 3 in by_tos["10.1.0.1"], "CE, in the capture too"
    assert by_tos["10.1.0.2"] == {0}
    assert any(packet.flags & ECE and packet.destination == "10.1.0.1" for packet in captured(made)[10:])


SENDERS = ("10.1.0.1", "10.1.0.2")

STIFF = {"net.ipv4.tcp_moderate_rcvbuf": 0}
"""Receive buffers stay as they begin."""


@on_the_kernel
def test_pacing_and_buffers_limit_flows_and_streams_multiply_them(tmp_path: Path) -> None:
    buffered = {"send_buffer": "64 kB", "receive_buffer": "64 kB"}
    made = ps.emulate(
        scenario(
            told("paced", pacing="5 Mbit/s"),
            told("streams", pacing="4 Mbit/s", streams=3),
            {**told("buffered", **buffered), "rtt": "40 ms"},
            rate="200 Mbit/s",
            seconds=4,
            warm_up="1 s",
            probes={"pcap": True},
        ),
        tmp_path / "run",
    )
    rows = {row["group"]: row for row in made.flows.iter_rows(named=True)}
    assert 4.2e6 < rows["paced"]["goodput_bps"] < 5.1e6
    assert 3 * 3.4e6 < rows["streams"]["goodput_bps"] < 3 * 4.1e6
    assert 0.5e6 < rows["buffered"]["goodput_bps"] < 64_000 * 8 / 0.040, "a window a round trip"
    assert rows["streams"]["mean_cwnd_packets"] is None, "of three windows there is no one"
    ports = {packet.source_port for packet in captured(made) if packet.source == "10.1.0.2"}
    assert len(ports) == 3
    measured = made.totals[0]["emulation"]["hosts"]
    assert measured["receive_window_share"] < 0.2, "that of the scenario is no fault of the emulation"
    assert measured["send_buffer_share"] < 0.2, "nor is this"
    assert made.predicted == []
    assert "flows.0.kernel.pacing" in made.metadata["prediction_problem"]
    page = tmp_path / "page.html"
    from parshall.report import write_page

    write_page(made, page)
    text = page.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert "with pacing 4 Mbit/s and 3 connections of each flow side by side at the hosts" in text


@on_the_kernel
@pytest.mark.parametrize(
    ("given", "is_own"),
    [
        ({"kernel": {"sysctls": STIFF}}, False),
        ({"kernel": {"sysctls": STIFF, "receive_buffer": "128 kB"}}, True),
        ({"kernel": {"sysctls": STIFF}, "receive_window": "40 packets"}, True),
        ({"kernel": {"sysctls": {"net.ipv4.tcp_rmem": "4096 65536 65536"}}}, True),
    ],
    ids=["the kernel's", "receive_buffer", "receive_window", "tcp_rmem"],
)
def test_a_receive_window_that_limits_is_a_fault_unless_the_scenario_gives_it(
    given: dict[str, Any], is_own: bool
) -> None:
    """A window of 64 kB is a quarter of what is under way at 50 Mbit/s and 40 ms."""
    made = ps.emulate(scenario({**BULK, "rtt": "40 ms", **given}, rate="50 Mbit/s", seconds=1.5, warm_up="500 ms"))
    assert made.flows["goodput_bps"].sum() < 25e6, "it limits"
    judged = validity(made)
    assert judged is not None
    assert judged.measured is not None
    said = [reason for reason in judged.reasons if "receiver limited it" in reason]
    if is_own:
        assert said == []
        assert judged.measured["receive_window_share"] is None, "of no flow is it asked"
    else:
        (reason,) = said
        assert "net.ipv4.tcp_rmem" in reason
        assert judged.level == "invalid"
        assert judged.measured["receive_window_share"] > 0.5


@on_the_kernel
@pytest.mark.parametrize("tcp", ["rfc", "linux"])
def test_what_receivers_take_behind_holes_is_no_fault_if_simulated_ones_do_so_too(tcp: str) -> None:
    """BBR goes on in spite of losses, with a window of 64 kB, a quarter of what would be under way."""
    flow = {"rtt": "40 ms", "congestion_control": "bbr", "kernel": {"sysctls": STIFF}, "tcp": tcp}
    loss = {"name": "bernoulli", "probability": 0.01}
    made = ps.emulate(scenario(flow, bottleneck={"rate": "50 Mbit/s", "loss": loss}, seconds=3, warm_up="1 s"))
    assert made.flows["retransmissions"].min() > 0
    judged = validity(made)
    assert judged is not None
    assert judged.measured is not None
    assert any("receiver limited it" in reason for reason in judged.reasons) == (tcp == "rfc")
    assert (judged.measured["receive_window_share"] is None) == (tcp == "linux")


@on_the_kernel
def test_packets_of_hosts_have_the_code_point_of_their_group(tmp_path: Path) -> None:
    flows = [{**BULK, "dscp": "AF11", "name": "marked"}, {**BULK, "name": "plain"}, {**CALLS, "dscp": "EF"}]
    made = ps.emulate(scenario(*flows, seconds=2, probes={"pcap": True}), tmp_path / "run")
    found: dict[str, set[int]] = {}
    for packet in captured(made):
        found.setdefault(packet.source, set()).add(packet.tos >> 2)
    assert found == {"10.1.0.1": {10}, "10.2.0.1": {10}, "10.1.0.2": {0}, "10.2.0.2": {0}, "10.1.0.3": {46}}


@on_the_kernel
def test_a_run_ends_with_the_groups_that_it_is_to_end_with() -> None:
    files = {**BULK, "name": "files", "count": 2, "workload": {"name": "transfer", "size": "100 kB"}}
    made = ps.emulate(scenario(files, {**BULK, "name": "bulk"}, seconds=30, ends_with=["files"]))
    assert made.summary["simulated_s"] < 10, "the other flow has no end"
    assert made.transfers is not None
    assert made.transfers["size_bytes"].to_list() == [100_000] * 2


@on_the_kernel
def test_a_sender_that_cannot_keep_its_rate_is_not_believed() -> None:
    sender = {"name": "cbr", "rtt": "20 ms", "packet_size": "200 B", "workload": {"name": "cbr", "rate": "20 Gbit/s"}}
    made = ps.emulate(scenario({**sender, "header_size": "28 B"}, rate="10 Mbit/s", seconds=1))
    hosts = made.totals[0]["emulation"]["hosts"]
    assert hosts["unsent_share"] > 0.1
    judged = validity(made)
    assert judged is not None
    assert judged.level == "invalid"
    assert any("a sender had no time for" in reason for reason in judged.reasons)


# --- what is refused, and said ---


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"sysctls": {"tcp_sack": 0}}, 'found "tcp_sack"; write the whole name'),
        ({"sysctls": {"net.ipv4.tcp_sack": 0.5}}, 'found 0.5 for "net.ipv4.tcp_sack"; write a whole number'),
        ({"sysctls": {"net.../etc": 0}}, "write the whole name"),
        ({"sysctls": ["net.ipv4.tcp_sack"]}, "write a table"),
        ({"pacing": "5"}, "pacing"),
        ({"streams": 0}, "streams"),
        ({"colour": "blue"}, "colour"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ps.ScenarioError) as refused:
        scenario({**BULK, "kernel": options})
    (said,) = refused.value.problems
    assert said.startswith("flows.0.kernel")
    assert problem in said


@on_the_kernel
@pytest.mark.parametrize(
    ("flow", "problem"),
    [
        (told("a", sysctls={"net.ipv4.no_such": 1}), 'kernel.sysctls: found "net.ipv4.no_such"; this kernel has no'),
        (told("a", sysctls={"net.ipv4.tcp_sack": "seven"}), "sysctls.net.ipv4.tcp_sack: found seven; "),
        ({**CALLS, "kernel": {"pacing": "1 Mbit/s"}}, "kernel.pacing: datagrams leave when"),
        (told("a", LOOP, streams=2), "kernel.streams: an open loop opens"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_that_hosts_cannot_have_are_refused(flow: dict[str, Any], problem: str) -> None:
    with pytest.raises(ps.ScenarioError) as refused:
        ps.emulate(scenario(flow, seconds=1))
    (said,) = refused.value.problems
    assert problem in said


def test_who_does_not_tell_hosts_says_so() -> None:
    given = scenario(told("a", streams=2), {**told("b", pacing="1 Mbit/s"), "endpoint": "simulated"}, seconds=1)
    notes = [note for note in ps.run(given).metadata["warnings"] if "kernel" in note]
    assert notes == [
        f"flows.{number}.kernel: only hosts of an emulation are told of it; a simulation has none" for number in (0, 1)
    ]
    assert left_to_the_kernel(given) == [
        "flows.1.kernel: the hosts of this group are simulated, and are told nothing of it"
    ]
    assert unknown_to_models(given) == "the models know nothing of what real hosts are told: flows.0.kernel.streams"
    assert unknown_to_models(scenario(told("a", sysctls={"net.ipv4.tcp_sack": 0}))) is None
    again = ps.Scenario.from_document(given.document())
    assert again == given
