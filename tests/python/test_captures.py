"""Captures of simulated links: the packets that cross them, as headers that other tools read."""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from captures import ACK, CWR, ECE, FIN, PSH, SYN, TCP, UDP, Packet, complete, packets

import parshall as ps
from parshall.campaign import Plan
from parshall.foundations.errors import InputError, RunNotFoundError, ScenarioError
from parshall.instruments.observation import observe
from parshall.instruments.simulation import Run

MSS = 1448

SCENARIO: dict[str, Any] = {
    "duration": "60 s",
    "seed": 3,
    "ends_with": ["up", "down"],
    "bottleneck": {
        "rate": "10 Mbit/s",
        "delay": "5 ms",
        "queue": {"name": "drop_tail", "limit": "40 packets"},
        "loss": {"name": "bernoulli", "probability": 0.002},
        "reverse": {"rate": "5 Mbit/s", "delay": "7 ms", "loss": "none"},
    },
    "flows": [
        {"name": "up", "count": 2, "rtt": "40 ms", "workload": {"name": "transfer", "sizes": ["2 MB", "1 MB"]}},
        {
            "name": "down",
            "rtt": "60 ms",
            "direction": "reverse",
            "workload": {"name": "transfer", "sizes": "1 MB"},
            "persistent": True,
        },
        {
            "name": "calls",
            "rtt": "30 ms",
            "marker": {"name": "token_bucket", "rate": "100 kbit/s", "burst": "1000 B"},
            "workload": {"name": "cbr", "rate": "200 kbit/s"},
            "packet_size": "500 B",
            "header_size": "28 B",
        },
    ],
    "probes": {"pcap": True},
}
for _flow in SCENARIO["flows"][:2]:
    _flow |= {"congestion_control": "cubic", "header_size": "52 B", "ack_size": "52 B", "handshake": True, "ecn": True}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ps.run(ps.Scenario.from_document(SCENARIO), tmp_path_factory.mktemp("captures") / "run")


def captured(run: Run, link: str) -> list[Packet]:
    (path,) = run.captures(link)
    return packets(path)


def is_data(packet: Packet) -> bool:
    return packet.source.startswith("10.")


def of_flow(run: Run, link: str, flow: int) -> list[Packet]:
    """What the sender of a flow sent; receivers are found by the ports."""
    return [packet for packet in captured(run, link) if packet.source == f"10.0.0.{flow}"]


def sequence_number(packet: Packet) -> tuple[int, int]:
    return packet.source_port, packet.seq


def facts(run: Run, flow: int) -> dict[str, Any]:
    return run.flows.row(by_predicate=pl.col("flow") == flow, named=True)


# --- the packets are those of the simulation ---


def test_every_packet_is_whole_and_in_order(run: Run) -> None:
    for link in ("bottleneck", "reverse"):
        found = captured(run, link)
        assert len(found) > 1000
        assert all(packet.checksums_fit() for packet in found)
        times = [packet.time_ns for packet in found]
        assert times == sorted(times)
        assert times[0] > 0
        assert times[-1] < run.totals[0]["simulated_s"] * 1e9


def test_what_leaves_a_link_is_what_the_records_count(run: Run) -> None:
    """A data packet is as long as it is in the simulation; a SYN, and an ACK with blocks, are longer."""
    crossing = {"bottleneck": ("10.0.0.0", "10.0.0.1", "10.0.0.3"), "reverse": ("10.0.0.2",)}
    for link, senders in crossing.items():
        leaving = [
            packet
            for packet in captured(run, link)
            if (packet.source in senders) or (not is_data(packet) and packet.destination not in senders)
        ]
        row = run.links.row(by_predicate=pl.col("link") == link, named=True)
        assert len(leaving) == row["forwarded_packets"]
        simulated = [packet.wire_bytes if packet.payload else 52 for packet in leaving]
        assert sum(simulated) == row["forwarded_bytes"]


@pytest.mark.parametrize(("flow", "link"), [(0, "bottleneck"), (1, "bottleneck"), (2, "reverse")])
def test_packets_and_bytes_of_a_flow_are_those_of_its_row(run: Run, flow: int, link: str) -> None:
    row, sent = facts(run, flow), of_flow(run, link, flow)
    assert len(sent) == row["packets_sent"] - row["packets_dropped"]
    data = [packet for packet in sent if packet.payload]
    distinct = {sequence_number(packet): packet.payload for packet in data}
    assert run.transfers is not None
    sizes = run.transfers.filter(flow=flow)["size_bytes"]
    assert sum(distinct.values()) == sizes.sum()
    syns = len(sent) - len(data)
    assert row["retransmissions"] == len(sent) + row["packets_dropped"] - len(distinct) - syns
    assert row["retransmissions"] > 0


def test_each_connection_is_numbered_from_its_syn(run: Run) -> None:
    connections: dict[int, list[Packet]] = defaultdict(list)
    for packet in of_flow(run, "bottleneck", 0):
        connections[packet.source_port].append(packet)
    assert len(connections) == 2
    for (_, sent), size in zip(sorted(connections.items()), (2_000_000, 1_000_000), strict=True):
        syn, *data = sent
        assert (syn.flags, syn.seq, syn.payload) == (SYN | ECE | CWR, 0, 0)
        assert {packet.flags & ~(CWR | PSH) for packet in data} == {ACK}
        pushed = {packet.seq + packet.payload for packet in data if packet.flags & PSH}
        assert pushed == {1 + size}, "the last one that the application has given"
        ends = {packet.seq: packet.seq + packet.payload for packet in data}
        at = 1
        while at in ends:
            at = ends[at]
        assert at == 1 + size, "bytes follow each other without a gap"


def test_transfers_on_one_connection_follow_each_other(tmp_path: Path) -> None:
    flow = {
        "name": "web",
        "rtt": "20 ms",
        "persistent": True,
        "workload": {"name": "transfer", "sizes": ["1000 B", "5000 B", "100 B"]},
    }
    scenario = {"duration": "2 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": [flow], "probes": {"pcap": True}}
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    data = [packet for packet in captured(made, "bottleneck") if is_data(packet)]
    assert [(packet.seq, packet.payload) for packet in data] == [
        (1, 1000),
        (1001, 1460),
        (2461, 1460),
        (3921, 1460),
        (5381, 620),
        (6001, 100),
    ]
    assert {packet.source_port for packet in data} == {49152}
    acks = [packet.ack for packet in captured(made, "bottleneck") if not is_data(packet)]
    assert acks == [1001, 2461, 3921, 5381, 6001, 6101]


def test_acks_come_in_as_they_pass(run: Run) -> None:
    """What an ACK acknowledges has left before; and it is a round trip behind, less the way to the sender and back."""
    left: dict[tuple[int, int], int] = {}
    waits = []
    for packet in captured(run, "bottleneck"):
        if packet.source == "10.0.0.0":
            left.setdefault((packet.source_port, packet.seq + packet.payload), packet.time_ns)
        elif packet.destination == "10.0.0.0" and packet.option(5) is None:
            since = left.get((packet.destination_port, packet.ack))
            if since is not None:
                waits.append(packet.time_ns - since)
    # 5 ms there and 7 ms back; the other 28 ms are split between four segments, of which two lie beyond the link.
    assert min(waits) >= (5 + 7 + 14) * 10**6
    assert min(waits) < (5 + 7 + 14 + 1) * 10**6


def test_acks_of_an_uncontended_way_back_take_as_long_as_the_data(tmp_path: Path) -> None:
    flow = {"name": "one", "rtt": "100 ms", "congestion_control": "reno", "path": ["first", "second"]}
    links = [{"name": name, "rate": "10 Mbit/s", "delay": f"{ms} ms"} for name, ms in (("first", 10), ("second", 20))]
    scenario = {"duration": "3 s", "links": links, "flows": [flow], "probes": {"pcap": True}}
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    beyond = {"first": 10 + 20, "second": 20}  # and the receiver's segment, a quarter of the other 40 ms
    for link, delay_ms in beyond.items():
        left = {}
        waits = []
        for packet in captured(made, link):
            if is_data(packet):
                left[packet.seq + packet.payload] = packet.time_ns
            else:
                waits.append(packet.time_ns - left[packet.ack])
        assert min(waits) >= 2 * (delay_ms + 10) * 10**6 - 1
    assert min(waits) == pytest.approx(2 * 30 * 10**6, abs=1), "nothing waits behind the last link"


# --- what headers say ---


def test_selective_acknowledgements_name_bytes_that_arrived(run: Run) -> None:
    arrived: dict[int, set[int]] = defaultdict(set)
    blocks = 0
    for packet in captured(run, "bottleneck"):
        if packet.source == "10.0.0.1":
            arrived[packet.source_port] |= {packet.seq, packet.seq + packet.payload}
        elif packet.destination == "10.0.0.1" and (value := packet.option(5)) is not None:
            edges = struct.unpack(f">{len(value) // 4}I", value)
            assert set(edges) <= arrived[packet.destination_port]
            assert all(edge > packet.ack for edge in edges)
            blocks += len(edges) // 2
    assert blocks > 10


def test_timestamps_echo_each_other(run: Run) -> None:
    """RFC 7323, section 3: both ends send their clocks; an echo is a clock that came in before."""
    clocks: dict[str, set[int]] = {"data": {0}, "acks": {0}}
    for packet in captured(run, "reverse"):
        if "10.0.0.2" not in (packet.source, packet.destination):
            continue
        own, other = ("data", "acks") if is_data(packet) else ("acks", "data")
        value = packet.option(8)
        assert value is not None
        clock, echo = struct.unpack(">II", value)
        assert clock <= packet.time_ns // 10**6
        assert echo in clocks[other]
        assert echo <= clock
        clocks[own].add(clock)
    assert min(map(len, clocks.values())) > 100


def test_what_linux_segments_at_once_ends_with_a_push() -> None:
    """The first ten packets of a connection go two by two: its rate is not known yet (`__tcp_transmit_skb`)."""
    flow = {"rtt": "40 ms", "tcp": "linux", "workload": {"name": "transfer", "sizes": "50 kB"}}
    made = ps.run({**SCENARIO, "duration": "1 s", "ends_with": ["flows0"], "flows": [flow]})
    data = [packet for packet in captured(made, "bottleneck") if packet.payload]
    assert [bool(packet.flags & PSH) for packet in data[:10]] == 5 * [False, True]


def test_syns_offer_what_the_flow_uses(run: Run) -> None:
    syns = [packet for packet in captured(run, "bottleneck") if packet.flags & SYN and packet.option(8)]
    assert {bool(packet.flags & ACK) for packet in syns} == {True, False}
    for syn in syns:
        assert syn.option(2) == struct.pack(">H", MSS)
        assert syn.option(3) == bytes([14])
        assert syn.option(4) == b""
        assert syn.flags & ECE
        assert not syn.flags & FIN


def test_the_window_is_the_receivers(tmp_path: Path) -> None:
    for limit, expected in ((None, (65_535, 14)), (10, (14_600, 0)), (100, (36_500, 2))):
        flow = {"name": "one", "rtt": "20 ms", "handshake": True, "workload": {"name": "transfer", "sizes": "50 kB"}}
        if limit is not None:
            flow["receive_window"] = f"{limit} packets"
        scenario = {"duration": "1 s", "bottleneck": {"rate": "50 Mbit/s"}, "flows": [flow], "probes": {"pcap": True}}
        found = captured(ps.run(ps.Scenario.from_document(scenario), tmp_path / f"{limit}"), "bottleneck")
        (answer,) = [packet for packet in found if packet.flags == SYN | ACK]
        windows = {packet.window for packet in found if not is_data(packet) and packet is not answer}
        scale = answer.option(3)
        assert (windows, scale) == ({expected[0]}, bytes([expected[1]]))


def test_behind_holes_linux_offers_what_its_buffer_takes(tmp_path: Path) -> None:
    """In units of 1 KiB, rounded up: of 50 flows that lose many packets none sends more, and receivers differ."""
    flows = {"count": 50, "rtt": "200 ms", "congestion_control": "bbr", "tcp": "linux", "ecn": True}
    bottleneck = {"rate": "10 Mbit/s", "queue": {"name": "codel", "limit": "667 packets"}}
    scenario = {"duration": "20 s", "bottleneck": bottleneck, "flows": [flows], "probes": {"pcap": True}}
    found = captured(ps.run(ps.Scenario.from_document(scenario), tmp_path / "run"), "bottleneck")
    assert {syn.option(3) for syn in found if syn.flags & SYN} == {bytes([10])}
    ends: dict[str, int] = {}
    sent: Counter[str] = Counter()
    windows = set()
    for packet in found:
        if is_data(packet):
            flow, last = packet.source, packet.seq + packet.payload
            if last > sent[flow]:
                assert last <= ends.get(flow, last), "beyond what is taken"
            sent[flow] = max(sent[flow], last)
        elif packet.window == 65_535 or packet.flags & SYN:
            ends.pop(packet.destination, None)
        else:
            assert packet.option(5)
            end = packet.ack + (packet.window << 10)
            assert end > ends.get(packet.destination, 0) - 1024, "taken back"
            ends[packet.destination] = max(end, ends.get(packet.destination, 0))
            windows.add(packet.window << 10)
    assert min(windows) < 131_072, "of a first buffer"
    assert max(windows) > 300_000, "of one that has grown"


def test_marks_are_in_the_headers(tmp_path: Path) -> None:
    scenario = {
        "duration": "5 s",
        "bottleneck": {
            "rate": "10 Mbit/s",
            "queue": {"name": "step", "limit": "100 packets", "threshold": "10 packets"},
        },
        "flows": [
            {"name": "marked", "rtt": "20 ms", "congestion_control": "dctcp"},
            {"name": "deaf", "rtt": "20 ms", "congestion_control": "reno"},
        ],
        "probes": {"pcap": ["bottleneck"]},
    }
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    codepoints = Counter((packet.source, packet.tos & 3) for packet in captured(made, "bottleneck") if is_data(packet))
    assert set(codepoints) == {("10.0.0.0", 2), ("10.0.0.0", 3), ("10.0.0.1", 0)}
    (row,) = made.links.iter_rows(named=True)
    waiting = row["arrivals_packets"] - row["forwarded_packets"] - row["dropped_packets"]
    assert row["marked_packets"] - waiting <= codepoints["10.0.0.0", 3] <= row["marked_packets"]
    echoes = [packet.flags & ECE for packet in captured(made, "bottleneck") if packet.destination == "10.0.0.0"]
    assert any(echoes)
    assert not all(echoes)


def test_classes_are_code_points_and_datagrams_are_udp(run: Run) -> None:
    calls = of_flow(run, "bottleneck", 3)
    assert {packet.protocol for packet in calls} == {UDP}
    assert {(packet.source_port, packet.destination_port) for packet in calls} == {(49152, 9)}
    assert {packet.destination for packet in calls} == {"198.18.0.2"}
    assert {(packet.payload, packet.wire_bytes) for packet in calls} == {(472, 500)}
    classes = Counter(packet.tos >> 2 for packet in calls)  # AF11 and AF12, RFC 2597
    row = run.links.row(by_predicate=pl.col("link") == "bottleneck", named=True)
    assert set(classes) == {10, 12}
    assert classes[10] == row["forwarded_in_packets"]
    assert {packet.tos >> 2 for packet in captured(run, "bottleneck") if packet.protocol == TCP} == {0}


def test_the_same_packet_has_the_same_headers_on_every_link(tmp_path: Path) -> None:
    flow = {"name": "one", "count": 2, "rtt": "50 ms", "path": ["a", "b"], "reverse_path": ["c"]}
    links = [{"name": name, "rate": f"{rate} Mbit/s"} for name, rate in (("a", 10), ("b", 8), ("c", 1))]
    scenario = {"duration": "5 s", "links": links, "flows": [flow], "probes": {"pcap": True}}
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    seen = {link: captured(made, link) for link in "abc"}
    data = {link: {packet.headers for packet in found if is_data(packet)} for link, found in seen.items()}
    acks = {link: {packet.headers for packet in found if not is_data(packet)} for link, found in seen.items()}
    assert len(data["b"]) > 1000
    assert data["b"] < data["a"]  # some were dropped between
    assert data["c"] <= data["b"]
    assert acks["a"] == acks["b"]
    assert acks["a"] <= acks["c"]
    assert len(acks["c"]) - len(acks["a"]) < 10  # those that propagate at the end


# --- nothing else changes ---


def test_records_are_the_same_with_captures_and_without(run: Run, tmp_path: Path) -> None:
    without = ps.run(ps.Scenario.from_document(SCENARIO | {"probes": {}}), tmp_path / "run")
    assert not (without.directory / "repetitions/0000/captures").exists()
    for name in ("flows", "links", "transfers", "flow_samples", "link_samples", "delay_histogram"):
        assert (run.directory / f"repetitions/0000/{name}.parquet").read_bytes() == (
            without.directory / f"repetitions/0000/{name}.parquet"
        ).read_bytes(), name


def test_captures_are_sealed_with_the_run(run: Run) -> None:
    assert "repetitions/0000/captures/bottleneck.pcap" in run.metadata["files"]
    with pytest.raises(RunNotFoundError, match=r"no captures/else\.pcap"):
        run.captures("else")


def test_a_capture_that_was_changed_is_refused(tmp_path: Path) -> None:
    scenario = {key: value for key, value in SCENARIO.items() if key != "ends_with"}
    scenario |= {"duration": "0.5 s", "probes": {"pcap": ["reverse"]}}
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    (path,) = made.captures("reverse")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RunNotFoundError, match="is damaged"):
        Run.load(tmp_path / "run").captures("reverse")


@pytest.mark.parametrize(
    ("pcap", "message"),
    [
        (
            ["bottelneck"],
            'probes.pcap.0: found "bottelneck"; write a link: "bottleneck", "reverse". Did you mean "bott',
        ),
        (["reverse", "reverse"], 'probes.pcap.1: found "reverse" again'),
        ([], "probes.pcap: found []; write true, false, or names of links"),
        ("bottleneck", 'probes.pcap: found "bottleneck"; write true, false, or names of links, e.g. ["bottleneck"]'),
        ([1], "probes.pcap: found [1]; write"),
    ],
)
def test_links_that_are_not_there_are_refused(pcap: Any, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        ps.Scenario.from_document(SCENARIO | {"probes": {"pcap": pcap}})
    assert len(refused.value.problems) == 1
    assert message in refused.value.problems[0]


# --- other tools read them ---


def tshark(path: Path, *arguments: str) -> list[list[str]]:
    command = ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    command += ["-o", "udp.check_checksum:TRUE", *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in said.splitlines()]


def fields(path: Path, which: str, *names: str) -> list[list[str]]:
    return tshark(path, "-Y", which, "-T", "fields", *(part for name in names for part in ("-e", name)))


@pytest.mark.needs("tshark")
def test_tshark_finds_no_fault(run: Run, tmp_path: Path) -> None:
    for link in ("bottleneck", "reverse"):
        (path,) = run.captures(link)
        whole = complete(path, tmp_path / f"{link}.pcap")
        assert fields(whole, "_ws.malformed", "frame.number") == []
        assert fields(whole, "_ws.expert.severity == error", "frame.number", "_ws.expert.message") == []
        faults = "ip.checksum.status != Good or tcp.checksum.status != Good or udp.checksum.status != Good"
        assert fields(whole, f"not _ws.malformed and ({faults})", "frame.number") == []
        good = fields(whole, "ip.checksum.status == Good", "frame.number")
        assert len(good) == len(packets(path))


def resent(run: Run, link: str, flow: int) -> int:
    """Packets of a flow behind the highest byte that has passed: what can be seen of its retransmissions."""
    highest: dict[int, int] = defaultdict(int)
    count = 0
    for packet in of_flow(run, link, flow):
        count += packet.payload > 0 and packet.seq < highest[packet.source_port]
        highest[packet.source_port] = max(highest[packet.source_port], packet.seq + packet.payload)
    return count


@pytest.mark.needs("tshark")
def test_tshark_counts_what_the_simulator_counts(run: Run) -> None:
    (path,) = run.captures("bottleneck")
    for flow in (0, 1):
        row = facts(run, flow)
        of = f"ip.src == 10.0.0.{flow}"
        sent = fields(path, of, "tcp.stream", "tcp.len")
        assert len(sent) == row["packets_sent"] - row["packets_dropped"]
        assert len({stream for stream, _ in sent}) == 2
        again = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
        assert len(fields(path, f"{of} and ({again})", "frame.number")) == resent(run, "bottleneck", flow)
        assert fields(path, f"{of} and tcp.analysis.ack_lost_segment", "frame.number") == []


@pytest.mark.needs("tcptrace")
def test_tcptrace_counts_what_the_simulator_counts(run: Run) -> None:
    (path,) = run.captures("bottleneck")
    said = subprocess.run(["tcptrace", "-l", "-n", str(path)], capture_output=True, text=True, check=True).stdout
    assert "hardware duplicate" not in said
    found = defaultdict(list)
    for block in said.split("TCP connection ")[1:]:
        sender = re.search(r"host \w+: +(10\.[0-9.]+):", block)
        sent = {key: re.search(rf"{key}: +(\d+)", block) for key in ("unique bytes sent", "rexmt data pkts")}
        if sender is not None and all(sent.values()):
            found[sender[1]].append([int(value[1]) for value in sent.values() if value is not None])
    assert set(found) == {"10.0.0.0", "10.0.0.1", "10.0.0.2"}
    for flow in (0, 1):
        counts = sorted(found[f"10.0.0.{flow}"])
        assert [size for size, _ in counts] == [1_000_000, 2_000_000]
        assert sum(count for _, count in counts) <= resent(run, "bottleneck", flow)


def off(found: float, expected: float) -> float:
    return abs(found / expected - 1.0)


@pytest.mark.parametrize(
    ("control", "options"),
    [("reno", {}), ("cubic", {"header_size": "52 B"}), ("reno", {"delayed_ack": "40 ms"}), ("reno", {"reverse": True})],
)
def test_observed_is_what_was_simulated(tmp_path: Path, control: str, options: dict[str, Any]) -> None:
    options = dict(options)
    bottleneck: dict[str, Any] = {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "30 packets"}}
    if options.pop("reverse", False):
        bottleneck["reverse"] = {"rate": "1 Mbit/s"}
    flow = {"name": "one", "rtt": "60 ms", "congestion_control": control, "handshake": True, **options}
    scenario = {"duration": "120 s", "bottleneck": bottleneck, "flows": [flow], "probes": {"pcap": True}}
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    seen = observe(made.captures("bottleneck")[0]).flows.row(0, named=True)
    row = facts(made, 0)
    # With delayed ACKs, the sender's RTTs are those of the first of two packets, and an observer's of the second.
    tolerances = {"goodput_bps": 0.001, "packets_sent": 0.001, "min_rtt_s": 0.02, "mean_rtt_s": 0.04}
    for column, tolerance in tolerances.items():
        assert seen[column] == pytest.approx(row[column], rel=tolerance), column
    # Of a retransmission that the queue dropped, nothing has passed.
    for column in ("retransmissions", "packets_dropped"):
        assert 0.9 * row[column] < seen[column] <= row[column], column
    assert seen["loss_events"] == pytest.approx(row["loss_events"], abs=4)
    assert row["retransmissions"] > 20


def test_a_capture_without_tcp_is_refused_as_any_is(tmp_path: Path) -> None:
    flow = {"name": "calls", "rtt": "30 ms", "workload": {"name": "cbr", "rate": "200 kbit/s"}}
    scenario = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flows": [flow], "probes": {"pcap": True}}
    made = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    with pytest.raises(InputError, match="TCP"):
        observe(made.captures("bottleneck")[0])


@pytest.mark.parametrize("key", ["pcap", "qlog"])
def test_a_sweep_takes_neither_captures_nor_logs(tmp_path: Path, key: str) -> None:
    plan = Plan(scenario=SCENARIO | {"probes": {key: True}}, parameters={"seed": [1, 2]})
    with pytest.raises(ScenarioError, match=f"probes.{key}: a sweep keeps tables only"):
        ps.sweep(plan, tmp_path / "store")
