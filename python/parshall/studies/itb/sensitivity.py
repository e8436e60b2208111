"""What the differences from the source come from: one thing changed at a time.

| artefact | what differs | what is changed |
| --- | --- | --- |
| Fig. 4 | 2.5 s instead of 7.2 | the control, where slow start ends, growth by ACKs instead of packets |
| Figs 8, 10 | no line for Reno and CUBIC; the order of the spreads | the size of the files |
| Fig. 9 | R = 1.5 costs nothing | the bottleneck's buffer, which the source does not say |

None of it is fitted: each is a choice that the source leaves open, or one that quick scale makes, at plain values.
Linux of that time grew its window by ACKs, and its receivers sent one for two packets.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.4, §5.5.2, §5.6.
"""

from __future__ import annotations

import numpy as np

from parshall.report.document import Section, Table
from parshall.runs import Run
from parshall.scenario import Scenario
from parshall.studies.check import Check
from parshall.studies.itb import single_pair
from parshall.studies.itb.bulk import RTT_MS, alone_s, times
from parshall.studies.itb.network import Size, hosts, simulated
from parshall.studies.itb.published import FIG4_FULL_S, FIG4_S, FIG10_SD
from parshall.studies.study import Progress

THRESHOLDS = (None, 100, 20)
"""Where slow start ends, packets; None: at a loss."""

BUFFERS = (2000, 6000, 20_000)
_LEVELS = (12, 17, 21)


def found(size: Size, progress: Progress) -> tuple[list[Check], Section]:
    """All of them."""
    progress("What the differences come from")
    parts = [_messages(size), _file_sizes(size), _buffers(size)]
    texts = (
        "Fig. 4 does not say which control its hosts used. BIC, the default of their kernel, recovers its window in "
        f"a few round trips wherever slow start ends. {FIG4_S:g} s, and {FIG4_FULL_S:g} s until the full rate, need a "
        "control that adds half a packet a round trip (Reno, or CUBIC of 2005 where it does as Reno) after an early "
        "end of slow start.",
        "Figs 8 and 10: what a flow loses in slow start does not grow with its file. Small files show that loss; in "
        "large ones Reno and CUBIC, which become fair with time, even it out, and Scalable TCP does so less.",
        "Fig. 9: ACKs that wait behind reverse traffic, or are lost there, cost a flow throughput once its window "
        "cannot spare it. How much waits is the bottleneck's buffer.",
    )
    checks = [check for made, _ in parts for check in made]
    return checks, Section("What the differences come from", texts, [table for _, table in parts], [])


def _extended(artefact: str, quantity: str, ours: float) -> Check:
    return Check(artefact, quantity, None, ours, None, None, 0.0)


def _messages(size: Size) -> tuple[list[Check], Table]:
    keys = [(control, threshold) for control in ("bic", "reno", "cubic_2005") for threshold in THRESHOLDS]
    scenarios = [
        single_pair.pair(
            11.6,
            60.0,
            single_pair.WINDOW,
            {
                "workload": {"name": "transfer", "sizes": f"{single_pair.MESSAGES * single_pair.MESSAGE_BYTES} B"},
                "congestion_control": control,
                "byte_counting": False,
                **({} if threshold is None else {"initial_ssthresh": f"{threshold} packets"}),
            },
        )
        for control, threshold in keys
    ]
    checks, rows = [], []
    for (control, threshold), run in zip(keys, simulated(scenarios, size), strict=True):
        total, full = single_pair.duration_of(run), single_pair.full_rate_at(run)
        where = "ends at a loss" if threshold is None else f"ends at {threshold} packets"
        rows.append((f"`{control}`", where, f"{total:.2f}", "" if full is None else f"{full:.2f}"))
        checks.append(_extended("fig4", f"time of 200 messages, s: {control}, slow start {where}", total))
    header = ("control", "slow start", "time (s)", "90 % of its rate at (s)")
    return checks, Table("Fig. 4: 200 messages, growth by ACKs", header, rows, numbers=(2, 3))


def _file_sizes(size: Size) -> tuple[list[Check], Table]:
    factors = (1 / 16, 1 / 4, 1.0) if size.kept else (1 / 4, 1.0, 4.0)
    keys = [
        (factor, control, count)
        for factor in factors
        for control, counts in (("reno", _LEVELS), ("cubic_2005", _LEVELS), ("scalable", _LEVELS[-1:]))
        for count in counts
    ]
    runs = dict(zip(keys, simulated([_files(size, *key) for key in keys], size), strict=True))
    checks, rows = [], []
    for factor in factors:
        gigabytes = factor * size.bulk_gb
        lines = [_line(runs, factor, control, gigabytes) for control in ("reno", "cubic_2005")]
        spreads = {control: float(np.std(_first(runs[factor, control, _LEVELS[-1]]))) for control in FIG10_SD}
        ratio = spreads["scalable"] / spreads["cubic_2005"]
        rows.append((f"{gigabytes:g}", *(f"{line:.3f}" for line in lines), f"{ratio:.2f}"))
        checks.append(_extended("fig8", f"R^2 of a line over C_g, reno, files of {gigabytes:g} GB", lines[0]))
        checks.append(_extended("fig8", f"R^2 of a line over C_g, cubic_2005, files of {gigabytes:g} GB", lines[1]))
        checks.append(_extended("fig10", f"sd of Scalable over that of CUBIC, files of {gigabytes:g} GB", ratio))
    header = ("file (GB)", "Fig. 8: R^2, Reno", "Fig. 8: R^2, CUBIC", "Fig. 10: sd of Scalable over CUBIC's")
    return checks, Table("Figs 8 and 10: the size of files, one repetition", header, rows, numbers=(0, 1, 2, 3))


def _files(size: Size, factor: float, control: str, count: int) -> Scenario:
    gigabytes = factor * size.bulk_gb
    ideal = alone_s(gigabytes)
    start = {"uniform": f"{ideal / 240:g} s"}
    return hosts(control, count, RTT_MS, duration_s=0.6 * count * ideal, file_gb=gigabytes, start=start)


def _line(runs: dict[tuple[float, str, int], Run], factor: float, control: str, gigabytes: float) -> float:
    means = [float(np.mean(_first(runs[factor, control, count]))) / alone_s(gigabytes) for count in _LEVELS]
    return float(np.corrcoef(_LEVELS, means)[0, 1] ** 2)


def _first(run: Run) -> np.ndarray:
    return times(run)[0]


def _buffers(size: Size) -> tuple[list[Check], Table]:
    gigabytes = size.bulk_gb / 2
    ideal = alone_s(gigabytes)
    keys = [(buffer, reverse) for buffer in BUFFERS for reverse in (8, 15)]
    scenarios = [
        hosts(
            "cubic_2005", 12, RTT_MS, duration_s=2.6 * ideal, file_gb=gigabytes, start={"uniform": "200 ms"},
            reverse=reverse,
        ).with_values({"bottleneck.queue.limit": f"{buffer} packets"})
        for buffer, reverse in keys
    ]  # fmt: skip
    means = {
        key: float(np.mean(_first(run))) / ideal for key, run in zip(keys, simulated(scenarios, size), strict=True)
    }
    checks, rows = [], []
    for buffer in BUFFERS:
        ratio = means[buffer, 15] / means[buffer, 8]
        rows.append((f"{buffer}", f"{means[buffer, 8]:.3f}", f"{means[buffer, 15]:.3f}", f"{ratio:.3f}"))
        checks.append(
            _extended("fig9", f"mean time at R = 1.5 over that at R = 0.8, buffer of {buffer} packets", ratio)
        )
    header = ("buffer (packets)", "R = 0.8", "R = 1.5", "ratio")
    return checks, Table("Fig. 9: the buffer, C_g = 1.2, one repetition", header, rows, numbers=(0, 1, 2, 3))
