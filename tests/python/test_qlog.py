"""Logs of simulated flows in qlog: they have the draft's form, and say what the run's tables say."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from captures import packets

import parshall as ps
from parshall.foundations.errors import ScenarioError
from parshall.instruments.observation import observe
from parshall.instruments.simulation import Run

PAYLOAD = 1460

SCENARIO: dict[str, Any] = {
    "duration": "30 s",
    "bottleneck": {"rate": "8 Mbit/s", "queue": {"name": "drop_tail", "limit": "30 packets"}},
    "flows": [
        {"name": "bulk", "count": 2, "rtt": "40 ms", "congestion_control": "cubic"},
        {
            "name": "web",
            "rtt": "30 ms",
            "congestion_control": "reno",
            "handshake": True,
            "workload": {"name": "transfer", "sizes": ["300 kB", "50 kB", "700 B"]},
        },
        {"name": "model", "rtt": "50 ms", "congestion_control": "bbr", "recovery": "rack"},
        {"name": "calls", "rtt": "30 ms", "workload": {"name": "cbr", "rate": "100 kbit/s"}},
    ],
    "probes": {"qlog": True, "flows": 1, "flow_samples": "20 ms", "pcap": True},
}
LOGGED = {0: "bulk", 2: "web", 3: "model"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ps.run(ps.Scenario.from_document(SCENARIO), tmp_path_factory.mktemp("qlog") / "run")


def log(run: Run, flow: int) -> Path:
    (path,) = run.qlogs(LOGGED[flow], flow)
    return path


@functools.cache
def records(path: Path) -> list[dict[str, Any]]:
    """The values of a JSON text sequence (RFC 7464, section 2.1)."""
    start, *texts = path.read_text(encoding="utf-8").split("\x1e")
    assert start == ""
    assert all(text.endswith("\n") for text in texts)
    return [json.loads(text) for text in texts]


def events(run: Run, flow: int, name: str | None = None) -> list[dict[str, Any]]:
    _, *found = records(log(run, flow))
    return [event for event in found if name is None or event["name"] == name]


# --- the form: draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-02 ---

NUMBER = (int, float)
HEADER = {"packet_type": str, "packet_number": int}
FIELDS: dict[str, dict[str, Any]] = {
    # quic-events-02, section 3.2.2: ConnectivityConnectionStarted
    "connectivity:connection_started": {
        "required": {"src_ip": str, "dst_ip": str},
        "optional": {"ip_version": str, "protocol": str, "src_port": int, "dst_port": int},
    },
    # TransportPacketSent, TransportPacketReceived
    "transport:packet_sent": {
        "required": {"header": HEADER},
        "optional": {"frames": list, "raw": dict, "trigger": str},
    },
    "transport:packet_received": {
        "required": {"header": HEADER},
        # The echo of TCP is no part of the draft, which lets bodies have fields of their own.
        "optional": {"frames": list, "raw": dict, "ecn_echo": bool},
    },
    # RecoveryParametersSet
    "recovery:parameters_set": {
        "required": {"timer_granularity": int},
        "optional": {"max_datagram_size": int, "initial_congestion_window": int},
    },
    # RecoveryMetricsUpdated: RTTs in ms, sizes in bytes, rates in bit/s
    "recovery:metrics_updated": {
        "required": {},
        "optional": {
            **dict.fromkeys(("min_rtt", "smoothed_rtt", "latest_rtt"), NUMBER),
            **dict.fromkeys(
                ("congestion_window", "bytes_in_flight", "ssthresh", "packets_in_flight", "pacing_rate"), int
            ),
        },
    },
    "recovery:congestion_state_updated": {"required": {"new": str}, "optional": {"old": str}},
    "recovery:loss_timer_updated": {"required": {"event_type": str}, "optional": {"timer_type": str}},
    "recovery:packet_lost": {"required": {}, "optional": {"header": HEADER, "trigger": str}},
}
CHOICES = {
    ("transport:packet_sent", "trigger"): {"retransmit_reordered", "retransmit_timeout", "pto_probe"},
    ("recovery:packet_lost", "trigger"): {"reordering_threshold", "time_threshold", "pto_expired"},
    ("recovery:loss_timer_updated", "event_type"): {"expired"},
    ("recovery:loss_timer_updated", "timer_type"): {"pto"},
    ("recovery:congestion_state_updated", "new"): {"slow_start", "congestion_avoidance", "recovery", "loss"},
}
FRAMES = {
    "ack": ({"frame_type": str}, {"acked_ranges": list}),
    "stream": ({"frame_type": str, "stream_id": int, "offset": int, "length": int}, {}),
}


def check(value: Any, kind: Any) -> None:
    if isinstance(kind, dict):
        assert value.keys() == kind.keys()
        for key, part in kind.items():
            check(value[key], part)
        return
    assert isinstance(value, kind)
    assert isinstance(value, bool) == (kind is bool)
    if isinstance(value, int | float):
        assert value >= 0


def check_body(name: str, data: dict[str, Any]) -> None:
    required, optional = FIELDS[name]["required"], FIELDS[name]["optional"]
    assert required.keys() <= data.keys() <= required.keys() | optional.keys()
    for key, value in data.items():
        check(value, (required | optional)[key])
        assert value in CHOICES.get((name, key), {value}) if isinstance(value, str) else True
    for frame in data.get("frames", ()):
        needed, possible = FRAMES[frame["frame_type"]]
        assert needed.keys() <= frame.keys() <= needed.keys() | possible.keys()
        for numbers in frame.get("acked_ranges", ()):
            assert len(numbers) in (1, 2)
            assert sorted(numbers) == numbers
        assert frame.get("acked_ranges") != []  # AckFrame: [+ AckRange]
    assert data.get("raw", {}).keys() <= {"length", "payload_length"}


@pytest.mark.parametrize("flow", LOGGED)
def test_a_log_has_the_form_of_the_draft(run: Run, flow: int) -> None:
    header, *found = records(log(run, flow))
    assert header.keys() == {"qlog_version", "qlog_format", "title", "trace"}  # QlogFileSeq
    assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert header["trace"]["vantage_point"] == {"name": "sender", "type": "client"}
    common = header["trace"]["common_fields"]
    assert common == {"protocol_type": ["TCP"], "time_format": "relative", "reference_time": 0}
    for event in found:
        assert event.keys() == {"time", "name", "data"}
        check_body(event["name"], event["data"])
    times = [event["time"] for event in found]
    assert times == sorted(times)
    assert times[-1] <= 30_000


def test_qvis_finds_what_it_draws(run: Run) -> None:
    """Its graph of congestion pairs packets with their ACKs and losses, by type and number, and adds sizes up."""
    for flow in LOGGED:
        sent = {}
        for event in events(run, flow):
            header = event["data"].get("header", {})
            packet = header.get("packet_type"), header.get("packet_number")
            if event["name"] == "transport:packet_sent":
                assert packet not in sent
                assert event["data"]["raw"]["length"] > 0
                sent[packet] = event["time"]
            elif event["name"] == "recovery:packet_lost":
                assert packet in sent
            elif event["name"] == "transport:packet_received":
                for numbers in event["data"]["frames"][0].get("acked_ranges", ()):
                    for number in range(numbers[0], numbers[-1] + 1):
                        assert sent[packet[0], number] < event["time"]


# --- the content ---


@pytest.mark.parametrize("flow", LOGGED)
def test_packets_are_those_of_the_flow(run: Run, flow: int) -> None:
    row = run.flows.row(by_predicate=pl.col("flow") == flow, named=True)
    sent = events(run, flow, "transport:packet_sent")
    assert len(sent) == row["packets_sent"]
    triggers = Counter(event["data"].get("trigger") for event in sent)
    assert sum(triggers.values()) - triggers[None] == row["retransmissions"]
    lost = Counter(event["data"]["trigger"] for event in events(run, flow, "recovery:packet_lost"))
    assert sum(lost.values()) == row["retransmissions"] - triggers["pto_probe"]
    assert len(events(run, flow, "recovery:loss_timer_updated")) == row["timeouts"]
    assert set(lost) <= ({"time_threshold", "pto_expired"} if flow == 3 else {"reordering_threshold", "pto_expired"})


def test_each_packet_is_acknowledged_once(run: Run) -> None:
    for flow in LOGGED:
        acknowledged: Counter[int] = Counter()
        for event in events(run, flow, "transport:packet_received"):
            for numbers in event["data"]["frames"][0].get("acked_ranges", ()):
                acknowledged.update(range(numbers[0], numbers[-1] + 1))
        assert max(acknowledged.values()) == 1
        data = [event["data"] for event in events(run, flow, "transport:packet_sent") if "frames" in event["data"]]
        of_bytes = {
            frame["offset"]
            for packet in data
            for frame in packet["frames"]
            if packet["header"]["packet_number"] in acknowledged
        }
        if flow != 2:
            (path,) = run.captures("bottleneck")
            passed = {packet.seq for packet in packets(path) if packet.source == f"10.0.0.{flow}"}
            assert len(of_bytes) <= len(passed)
            assert len(of_bytes) > 0.98 * len(passed)


def test_connections_have_the_addresses_of_captures(run: Run) -> None:
    started = [event["data"] for event in events(run, 2, "connectivity:connection_started")]
    (path,) = run.captures("bottleneck")
    of_web = dict.fromkeys(packet.source_port for packet in packets(path) if packet.source == "10.0.0.2")
    assert [data["src_port"] for data in started] == list(of_web)
    assert {(data["src_ip"], data["dst_ip"], data["dst_port"]) for data in started} == {("10.0.0.2", "198.18.0.1", 9)}
    ends = Counter(event["data"]["header"]["packet_type"] for event in events(run, 2, "transport:packet_received"))
    assert ends["initial"] == len(started) == 3


@pytest.mark.parametrize("flow", LOGGED)
def test_windows_and_times_are_those_of_the_samples(run: Run, flow: int) -> None:
    """At each sample, the log's last value is the flow's, but for the rounding to bytes and nanoseconds."""
    assert run.flow_samples is not None
    samples = run.flow_samples.filter(flow=flow).sort("time_s")
    begun = [event["time"] / 1e3 for event in events(run, flow, "connectivity:connection_started")]
    updates = events(run, flow, "recovery:metrics_updated")
    for column, key, scale, tolerance in (
        ("cwnd_packets", "congestion_window", PAYLOAD, 0.5 / PAYLOAD),
        ("in_flight_packets", "packets_in_flight", 1, 0),
        ("ssthresh_packets", "ssthresh", PAYLOAD, 0.5 / PAYLOAD),
        ("srtt_s", "smoothed_rtt", 1e3, 1e-9),
    ):
        told = [(event["time"] / 1e3, event["data"][key] / scale) for event in updates if key in event["data"]]
        if not told:
            assert (flow, key) == (3, "ssthresh"), "BBR has none"
            continue
        times, values = np.array(told).T
        checked = 0
        for time_s, value in samples.select("time_s", column).iter_rows():
            last = int(np.searchsorted(times, time_s)) - 1
            connection = max((at for at in begun if at <= time_s), default=np.inf)
            if last >= 0 and times[last] >= connection and value is not None:
                assert abs(values[last] - value) <= tolerance + 1e-9 * value, (column, time_s)
                checked += 1
        assert checked > 20 or column == "ssthresh_packets"


@pytest.mark.parametrize("flow", [0, 3])
def test_our_reader_reads_them_back(run: Run, flow: int) -> None:
    seen = observe(log(run, flow), sample_every_s=None)
    row, own = seen.flows.row(0, named=True), run.flows.row(by_predicate=pl.col("flow") == flow, named=True)
    assert row["group"] == f"{LOGGED[flow]} flow {flow}"
    assert row["min_rtt_s"] == pytest.approx(own["min_rtt_s"], abs=1e-9)
    assert row["packets_sent"] == own["packets_sent"]
    assert row["mean_cwnd_packets"] == pytest.approx(own["mean_cwnd_packets"], rel=0.02)


def test_the_series_that_is_read_back_is_the_one_that_was_sampled(run: Run) -> None:
    seen = observe(log(run, 0), sample_every_s=0.02).flow_samples
    assert seen is not None
    assert run.flow_samples is not None
    (first, *_) = events(run, 0, "recovery:metrics_updated")
    samples = run.flow_samples.filter(flow=0).sort("time_s")
    for column, tolerance in (("cwnd_packets", 0.5 / PAYLOAD), ("srtt_s", 1e-9)):
        read = seen.select((pl.col("time_s") + first["time"] / 1e3).alias("time_s"), column).drop_nulls().sort("time_s")
        updates = [
            event["time"] / 1e3
            for event in events(run, 0, "recovery:metrics_updated")
            if {"cwnd_packets": "congestion_window", "srtt_s": "smoothed_rtt"}[column] in event["data"]
        ]
        # Both hold their last value; they are compared where nothing changed between their moments.
        pairs = 0
        for time_s, value in read.iter_rows():
            before = samples.filter(pl.col("time_s") <= time_s).tail(1)
            at = before["time_s"].item()
            if not np.any((np.array(updates) >= at) & (np.array(updates) <= time_s)):
                assert before[column].item() == pytest.approx(value, abs=tolerance + 1e-9)
                pairs += 1
        assert pairs > 50


def test_records_are_the_same_with_logs_and_without(run: Run, tmp_path: Path) -> None:
    probes = {key: value for key, value in SCENARIO["probes"].items() if key not in {"qlog", "pcap"}}
    without = ps.run(ps.Scenario.from_document(SCENARIO | {"probes": probes}), tmp_path / "run")
    for table in (without.directory / "repetitions/0000").glob("*.parquet"):
        assert table.read_bytes() == (run.directory / "repetitions/0000" / table.name).read_bytes(), table.name
    assert not (without.directory / "repetitions/0000/qlog").exists()


def test_only_sampled_flows_of_tcp_are_logged(run: Run) -> None:
    names = {path.name for path in (run.directory / "repetitions/0000/qlog").iterdir()}
    assert names == {"bulk-0.sqlog", "web-2.sqlog", "model-3.sqlog"}
    assert {f"repetitions/0000/qlog/{name}" for name in names} <= run.metadata["files"].keys()


def test_more_logs_than_files_can_be_open_are_refused() -> None:
    flows = [{"name": "many", "count": 1000, "rtt": "40 ms"}]
    scenario = {"duration": "1 s", "bottleneck": {"rate": "1 Gbit/s"}, "flows": flows}
    with pytest.raises(ScenarioError) as refused:
        ps.Scenario.from_document(scenario | {"probes": {"qlog": True, "flows": 501}})
    assert refused.value.problems == [
        "probes.qlog: would write 501 logs, and 500 is the most; let probes.flows be smaller"
    ]
