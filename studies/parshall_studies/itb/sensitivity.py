"""What the differences from the source come from: one thing changed at a time.

| artefact | what differs | what is changed |
| --- | --- | --- |
| Fig. 3 | the spread; the worst maximum | buffer, what hosts queue and lose, the kernel's BIC, recovery |
| Figs 8, 10 | no line for Reno and CUBIC; the order of the spreads | the size of the files |
| Fig. 9 | R = 1.5 costs nothing | the bottleneck's buffer, and what a window holds beyond the path |

None of it is fitted: each is a choice that the source leaves open, or one that quick scale makes, at plain values.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.3, §5.5.2, §5.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Findings
from parshall_studies.itb.bulk import RTT_MS, alone_s, files, starts, times
from parshall_studies.itb.network import BUFFER, INTERFACE, LINUX_BIC, PAPER, Recorded, Size, hosts, window

BUFFERS = (2000, 20_000)
WINDOWS = ((8, 0), (8, 1000), (8, 4000), (12, 1000))
"""Senders, and packets that a window holds beyond its path."""

_LEVELS = (1.2, 1.7, 2.1)
_STARTS_GB = 2.0
"""Files of Fig. 3, at most."""

_HOSTS: dict[str, dict[str, Any]] = {
    f"as in Fig. 3: buffer {BUFFER}, windows {INTERFACE} beyond the path": {},
    "buffer 200 packets": {"bottleneck.queue.limit": "200 packets"},
    "buffer 6000 packets": {"bottleneck.queue.limit": "6000 packets"},
    "buffer 20,000 packets": {"bottleneck.queue.limit": "20000 packets"},
    "windows 200 packets beyond the path": {"flows.0.receive_window": f"{window(RTT_MS) - INTERFACE + 200} packets"},
    "windows without limit": {"flows.0.receive_window": "unlimited"},
    f"the same, and an interface queue of {INTERFACE} packets that loses": {
        "flows.0.receive_window": "unlimited",
        "flows.0.access_queue": f"{INTERFACE} packets",
    },
    "BIC of Linux 2.6.16": {f"flows.0.{key}": value for key, value in LINUX_BIC.items()},
    "recovery by RACK": {"flows.0.recovery": "rack"},
}


def scenarios(size: Size) -> dict[tuple[Any, ...], Scenario]:
    """All of them, by figure and what varies."""
    return {**_of_starts(size), **_of_files(size), **_of_buffers(size)}


def findings(runs: Mapping[tuple[Any, ...], Recorded], size: Size) -> Findings:
    """What each moves."""
    start_checks, start_table, all_signs = _starts(runs, size)
    parts = [(start_checks, start_table), _file_sizes(runs, size), _buffers(runs, size)]
    texts = (
        "Fig. 3: how unequal the flows are at first is set by what may queue, at the bottleneck and in hosts. Its "
        "three signs (a larger spread, a smaller mean and a longer maximum when files start together) are all there "
        f"with: {'; '.join(all_signs) or 'none of these'}. Differences between hosts are not simulated; the source "
        "tells of faulty ones (§4.3.2).",
        "Figs 8 and 10: what a flow loses in slow start does not grow with its file. It bends the line of Reno and "
        "CUBIC most where a file takes about as long; larger files come back to the line. The spreads of Fig. 10 hang "
        "on the file, too: in small files CUBIC has not had the time to become fair.",
        "Fig. 9: reverse data delays ACKs by the time that the way back queues, and loses hardly any. A longer round "
        "trip costs a flow that its window limits, and no other. Where the way forth is congested (C_g above 1) the "
        "window is not the limit: its share is, and R = 1.5 costs little, more in small files. Where it is not, R = "
        "1.5 costs as soon as the queue on the way back takes longer than what the window holds beyond the path.",
    )
    checks = [check for made, _ in parts for check in made]
    return Findings(checks, [Section("What the differences come from", texts, [table for _, table in parts])])


def _extended(artefact: str, quantity: str, ours: float) -> Claim:
    return reported(artefact, quantity, exactly(ours))


def _of_starts(size: Size) -> dict[tuple[Any, ...], Scenario]:
    """Fig. 3 in other networks."""
    gigabytes = min(_STARTS_GB, size.fig3_gb)
    return {
        ("starts", name, start): hosts(
            "bic", 17, RTT_MS, duration_s=4 * alone_s(gigabytes), file_gb=gigabytes, start=spread
        ).with_values(changes)
        for name, changes in _HOSTS.items()
        for start, spread in starts(gigabytes).items()
    }  # fmt: skip


def _starts(runs: Mapping[tuple[Any, ...], Recorded], size: Size) -> tuple[list[Claim], Table, list[str]]:
    """Fig. 3 in other networks, and those in which all its signs are there."""
    gigabytes = min(_STARTS_GB, size.fig3_gb)
    taken = {(key[1], key[2]): _first(run) for key, run in runs.items() if key[0] == "starts"}
    checks, rows, all_signs = [], [], []
    for name in _HOSTS:
        together, apart = (taken[name, start] for start in starts(gigabytes))
        if np.mean(together) < np.mean(apart) and all(
            statistic(together) > statistic(apart) for statistic in (_relative_spread, np.max)
        ):
            all_signs.append(name)
        spreads, longest = [], []
        for start in starts(gigabytes):
            each = taken[name, start]
            spreads.append(_relative_spread(each))
            longest.append(float(np.max(each)) / alone_s(gigabytes))
            checks.append(_extended("fig3", f"sd over mean, starts {start}: {name}", spreads[-1]))
        rows.append((name, *(f"{value:.3f}" for value in (*spreads, *longest))))
    header = ("what", "sd over mean, together", "staggered", "longest, together", "staggered")
    caption = f"Fig. 3: files of {gigabytes:g} GB, one repetition; times over that at 1 Gbit/s"
    return checks, Table(caption, header, rows, numbers=(1, 2, 3, 4)), all_signs


def _relative_spread(each: np.ndarray) -> float:
    return float(np.std(each) / np.mean(each))


def _of_files(size: Size) -> dict[tuple[Any, ...], Scenario]:
    return {
        ("files", factor, control, level): files(size, control, level, factor)
        for factor in size.file_factors
        for control, levels in (("reno", _LEVELS), ("cubic_2005", _LEVELS), ("scalable", _LEVELS[-1:]))
        for level in levels
    }


def _file_sizes(every: Mapping[tuple[Any, ...], Recorded], size: Size) -> tuple[list[Claim], Table]:
    factors = size.file_factors
    runs = {(key[1], key[2], key[3]): run for key, run in every.items() if key[0] == "files"}
    checks, rows = [], []
    for factor in factors:
        gigabytes = factor * size.bulk_gb
        lines = [_line(runs, factor, control, gigabytes) for control in ("reno", "cubic_2005")]
        spreads = {control: float(np.std(_first(runs[factor, control, _LEVELS[-1]]))) for control in PAPER["fig10_sd"]}
        ratio = spreads["scalable"] / spreads["cubic_2005"]
        rows.append((f"{gigabytes:g}", *(f"{line:.3f}" for line in lines), f"{ratio:.2f}"))
        checks.append(_extended("fig8", f"R^2 of a line over C_g, reno, files of {gigabytes:g} GB", lines[0]))
        checks.append(_extended("fig8", f"R^2 of a line over C_g, cubic_2005, files of {gigabytes:g} GB", lines[1]))
        checks.append(_extended("fig10", f"sd of Scalable over that of CUBIC, files of {gigabytes:g} GB", ratio))
    header = ("file (GB)", "Fig. 8: R^2, Reno", "Fig. 8: R^2, CUBIC", "Fig. 10: sd of Scalable over CUBIC's")
    return checks, Table("Figs 8 and 10: the size of files, one repetition", header, rows, numbers=(0, 1, 2, 3))


def _line(runs: dict[tuple[float, str, float], Recorded], factor: float, control: str, gigabytes: float) -> float:
    means = [float(np.mean(_first(runs[factor, control, level]))) / alone_s(gigabytes) for level in _LEVELS]
    return float(np.corrcoef(_LEVELS, means)[0, 1] ** 2)


def _first(run: Recorded) -> np.ndarray:
    return times(run)[0]


def _buffered_gb(size: Size) -> float:
    return min(0.2, size.bulk_gb / 2)


def _of_buffers(size: Size) -> dict[tuple[Any, ...], Scenario]:
    gigabytes = _buffered_gb(size)
    path = window(RTT_MS) - INTERFACE
    return {
        ("buffers", count, spare, buffer, reverse): hosts(
            "cubic_2005", count, RTT_MS, duration_s=2.2 * alone_s(gigabytes), file_gb=gigabytes,
            start={"uniform": "200 ms"}, reverse=reverse,
        ).with_values(
            {"bottleneck.queue.limit": f"{buffer} packets", "flows.0.receive_window": f"{path + spare} packets"}
        )
        for count, spare in WINDOWS
        for buffer in BUFFERS
        for reverse in (8, 15)
    }  # fmt: skip


def _buffers(runs: Mapping[tuple[Any, ...], Recorded], size: Size) -> tuple[list[Claim], Table]:
    gigabytes = _buffered_gb(size)
    ideal = alone_s(gigabytes)
    means = {key[1:]: float(np.mean(_first(run))) / ideal for key, run in runs.items() if key[0] == "buffers"}
    checks, rows = [], []
    for count, spare in WINDOWS:
        cells = []
        for buffer in BUFFERS:
            ratio = means[count, spare, buffer, 15] / means[count, spare, buffer, 8]
            cells.append(f"{ratio:.3f}")
            where = f"C_g = {count / 10:g}, windows {spare} packets beyond the path, buffer of {buffer}"
            checks.append(_extended("fig9", f"mean time at R = 1.5 over that at R = 0.8: {where}", ratio))
        rows.append((f"{count / 10:g}", f"{spare}", *cells))
    header = ("C_g", "window beyond the path (packets)", *(f"buffer of {buffer} packets" for buffer in BUFFERS))
    caption = f"Fig. 9: time at R = 1.5 over that at R = 0.8, files of {gigabytes:g} GB, one repetition"
    return checks, Table(caption, header, rows, numbers=range(len(header)))
