"""Captures of links in emulations: the packets of real hosts, with their own headers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from captures import ACK, SYN, UDP, Packet, complete, packets
from emulations import BULK, ON_THE_KERNEL, scenario

import parshall as ps
from parshall.instruments.observation import observe
from parshall.instruments.simulation import Run

pytestmark = ON_THE_KERNEL

REAL = {**BULK, "name": "real", "rtt": "40 ms", "congestion_control": "reno"}
REVERSE = {"rate": "5 Mbit/s", "delay": "5 ms"}
BOTTLENECK = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"name": "drop_tail", "limit": "40 packets"}}


def emulated(place: Path, *flows: dict[str, object], contended: bool) -> tuple[Run, Path]:
    bottleneck = BOTTLENECK | ({"reverse": REVERSE} if contended else {})
    made = ps.emulate(scenario(*flows, seconds=4, bottleneck=bottleneck, probes={"pcap": True}), place / "run")
    (capture,) = made.captures("bottleneck")
    return made, capture


def is_data(packet: Packet) -> bool:
    return packet.source.startswith("10.1.")


@pytest.mark.parametrize("contended", [False, True], ids=["no contention back", "contention back"])
def test_a_capture_has_each_packet_that_crossed_the_link(tmp_path: Path, contended: bool) -> None:
    made, capture = emulated(tmp_path, REAL, contended=contended)
    found = packets(capture)
    leaving = [packet for packet in found if is_data(packet)]
    link = made.links.row(0, named=True)
    assert len(leaving) == link["forwarded_packets"]
    assert sum(packet.wire_bytes for packet in leaving) == link["forwarded_bytes"]
    assert all(packet.checksums_fit() for packet in found), "what the hosts left to be completed is"
    times = [packet.time_ns for packet in found]
    assert times == sorted(times)
    assert times[0] > 7.5e6, "the way to the receiver takes a quarter of what the link leaves of the round trip"
    assert times[-1] <= made.totals[0]["simulated_s"] * 1e9
    syn, answer = found[:2]
    assert (syn.flags & (SYN | ACK), answer.flags & (SYN | ACK)) == (SYN, SYN | ACK)
    if contended:
        (back,) = made.captures("reverse")
        answers = [packet for packet in packets(back) if not is_data(packet)]
        row = made.links.filter(link="reverse").row(0, named=True)
        assert len(answers) == row["forwarded_packets"]
        # The link back lies beside the bottleneck: what leaves the one comes in at the other, after its delay.
        late_ns = {packet.identification: packet.time_ns for packet in found if not is_data(packet)}
        assert {late_ns[packet.identification] - packet.time_ns for packet in answers[100:200]} == {5_000_000}


@pytest.mark.gate
def test_a_capture_is_observed_as_the_hosts_saw_it(tmp_path: Path) -> None:
    made, capture = emulated(tmp_path, REAL, contended=False)
    seen = observe(capture).flows.row(0, named=True)
    host = made.flows.row(0, named=True)
    times_ns = [packet.time_ns for packet in packets(capture)]
    share = (times_ns[-1] - times_ns[0]) / 1e9 / made.totals[0]["simulated_s"]
    assert share * seen["goodput_bps"] == pytest.approx(host["goodput_bps"], rel=0.02), (
        "of 3,300 packets a window of up to 70 is not acknowledged when it ends"
    )
    # Each of the two misses some packets that were late, by up to what makes a run invalid.
    assert seen["min_rtt_s"] == pytest.approx(host["min_rtt_s"], abs=2e-3)
    assert seen["retransmissions"] == pytest.approx(host["retransmissions"], abs=3), (
        "but for those that were lost again"
    )


@pytest.mark.needs("tshark")
def test_tshark_reads_it_and_finds_the_goodput(tmp_path: Path) -> None:
    made, capture = emulated(tmp_path, REAL, contended=False)
    fields = ["-T", "fields", "-e", "tcp.checksum.status", "-e", "ip.checksum.status", "-e", "tcp.ack"]
    checks = [
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.relative_sequence_numbers:TRUE",
    ]
    whole = complete(capture, tmp_path / "whole.pcap")
    command = ["tshark", "-r", str(whole), *checks, "-Y", "ip.src == 10.2.0.1", *fields]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    assert {(tcp, ip) for tcp, ip, _ in rows} == {("1", "1")}, "good, says tshark"
    goodput_bps = 8 * max(int(ack) for _, _, ack in rows) / made.totals[0]["simulated_s"]
    assert goodput_bps == pytest.approx(made.flows["goodput_bps"][0], rel=0.01)


def test_real_and_simulated_packets_are_in_one_capture(tmp_path: Path) -> None:
    calls = {"name": "calls", "rtt": "30 ms", "workload": {"name": "cbr", "rate": "500 kbit/s"}}
    others = {**REAL, "name": "simulated", "endpoint": "simulated"}
    made, capture = emulated(tmp_path, REAL, others, calls, contended=False)
    found = packets(capture)
    times = [packet.time_ns for packet in found]
    assert times == sorted(times)
    leaving = [packet for packet in found if packet.source.startswith("10.") and not packet.source.startswith("10.2.")]
    assert len(leaving) == made.links["forwarded_packets"][0]
    senders = {packet.source for packet in leaving}
    assert senders == {"10.1.0.1", "10.0.0.1", "10.1.0.2"}, "flow 0, flow 1, which is simulated, and flow 2"
    assert {packet.protocol for packet in leaving if packet.source == "10.1.0.2"} == {UDP}
