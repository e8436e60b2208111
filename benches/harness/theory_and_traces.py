"""Bars that are not the simulator's: spectra of the large-deviations theory, reading captures, estimates of H, noise.

CPU time, alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import parshall
from harness.record import Bar, Record
from parshall_studies.chains import large_deviations
from parshall_studies.hurst import all_estimates
from parshall_studies.synthesis import fgn

SPECTRUM_BARS_S = {1_000: 0.1, 100_000: 10.0}
"""CPU seconds for a spectrum of 200 points, by the largest window."""
READING_BAR = 1e6
"""Frames per CPU-second."""
ESTIMATES_VALUES, ESTIMATES_BAR_S = 10**6, 10.0
"""Length of a series, and CPU seconds for its H by every estimator."""
NOISE_VALUES, NOISE_BAR_S = 2**24, 10.0
"""Values of fractional Gaussian noise, and CPU seconds to make them."""
FLOWS, ROUNDS = 600, 1000


def measure(record: Record) -> None:
    """The best of three where that takes a fraction of a second: other work only adds. Estimates and noise once."""
    for w_max, bar in SPECTRUM_BARS_S.items():
        taken = min(spectrum_s(w_max) for _ in range(3))
        record.judge(Bar(f"spectrum of 200 points, w_max = {w_max}: CPU s", taken, bar, at_least=False))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture.pcap"
        frames = write_capture(path)
        rate = max(frames / reading_s(path) for _ in range(3))
    record.judge(Bar("frames of a capture read per CPU-second", rate, READING_BAR))
    series = fgn(ESTIMATES_VALUES, 0.8, np.random.default_rng(1))
    taken = cpu_s(lambda: all_estimates(series))
    record.judge(Bar("H of 10^6 values by every estimator: CPU s", taken, ESTIMATES_BAR_S, at_least=False))
    taken = cpu_s(lambda: fgn(NOISE_VALUES, 0.8, np.random.default_rng(1)))
    record.judge(Bar("fractional Gaussian noise, 2^24 values: CPU s", taken, NOISE_BAR_S, at_least=False))


def spectrum_s(w_max: int) -> float:
    """Mean, and f at 200 throughputs, of Reno's chain at 2 % loss, from nothing."""
    return cpu_s(lambda: large_deviations.spectrum(0.02, w_max=w_max).curve(200))


def reading_s(path: Path) -> float:
    """Reading a capture into tables, every 0.1 s a sample of each flow."""
    return cpu_s(lambda: parshall.observe(path))


def cpu_s(work: Callable[[], object]) -> float:
    """What some work takes; what it makes is thrown away."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def write_capture(path: Path) -> int:
    """A capture of `FLOWS` flows, two data segments and an acknowledgement a round; how many frames it has."""
    kinds = np.dtype(
        [
            *((name, "<u4") for name in ("seconds", "nanos", "captured", "length")),
            ("ethernet", "V14"),
            *(("ip_" + name, ">u2") for name in ("version", "total", "id", "fragment", "ttl", "sum")),
            *((name, ">u4") for name in ("source", "destination")),
            *((name, ">u2") for name in ("from_port", "to_port")),
            *((name, ">u4") for name in ("seq", "ack")),
            *((name, ">u2") for name in ("flags", "window", "sum", "urgent")),
        ]
    )
    frames = np.zeros((ROUNDS, FLOWS, 3), kinds)
    turn, flow, place = np.indices(frames.shape)
    order = np.arange(frames.size).reshape(frames.shape)
    back = place == 2
    at = order * 20_000 + turn * 1_000_000
    frames["seconds"], frames["nanos"] = 1_600_000_000 + at // 10**9, at % 10**9
    payload = np.where(back, 0, 1448)
    frames["captured"], frames["length"] = 54, 54 + payload
    frames["ethernet"] = np.void(bytes(12) + b"\x08\x00")
    frames["ip_version"], frames["ip_total"], frames["ip_id"] = 0x4500, 40 + payload, 1 + order % 65_535
    frames["ip_ttl"] = 0x4006
    near, far = 0x0A000001 + flow, 0x0B000001
    frames["source"], frames["destination"] = np.where(back, far, near), np.where(back, near, far)
    frames["from_port"], frames["to_port"] = np.where(back, 80, 40_000), np.where(back, 40_000, 80)
    sent = 1 + 1448 * (2 * turn + np.minimum(place, 2))
    frames["seq"], frames["ack"] = np.where(back, 1, sent), np.where(back, sent, 1)
    frames["flags"], frames["window"] = 0x5010, 60_000
    header = np.array([0xA1B23C4D, 0x00040002, 0, 0, 65_535, 1], "<u4")
    path.write_bytes(header.tobytes() + frames.tobytes())
    return frames.size
