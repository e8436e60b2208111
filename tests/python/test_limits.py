"""What limits a flow: held against what the simulator knows, and against captures made by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from limit_truth import CAUSES, PLACES, case, shares, simulate, truths

import parshall as ps
from parshall.foundations.errors import InputError
from parshall.instruments.observation import Observation
from parshall.instruments.observation import limits as limits_module
from parshall.instruments.observation.limits import FlowLimits, limits
from parshall.report.observation.page import document

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
SENDER, RECEIVER = ("10.0.0.1", 4000), ("10.0.0.2", 5000)


def packet(
    at: float, flags: int, *, seq: int = 0, ack: int = 0, payload: int = 0, window: int = 500, back: bool = False
) -> bytes:
    """A record of a pcap file with raw IPv4: SYNs have an MSS of 1000 and a window scale of 7."""
    options = struct.pack(">BBHBBBB", 2, 4, 1000, 1, 3, 3, 7) if flags & SYN else b""
    (source, source_port), (target, target_port) = (RECEIVER, SENDER) if back else (SENDER, RECEIVER)
    window = 65_535 if flags & SYN else window
    size = (20 + len(options)) // 4 << 4
    tcp = struct.pack(">HHIIBBHHH", source_port, target_port, seq, ack, size, flags, window, 0, 0) + options
    addresses = b"".join(bytes(map(int, address.split("."))) for address in (source, target))
    total = 20 + len(tcp) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, int(at * 1e6) & 0xFFFF, 0, 64, 6, 0) + addresses
    header = struct.pack("<IIII", int(at), round(at % 1 * 1e9), len(ip) + len(tcp), total)
    return header + ip + tcp


def capture(path: Path, packets: list[bytes]) -> Path:
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101) + b"".join(packets))
    return path


def handshake(at: float = 0.0, rtt: float = 0.05) -> list[bytes]:
    return [
        packet(at, SYN),
        packet(at + rtt, SYN | ACK, ack=1, back=True),
        packet(at + rtt + 1e-5, ACK, seq=1, ack=1),
    ]


def one(observation: Observation) -> FlowLimits:
    (found,) = limits(observation)
    return found


SAMPLE = (0, 1, 3, 5, 6, 9, 14, 22, 23, 26, 31, 35, 44)
"""Scenarios that take little time, of all kinds; one of them with three controls."""

ALLOWED = 4
"""How many of them may be further off than 5 points, at each place: docs/observe.md has the numbers of more."""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, float]]:
    """For each place and scenario, the largest error of a share of any flow."""
    found: dict[str, dict[int, float]] = {place: {} for place in PLACES}
    for number in SAMPLE:
        each = case(number)
        run = simulate(each, tmp_path_factory.mktemp("limits") / "run")
        known = {sender: shares(true) for sender, true in truths(each, run).items()}
        for place in PLACES:
            told = limits(ps.observe(*run.captures(place)))
            assert {flow.name.partition(" ")[0] for flow in told} == set(known)
            found[place][number] = max(
                abs(flow.shares.get(cause, 0.0) - known[flow.name.partition(" ")[0]][cause])
                for flow in told
                for cause in CAUSES
            )
    return found


@pytest.mark.parametrize("place", PLACES)
def test_shares_are_those_that_the_simulator_knows(errors: dict[str, dict[int, float]], place: str) -> None:
    off = {number: error for number, error in errors[place].items() if error > 0.05}
    assert len(off) <= ALLOWED, off


def test_causes_are_those_of_the_records() -> None:
    seen = ps.observe(Path(__file__).parents[2] / "docs/example.pcap.gz")
    columns = [name for name in seen.limits.columns if name.startswith("limited_by_")]
    assert columns == [f"limited_by_{cause}_s" for cause in limits_module.CAUSES]
    found = one(seen)
    assert found.cause == "full_queue"
    periods = seen.periods(found.flow)
    assert (periods["end_s"] - periods["start_s"]).sum() == pytest.approx(found.total_s)
    assert periods["start_s"][1:].to_list() == periods["end_s"][:-1].to_list()


@pytest.mark.parametrize(
    "packets",
    [
        [packet(0.0, ACK | PSH, seq=1, payload=100), packet(0.1, ACK | PSH, seq=101, payload=100)],
        [packet(0.0, ACK, seq=1, payload=1000), packet(0.02, ACK, seq=1001, payload=1000), packet(0.5, RST, seq=2001)],
        [*handshake(), packet(0.06, ACK, seq=1, payload=1000)],
    ],
    ids=["one direction", "no handshake", "cut"],
)
def test_a_capture_that_says_nothing_gives_no_cause(packets: list[bytes], tmp_path: Path) -> None:
    seen = ps.observe(capture(tmp_path / "few.pcap", packets))
    told = one(seen)
    assert told.cause == "unknown"
    assert all(share == 0 for cause, share in told.shares.items() if cause not in ("unknown", "handshake"))
    assert "cannot be told" in document(seen).finding


def test_a_closed_window_is_the_receivers_and_an_event(tmp_path: Path) -> None:
    packets = handshake()
    packets += [packet(0.0501 + i * 1e-5, ACK, seq=1 + 1000 * i, ack=1, payload=1000) for i in range(4)]
    packets += [packet(0.11, ACK, seq=1, ack=4001, window=0, back=True)]
    packets += [packet(1.11, ACK, seq=1, ack=4001, window=500, back=True)]
    packets += [packet(1.1101, ACK | PSH, seq=4001, ack=1, payload=1000), packet(1.16, ACK, ack=5001, seq=1, back=True)]
    seen = ps.observe(capture(tmp_path / "closed.pcap", packets))
    told = one(seen)
    assert told.cause == "receiver"
    assert told.seconds["receiver"] > 1.0
    (event,) = seen.events(0).to_dicts()
    assert (event["event"], event["time_s"], event["lasted_s"]) == (
        "zero_window",
        pytest.approx(0.11),
        pytest.approx(1.0),
    )
    section = next(each for each in document(seen).sections if each.heading.startswith("Flow 0"))
    assert any(table.caption == "Events" for table in section.tables)


def test_syns_that_are_retried_and_resets_are_events(tmp_path: Path) -> None:
    packets = [packet(0.0, SYN), *handshake(1.0), packet(1.06, ACK | PSH, seq=1, ack=1, payload=100)]
    packets += [packet(1.11, ACK, seq=1, ack=101, back=True), packet(1.2, RST | ACK, seq=1, ack=101, back=True)]
    seen = ps.observe(capture(tmp_path / "retried.pcap", packets))
    told = [(row["event"], round(row["time_s"], 3), row["lasted_s"]) for row in seen.events(0).to_dicts()]
    assert told == [("syn_retried", 1.0, 1.0), ("reset", 1.2, None)]
    assert one(seen).seconds["handshake"] == pytest.approx(1.05, abs=1e-3)


def test_a_pause_of_the_application_is_the_applications(tmp_path: Path) -> None:
    packets = handshake()
    for write in range(20):
        at = 0.06 + 0.5 * write
        packets += [packet(at, ACK | PSH, seq=1 + 500 * write, ack=1, payload=500)]
        packets += [packet(at + 0.05, ACK, seq=1, ack=501 + 500 * write, back=True)]
    assert one(ps.observe(capture(tmp_path / "writes.pcap", packets))).shares["application"] > 0.98


def test_captures_are_filtered_by_time_host_and_port(tmp_path: Path) -> None:
    packets = handshake() + [packet(0.1 * i, ACK, seq=1000 * i - 999, ack=1, payload=1000) for i in range(1, 30)]
    path = capture(tmp_path / "all.pcap", packets)
    captured = ps.observe(path).trace_flows["segments_captured"][0]
    assert captured == 29
    assert ps.observe(path, from_s=1.0, until_s=2.0).trace_flows["segments_captured"][0] == 10
    for chosen in ({"hosts": [SENDER[0]]}, {"ports": [RECEIVER[1]]}, {"hosts": [RECEIVER[0]], "ports": [SENDER[1]]}):
        assert ps.observe(path, **chosen).trace_flows["segments_captured"][0] == captured
    for nothing in ({"hosts": ["10.0.0.9"]}, {"ports": [80]}, {"from_s": 100.0}):
        with pytest.raises(InputError, match="no packet that the filter leaves"):
            ps.observe(path, **nothing)
    with pytest.raises(InputError, match='hosts: found "here"'):
        ps.observe(path, hosts=["here"])
    with pytest.raises(InputError, match="until_s: found 1"):
        ps.observe(path, from_s=2.0, until_s=1.0)


def test_a_folder_is_one_page_with_the_slowest_first(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    for name, wait in (("a.pcap", 0.05), ("b.pcap", 2.0), ("c.pcap", 0.5)):
        packets = handshake(rtt=wait)
        packets += [packet(2 * wait, ACK | PSH, seq=1, ack=1, payload=500), packet(3 * wait, ACK, ack=501, back=True)]
        capture(folder / name, packets)
    (folder / "notes.txt").write_text("no capture\n")
    seen = ps.observe(folder)
    names = [Path(seen.captures[row["repetition"]]["files"][0]).name for row in seen.selected().to_dicts()]
    assert names == ["b.pcap", "c.pcap", "a.pcap"]
    assert "notes.txt" in seen.captures[0]["remarks"][-1]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="the folder holds no file"):
        ps.observe(empty)


def test_series_have_the_times_that_the_kernel_counts(tmp_path: Path) -> None:
    lines = []
    for second in range(11):
        lines += [
            f"{1_700_000_000 + second}.0",
            "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5000",
            f"\t cubic rtt:50.1/2 minrtt:50 cwnd:40 ssthresh:30 busy:{800 * second}ms "
            f"rwnd_limited:{500 * second}ms(62.5%) sndbuf_limited:{100 * second}ms(12.5%) Recv-Q Send-Q",
        ]
    log = tmp_path / "sender.log"
    log.write_text("\n".join(lines) + "\n")
    told = one(ps.observe(log)).seconds
    assert told["application"] == pytest.approx(2.0)
    assert told["receiver"] == pytest.approx(5.0)
    assert told["sender"] == pytest.approx(1.0 + 2.0)  # its buffer, and its window without a queue or a loss
    log.write_text("\n".join(line.partition(" busy:")[0] + " Recv-Q Send-Q" for line in lines) + "\n")
    silent = one(ps.observe(log))
    assert (silent.cause, silent.seconds) == ("unknown", {})
