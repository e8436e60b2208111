"""Small files of the formats that tests of `crates/trace` do not make, for `corpus/`: `python fuzz/corpus.py`."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa

ROOT = Path(__file__).parents[1]
CORPUS = Path(__file__).parent / "corpus"
CALLS = 24
"""Calls of a recording: enough for a beginning, ACKs and a reduction."""


def recordings() -> dict[str, bytes]:
    """The beginnings of recordings of Linux, with an end."""
    made = {}
    for name, first in (("reno-loss", 0), ("cubic-ecn", 0), ("bbr-clean", 0), ("reno-overflow", 300)):
        path = ROOT / f"tests/data/linux-6.18/{name}.csv.zst"
        text = pa.CompressedInputStream(str(path), "zstd").read().decode().split("\n")
        calls = text[2 + first : 2 + first + CALLS]
        end = json.dumps({"calls": CALLS, "dropped": 0, "left_out": 0})
        made[f"{name}.csv"] = "\n".join([*text[:2], *calls, f"# {end}", ""]).encode()
    return made


def json_logs() -> dict[str, bytes]:
    """Logs of iperf3, flent and QUIC stacks, each with two flows."""
    stream = {"socket": 5, "start": 0, "end": 1, "bytes": 125000, "retransmits": 1, "snd_cwnd": 14480, "rtt": 20000}
    streams = [stream, {**stream, "socket": 7, "sender": False}]
    later = [{**each, "start": 1, "end": 2} for each in streams]
    end = {"local_host": "10.0.0.1", "local_port": 4000, "remote_host": "10.0.0.2", "remote_port": 5201}
    start = {"connected": [{"socket": 5, **end}, {"socket": 7, **end}], "tcp_mss_default": 1448}
    intervals = [{"streams": streams}, {"streams": later}]
    raw = [{"t": 100.0 + at / 5, "val": 4.2, "dur": 0.2, "tcp_cwnd": 10 + at, "tcp_rtt": 20.5} for at in range(4)]
    results = {"TCP upload::1": [1, 2, None], "TCP upload::2": [3, 4, 5], "Ping (ms) ICMP": [20, 21, 22]}
    return {
        "iperf3.json": _json({"start": start, "intervals": intervals, "end": {}}),
        "iperf3_stream.json": b"\n".join(
            [
                _json({"event": "start", "data": start}),
                *(_json({"event": "interval", "data": each}) for each in intervals),
            ]
        ),
        "flent.json": _json({"x_values": [0, 0.2, 0.4], "results": results, "raw_values": {"TCP upload::1": raw}}),
        "qlog.json": _json({"qlog_version": "0.3", "traces": [{"title": "a", "events": _events()}] * 2}),
        "qlog_01.json": _json(
            {
                "qlog_version": "draft-01",
                "traces": [
                    {
                        "configuration": {"time_units": "us"},
                        "event_fields": ["relative_time", "category", "event", "data"],
                        "events": [[each["time"] * 1000, "recovery", each["name"], each["data"]] for each in _events()],
                    }
                ],
            }
        ),
    }


def qlog_lines() -> dict[str, bytes]:
    """The same, a value a line, with and without the separators of RFC 7464."""
    header = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": {"common_fields": {"time_format": "delta"}}}
    lines = [_json(header), *(_json(event) for event in _events())]
    return {"log.sqlog": b"".join(b"\x1e" + line + b"\n" for line in lines), "log.ndjson": b"\n".join(lines)}


def _events() -> list[dict[str, Any]]:
    updates = [(0.0, 12000, 0), (20.5, 24000, 12000), (41.0, 16800, 16800)]
    return [
        {"time": 0, "name": "recovery:parameters_set", "data": {"max_datagram_size": 1200}},
        *(
            {
                "time": time,
                "name": "recovery:metrics_updated",
                "data": {"congestion_window": window, "bytes_in_flight": sent, "smoothed_rtt": 20.5, "min_rtt": 20.0},
            }
            for time, window, sent in updates
        ),
        {"time": 50, "name": "transport:packet_sent", "data": {}},
        {"time": 51, "name": "recovery:packet_lost", "data": {}},
    ]


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def bpf_objects() -> dict[str, bytes]:
    """ELF files of a control, and of one whose section ends behind the file."""
    control = b"\0" * 48 + b"mine\0".ljust(24, b"\0")
    inner = b"alpha,beta\0"
    return {"control.bpf.o": _elf(control, inner), "cut_off.bpf.o": _elf(control, inner, claimed=1 << 40)}


def _elf(control: bytes, inner: bytes, claimed: int | None = None) -> bytes:
    """ELF64 for BPF: names of sections, ``.struct_ops.link`` and ``.rodata.inner``."""
    names = b"\0.shstrtab\0.struct_ops.link\0.rodata.inner\0"
    contents = [names, control, inner]
    offsets = [64 + sum(len(each) for each in contents[:at]) for at in range(3)]
    sizes = [len(names), len(control) if claimed is None else claimed, len(inner)]
    padding = b"\0" * (-sum(map(len, contents)) % 8)  # the table of sections is aligned
    table = 64 + sum(map(len, contents)) + len(padding)
    header = b"\x7fELF" + bytes([2, 1, 1]) + b"\0" * 9
    header += struct.pack("<HHIQQQIHHHHHH", 1, 247, 1, 0, 0, table, 0, 64, 0, 0, 64, 4, 1)
    sections = struct.pack("<IIQQQQIIQQ", *[0] * 10)
    for name, kind, offset, size in zip((1, 11, 28), (3, 1, 1), offsets, sizes, strict=True):
        sections += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
    return header + b"".join(contents) + padding + sections


MADE = {
    "recordings": recordings,
    "json_logs": json_logs,
    "qlog_lines": qlog_lines,
    "bpf_objects": bpf_objects,
    "series": lambda: {
        "columns.csv": b"time,cwnd,rtt\n0,10,20\n0.1,11,21\n0.2,12,20\n0.3,6,22\n",
        "ss.log": b"".join(
            b"170000000%d.5\nESTAB 0 0 10.0.0.1:5000 10.0.0.2:80\n"
            b"\t cubic wscale:7,7 rto:204 rtt:%d.5/2 mss:1448 cwnd:%d ssthresh:20 bytes_acked:%d retrans:0/1\n"
            % (second, 20 + second, 10 + second, 1448 * second)
            for second in range(4)
        ),
    },
    "rate_traces": lambda: {"steps.txt": b"0\n1\n1\n5\n\n12\n", "blanks.txt": b"  3 \r\n3\r\n 40"},
    "cdf_files": lambda: {
        "linear.txt": b"# bytes\n0 0\n1460 0.15\n5000, 0.5\n1e6 1\n",
        "percent.txt": b"size cdf\n1 10\n20 50\n300 100\n",
        "steps.txt": b"4.5\n1 0.5\n8 1\n",
    },
    "numbers": lambda: {"series.txt": b"# packets\n1\n2.5\n3e2\n", "table.csv": b"t,w\n0,1\n1,2\n"},
    "controls": lambda: {"mine.txt": b"class Mine:\n    def __init__(self, start):\n        self.cwnd = start.cwnd\n"},
}
"""The files of each reader, by name."""


def main() -> None:
    """Write them."""
    for reader, make in MADE.items():
        folder = CORPUS / reader
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in make().items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
