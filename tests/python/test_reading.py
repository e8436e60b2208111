"""Small files that would take much memory: each reader takes what it states at most, in a process of its own."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from parshall import _core
from parshall.foundations.files import READERS, read_file

MIB = 1 << 20
ROOM = 2 << 30
"""Address space beyond what a reader may take, for Python and its libraries."""

CALL = b"reno,1,1,%d,1,1,8" + b",0" * 48 + b"\n"
"""A call of a recording: control, time, rate, flow, port, jiffies, which function, and 48 values more."""


def _repeated(before: bytes, piece: bytes, size: int, after: bytes = b"") -> Iterator[bytes]:
    many = piece * (MIB // len(piece))
    yield before
    for _ in range(size // len(many)):
        yield many
    yield after


def _recording(calls: Callable[[int], bytes], number: int) -> Iterator[bytes]:
    yield b'# {"version":1,"kernel":"7","inner":{}}\nnames\n'
    yield from map(calls, range(number))


def _connections() -> Iterator[bytes]:
    """A capture of connections of a segment each, with a byte of data: all of them have rows."""
    yield struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for number in range(1_000_000):
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 41, 0, 0, 64, 6, 0, 0x0A000000 + (number >> 16), 0x0B000001)
        tcp = struct.pack(">HHIIBBHHH", number & 0xFFFF, 80, 1, 0, 5 << 4, 16, 1000, 0, 0)
        yield struct.pack("<IIII", number // 1000, 0, 41, 41) + ip + tcp + b"x"


BOMBS: Mapping[str, Mapping[str, Callable[[], Iterator[bytes]]]] = {
    "captures": {"connections": _connections},
    "series": {"one line": lambda: _repeated(b"t_s,cwnd_pkts\n0,1\n", b"a", 1 << 30)},
    "json_logs": {"objects": lambda: _repeated(b'{"a":[', b'{"":0},', 63 * MIB, b"0]}")},
    "qlog_lines": {"one line": lambda: _repeated(b'{"qlog_version":"0.3"}\n', b"[", 1 << 30)},
    "recordings": {
        "one line": lambda: _repeated(b'# {"version":1,"kernel":"7","inner":{}}\nnames\n', b"a", 6 << 30),
        "calls": lambda: _recording(lambda _: CALL % 1, 10_000_000),
        "connections": lambda: _recording(lambda number: CALL % number, 3_000_000),
    },
    "rate_traces": {"times": lambda: _repeated(b"", b"9\n", 64 * MIB)},
    "cdf_files": {"points": lambda: _repeated(b"", b"0 0\n", 4 * MIB - 4, b"1 1\n")},
    "numbers": {"rows": lambda: _repeated(b"", b"0\n", 32 * MIB), "a row": lambda: _repeated(b"", b"0 ", 32 * MIB)},
    "scenarios": {"tables": lambda: (b"[%x]\n" % number for number in range(1_600_000))},
    "bpf_objects": {"zeros": lambda: _repeated(b"", b"\0", 16 * MIB)},
    "controls": {"zeros": lambda: _repeated(b"", b"\0", 256 * MIB)},
}
"""Of each reader, the content of files that take the most."""

READING = """
import io, json, resource, sys
from pathlib import Path
import numpy as np
from parshall import _core
from parshall.foundations.files import read_file
from parshall.scenario.schema.reading import read_toml

reader, path, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def observed():
    options = json.dumps({"sample_every_s": 0.1, "rtt_s": None, "columns": None})
    return _core.observe([path], 0, path.parent, options, _core.TraceMonitor())

RENO = json.dumps({"name": "reno", "increase": 1.0, "decrease": 0.5, "ecn_decrease": 0.0})
read = {
    "rate_traces": lambda: _core.read_rate_trace(read_file(path, reader)),
    "cdf_files": lambda: [list(point) for point in _core.read_cdf(read_file(path, reader), 1.0)],
    "numbers": lambda: np.loadtxt(io.BytesIO(read_file(path, reader)), dtype=np.float64, ndmin=1),
    "scenarios": lambda: read_toml(path),
    "bpf_objects": lambda: read_file(path, reader),
    "controls": lambda: read_file(path, reader),
    "recordings": lambda: _core.replay(path, RENO, "none", {}),
}.get(reader, observed)
before, said = peak(), None
try:
    read()
except ValueError as error:
    said = str(error)
print(json.dumps([peak() - before, said]))
"""


def _compressed(path: Path, content: Iterator[bytes], compress: bool) -> None:
    with path.open("wb") as file:
        to = pa.CompressedOutputStream(file, "zstd") if compress else file
        for part in content:
            to.write(part)
        if compress:
            to.close()


@pytest.mark.slow
@pytest.mark.parametrize(("reader", "bomb"), [(reader, name) for reader, bombs in BOMBS.items() for name in bombs])
def test_a_reader_takes_no_more_memory_than_it_states(reader: str, bomb: str, tmp_path: Path) -> None:
    limits = READERS[reader]
    path = tmp_path / "file"
    _compressed(path, BOMBS[reader][bomb](), limits.compressed)
    command = [sys.executable, "-c", READING, reader, str(path), str(limits.memory + ROOM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
    took, said = json.loads(done.stdout)
    assert took <= limits.memory, f"{took / MIB:.0f} MiB: {said}"
    assert said is None or ("accepted: " in said and len(said.splitlines()) == 1), said


def test_every_reader_states_its_memory_and_has_a_files_that_try_it() -> None:
    assert set(BOMBS) == set(READERS)
    corpus = Path(__file__).parents[2] / "fuzz" / "corpus"
    assert {folder.name for folder in corpus.iterdir()} == set(READERS) - {"scenarios"}, "those are seeds of their own"
    assert all(reader.memory <= 3 << 30 for reader in READERS.values())


def test_a_document_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for reader in READERS.values():
        if reader.document is None:
            continue
        with path.open("wb") as file:
            file.truncate(1 << 40)  # without content: it takes no room on the disk
        with pytest.raises(ValueError, match=r"found more than \d+ Mi?B; accepted: \d+ Mi?B or less"):
            read_file(path, reader.name)


def test_a_reader_that_is_not_in_the_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='no reader "other"'):
        _core.read_file(tmp_path, "other")
