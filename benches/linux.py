"""The simulator held against the kernel: drawn scenarios, emulated with Linux's TCP and simulated with its profile.

    .venv/bin/python benches/linux.py --seed 1 --count 10 --json rows.json

A row a quantity: scenario, quantity, simulated, emulated, the difference, the tolerance, whether it is within, and the
cause if not (`cause_of`). An emulation that cannot be believed is done once more; if that one cannot either, its rows
say why and count nowhere. Networks of one or two flows, and those with transfers, are repeated twice as often, as few
events happen in a run of them; the hosts' send buffers limit no flow. With ``--reference FILE`` the
simulations are held against measurements made elsewhere (objects with ``congestion_control``, ``flows``,
``rate_mbps``, ``rtt_ms``, ``buffer_packets``, ``random_loss``, what was measured and its standard error), and nothing
is emulated: that takes seconds. An emulation takes the scenario's time, and asks for a machine on which nothing else
runs; how long all of them take at most is said first, and ``--minutes`` bounds it: what does not fit is left out, and
said. With ``--kept FILE`` what the kernel did is written there, and is not emulated again: another version of the
simulator is held against it in minutes. docs/linux.md has the tables.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import inf
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl

import parshall as ps
from parshall.analysis.stats.confidence import welch_freedom
from parshall.foundations.distributions import student_quantile
from parshall.foundations.files import write_atomically
from parshall.instruments.emulation import Validity, validity
from parshall.results.quantities.completion import counts
from parshall.results.quantities.measuring import series_of
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.studies.study import Emulated, once_more_if_invalid

TOLERANCES = {
    "goodput_bps": 0.03,
    "loss_rate": 0.10,
    "mark_rate": 0.10,
    "mean_queueing_delay_s": 0.10,
    "queueing_delay_p99_s": 0.10,
    "share": 0.05,
    "completion_p50_s": 0.05,
    "completion_p95_s": 0.10,
}
"""Relative, but for shares of the goodput: what one would accept of two kernels, or of one kernel on two days."""

FEW_LOSSES = 30
"""Below so many losses or marks in all repetitions their rate is known to no better than a third, and is not judged."""

FEW_TRANSFERS = {"completion_p50_s": 30, "completion_p95_s": 200}
"""Below so many transfers in all repetitions: beyond a percentile are ten at least of so many, as quantiles need."""

QUEUEING_DELAYS = ("mean_queueing_delay_s", "queueing_delay_p99_s")

KNOWN_TO_S = 0.2e-3
"""Delays in an emulation are known to this: later packets make it doubtful (docs/emulation.md)."""

NEARLY_EMPTY_S = 2e-3
"""A queue whose mean delay is below ten times that: bursts and late packets are most of what waits in it."""

FEW_FLOWS = 2
EFFORT = 2
"""So many times the repetitions of others have networks of few flows, and those with transfers."""

RECEIVE_BUFFER = 131_072
"""Bytes that a receiver's buffer begins with on Linux, which acknowledges by how it grows."""

COUNTS = {"loss_rate": "dropped_packets", "mark_rate": "marked_packets"}
"""Rates at the bottleneck, and what of its packets they count."""

MARKING = ("codel", "fq_codel")
"""Queues that mark what can be marked: their flows have ECN."""

TRANSFERS = "transfers"
"""The group of flows that send one transfer after another, beside those whose controls are held against each other."""

SIMULATIONS = 40
"""So many repetitions of a simulation at least: they cost seconds, and only the kernel's are then what is not known."""


@dataclass(frozen=True)
class Case:
    """A network and who shares it."""

    controls: tuple[str, ...]
    """Each has as many of the flows."""
    flows: int
    rate_mbps: float
    rtt_ms: float
    buffer_packets: int
    random_loss: float = 0.0
    packet_bytes: int = 1500
    queue: str = "drop_tail"
    transfer_kb: int = 0
    """Size of the transfers that two further flows of the first control send; 0: there are none."""
    receive_buffer: int = RECEIVE_BUFFER
    """Bytes that receivers' buffers begin with."""

    @property
    def buffers(self) -> dict[str, int | str]:
        """What hosts are told: send buffers limit no flow, and receive buffers can grow as they must."""
        return {**AMPLE_BUFFERS, "net.ipv4.tcp_rmem": f"4096 {self.receive_buffer} 268435456"}

    @property
    def name(self) -> str:
        """What a reader knows it by."""
        loss = f", loss {self.random_loss:g}" if self.random_loss else ""
        queue = f" of {self.queue}" if self.queue in MARKING else ""
        network = f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.buffer_packets} packets{queue}{loss}"
        transfers = f", transfers of {self.transfer_kb} kB" if self.transfer_kb else ""
        return f"{self.flows} {' and '.join(self.controls)}, {network}{transfers}"

    def repetitions(self, usual: int) -> int:
        """How often it is emulated, of how often others are."""
        return usual * (EFFORT if self.flows <= FEW_FLOWS or self.transfer_kb else 1)

    def scenario(self, seconds: float, repetitions: int, seed: int) -> ps.Scenario:
        """The scenario, with the profile: an emulation has the kernel itself."""
        headers = 52 + self.packet_bytes - 1500  # IP and TCP with timestamps, and what was counted beside them
        flow = {
            "rtt": f"{self.rtt_ms:g} ms",
            "start": {"uniform": "1 s"},
            "tcp": "linux",
            "ecn": self.queue in MARKING,
            "packet_size": f"{self.packet_bytes} B",
            "header_size": f"{headers} B",
            "kernel": {"sysctls": self.buffers},
        }
        groups = [
            {"name": control, "count": self.flows // len(self.controls), "congestion_control": control, **flow}
            for control in self.controls
        ]
        if self.transfer_kb:
            size = {"name": "constant", "value": f"{self.transfer_kb} kB"}
            pause = {"name": "exponential", "mean": f"{5 * self.rtt_ms:g} ms"}
            workload = {"name": "on_off", "size": size, "off": pause}
            control = self.controls[0]
            groups.append({"name": TRANSFERS, "count": 2, "congestion_control": control, **flow, "workload": workload})
        return ps.Scenario.from_document(
            {
                "name": "linux",
                "duration": f"{seconds:g} s",
                "warm_up": f"{seconds / 5:g} s",
                "repetitions": repetitions,
                "seed": seed,
                "bottleneck": {
                    "rate": f"{self.rate_mbps:g} Mbit/s",
                    "queue": {
                        "name": self.queue,
                        "limit": f"{self.buffer_packets} packets",
                        **({"ecn": True} if self.queue in MARKING else {}),
                    },
                    **({"loss": {"name": "bernoulli", "probability": self.random_loss}} if self.random_loss else {}),
                },
                "flows": groups,
            }
        )


@dataclass(frozen=True)
class Measured:
    """A quantity over repetitions."""

    mean: float
    error: float
    """Standard error; 0 of one repetition."""
    count: int = 3
    """Repetitions."""

    @classmethod
    def of(cls, values: list[float]) -> Measured | None:
        """The repetitions' values; None where no repetition has one."""
        if not values:
            return None
        return cls(fmean(values), stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0, len(values))


@dataclass(frozen=True)
class Row:
    """A quantity of a scenario."""

    scenario: str
    quantity: str
    simulated: float | None
    emulated: float | None
    """Or measured elsewhere."""
    difference: float | None
    """Simulated less emulated, over emulated; of shares, the plain difference."""
    error: float | None
    """Standard error of that."""
    tolerance: float
    within: bool | None
    """None: it is not judged."""
    cause: str
    """Why it is not within, or not judged, or within all the same (`cause_of`)."""
    verdict: str = ""
    """Of the emulation: valid, doubtful, invalid; nothing where it was measured elsewhere."""


def drawn(seed: int) -> Iterator[Case]:
    """Cases without end, as the seed has them: those of a long one begin with those of a short one."""
    choices = random.Random(seed)
    while True:
        rate, rtt = choices.choice((10, 100, 1000)), choices.choice((10, 40, 100, 200))
        bdp = rate * 1e6 * rtt / 1e3 / 8 / 1500
        controls = choices.choice((("reno",), ("cubic",), ("bbr",), ("cubic", "bbr")))
        yield Case(
            controls=controls,
            flows=choices.choice((2, 10, 50) if len(controls) > 1 else (1, 2, 10, 50)),
            rate_mbps=rate,
            rtt_ms=rtt,
            buffer_packets=max(8, round(bdp * choices.choice((0.25, 1, 4)))),
            random_loss=choices.choice((0.0, 0.0, 0.0, 1e-4, 1e-3, 1e-2)),
            queue=choices.choice(("drop_tail", "drop_tail", "drop_tail", *MARKING)),
            transfer_kb=choices.choice((0, 0, 0, 10, 100, 1000)),
        )


def of_file(path: Path) -> Iterator[tuple[Case, dict[str, Measured]]]:
    """The cases of a file of measurements, and what was measured: of random losses only the goodput."""
    errors = {"goodput_bps": "goodput_se", "loss": "loss_se", "mean_queueing_delay_s": "queueing_delay_se"}
    for one in json.loads(path.read_text(encoding="utf-8"))["scenarios"]:
        case = Case(
            tuple(one["congestion_control"].split(",")),
            one["flows"],
            one["rate_mbps"],
            one["rtt_ms"],
            one["buffer_packets"],
            one["random_loss"],
            one["packet_bytes"],
        )
        found = {key: Measured(one[key], one[error]) for key, error in errors.items()}
        found["loss_rate"] = found.pop("loss")
        if case.random_loss:
            found = {"goodput_bps": found["goodput_bps"]}
        elif len(case.controls) > 1:
            found["share"] = Measured(one["share"][case.controls[0]], 0.0)
        yield case, found


def measured(run: ps.Run, case: Case) -> dict[str, Measured | None]:
    """The quantities that are compared; None where nothing was measured, or too few transfers ended."""
    link = run.links.filter(pl.col("link") == "bottleneck")
    flows = run.flows.filter(pl.col("group") != TRANSFERS).with_columns(first=pl.col("group") == case.controls[0])
    goodput = flows.group_by("repetition", maintain_order=True).agg(
        pl.col("goodput_bps").sum(), share=pl.col("goodput_bps").filter("first").sum() / pl.col("goodput_bps").sum()
    )
    found = {
        "goodput_bps": goodput["goodput_bps"],
        **{rate: link[counted] / link["arrivals_packets"] for rate, counted in COUNTS.items()},
        "mean_queueing_delay_s": link["mean_queueing_delay_s"],
        "queueing_delay_p99_s": link["queueing_delay_p99_s"],
    }
    if case.queue not in MARKING:
        del found["mark_rate"]
    if len(case.controls) > 1:
        found["share"] = goodput["share"]
    made = {quantity: Measured.of(values.to_list()) for quantity, values in found.items()}
    if case.transfer_kb:
        return {**made, **completions(run)}
    return made


def completions(run: ps.Run) -> dict[str, Measured | None]:
    """Median and 95th percentile of the times that transfers take, those too that had not ended (Kaplan and Meier).

    None where too few ended, or too few repetitions bound it.
    """
    series = series_of(run.tables, [f"group/{TRANSFERS}/{quantity}" for quantity in FEW_TRANSFERS])
    pooled = {quantity: series[f"group/{TRANSFERS}/{quantity}"].estimate() for quantity in FEW_TRANSFERS}
    return {key: None if one is None else Measured.of(list(one.by_repetition.values())) for key, one in pooled.items()}


@dataclass(frozen=True)
class Kernel:
    """What was measured of the kernel, and what bounds its worth."""

    found: dict[str, Measured | None]
    verdict: str = ""
    invalid: str = ""
    """Why the emulation cannot be believed, if so."""
    counted: dict[str, int] | None = None
    """Packets lost and marked, and transfers, of the emulation; None: it was measured elsewhere, and not counted."""


def row(case: Case, quantity: str, ours: Measured | None, kernel: Kernel) -> Row:
    """The comparison of a quantity."""
    tolerance, theirs = TOLERANCES[quantity], kernel.found[quantity]
    here, there = (None if one is None else one.mean for one in (ours, theirs))
    unjudged = _unjudged(quantity, kernel)
    if ours is None or theirs is None:
        cause = unjudged or "few transfers: too few ended"
        return Row(case.name, quantity, here, there, None, None, tolerance, None, cause, kernel.verdict)
    scale = 1.0 if quantity == "share" else theirs.mean
    known = scale != 0
    difference = (ours.mean - theirs.mean) / scale if known else None
    error = (ours.error**2 + theirs.error**2) ** 0.5 / abs(scale) if known else None
    within: bool | None = None
    cause = unjudged
    if not unjudged:
        # Of nothing, any share is infinite.
        away = abs(difference) if difference is not None else (0.0 if ours.mean == theirs.mean else inf)
        within, cause = away <= tolerance, ""
        if not within:
            within, cause = cause_of(quantity, ours, theirs, kernel)
    return Row(case.name, quantity, here, there, difference, error, tolerance, within, cause, kernel.verdict)


def _unjudged(quantity: str, kernel: Kernel) -> str:
    """Why a quantity is not judged, if so: the emulation is not one of the network, or too few events make a rate."""
    if kernel.invalid:
        return f"invalid: {kernel.invalid}"
    counted = None if kernel.counted is None else kernel.counted.get(quantity)
    if quantity in COUNTS and counted is not None and counted < FEW_LOSSES:
        return f"few events: {counted} packets"
    return ""


def cause_of(quantity: str, ours: Measured, theirs: Measured, kernel: Kernel) -> tuple[bool, str]:
    """Whether what is beyond its tolerance is within all the same, and why it is beyond, as far as the figures say.

    The first that holds: the delays differ by less than an emulation knows (that is within); few transfers; the
    interval (95 %, Welch's) of the difference reaches the tolerance; a queue that is nearly empty; none of these, so
    that the profile does something not as the kernel: open.
    """
    apart = abs(ours.mean - theirs.mean)
    if quantity in QUEUEING_DELAYS and apart <= KNOWN_TO_S:
        return True, f"delays are known to {1e3 * KNOWN_TO_S:g} ms; these are {1e3 * apart:.2g} ms apart"
    transfers = (kernel.counted or {}).get(quantity, inf) if quantity in FEW_TRANSFERS else inf
    if transfers < FEW_TRANSFERS.get(quantity, 0):
        return False, f"few transfers: {transfers}"
    variances = (ours.error**2, theirs.error**2)
    if any(variances):
        freedom = welch_freedom(variances, (ours.count, theirs.count))
        half = student_quantile(0.975, freedom) * sum(variances) ** 0.5
        allowed = TOLERANCES[quantity] * (1.0 if quantity == "share" else abs(theirs.mean))
        if apart - half <= allowed:
            scale = 1.0 if quantity == "share" else abs(theirs.mean) or inf
            return False, f"the interval: the difference is known to {half / scale:.1%}"
    mean = kernel.found.get("mean_queueing_delay_s")
    if quantity in QUEUEING_DELAYS and mean is not None and mean.mean < NEARLY_EMPTY_S:
        return False, f"nearly empty queue: {1e3 * mean.mean:.2g} ms, of bursts that an emulation hands over together"
    return False, "open: beyond the interval"


def kernel_of(run: ps.Run, believed: Validity, case: Case) -> Kernel:
    """What an emulation says of the kernel."""
    bottleneck = run.links.filter(pl.col("link") == "bottleneck")
    counted = {rate: int(bottleneck[column].sum()) for rate, column in COUNTS.items()}
    if case.transfer_kb:
        counted |= dict.fromkeys(FEW_TRANSFERS, counts(run.tables.of("group", TRANSFERS))[0])
    return Kernel(measured(run, case), believed.level, str(believed) if believed.level == "invalid" else "", counted)


class Kept:
    """What the kernel did in each case, kept in a file if there is one; invalid emulations are not kept.

    Parameters
    ----------
    path
        A JSON object of `Kernel` by case, which is made if it is not there; None: nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            self._found = json.loads(path.read_text(encoding="utf-8"))

    def has(self, case: Case, options: argparse.Namespace) -> bool:
        """Whether a case needs no emulation."""
        return _key(case, options) in self._found

    def kernel(self, case: Case, options: argparse.Namespace) -> Kernel:
        """What the kernel does: it is emulated if it was not yet, once more if that cannot be believed."""
        key = _key(case, options)
        if key not in self._found:
            real = once_more_if_invalid(lambda: _emulated(case, options))
            made = kernel_of(real.answer, real.validity, case)
            if made.invalid:
                return made
            self._found[key] = asdict(made)
            if self._path is not None:
                write_atomically(self._path, json.dumps(self._found, indent=1))
        kept = self._found[key]
        found = {quantity: None if one is None else Measured(**one) for quantity, one in kept["found"].items()}
        return Kernel(**{**kept, "found": found})


def _key(case: Case, options: argparse.Namespace) -> str:
    """What makes an emulation another one."""
    repetitions = case.repetitions(options.repetitions)
    hosts = f"Linux {platform.release()}, buffers of {' and '.join(map(str, case.buffers.values()))} B"
    # Another rule for percentiles is another key: one of the transfers that ended is none of all of them.
    ended = ", Kaplan-Meier" if case.transfer_kb else ""
    return f"{case.name}{ended}; {repetitions} times {options.seconds:g} s, seed {options.seed}, {hosts}"


def _emulated(case: Case, options: argparse.Namespace) -> Emulated:
    run = ps.emulate(case.scenario(options.seconds, case.repetitions(options.repetitions), options.seed))
    believed = validity(run)
    assert believed is not None, "it was emulated"
    return Emulated(run, believed)


def emulated(case: Case, options: argparse.Namespace, kept: Kept) -> Iterator[Row]:
    """Emulates and simulates a case."""
    kernel = kept.kernel(case, options)
    repetitions = max(case.repetitions(options.repetitions), SIMULATIONS)
    simulated = ps.run(case.scenario(options.seconds, repetitions, options.seed))
    for quantity, ours in measured(simulated, case).items():
        yield row(case, quantity, ours, kernel)


def fitting(cases: list[Case], options: argparse.Namespace, kept: Kept) -> Iterator[Case]:
    """The cases that fit into the time that there is, once more each if need be; what does not is said."""
    begun = time.monotonic()
    left_out = 0
    for case in cases:
        spent_s = time.monotonic() - begun
        needed_s = 0.0 if kept.has(case, options) else 2 * options.seconds * case.repetitions(options.repetitions)
        if needed_s and spent_s + needed_s > 60 * options.minutes:
            left_out += 1
        else:
            yield case
    if left_out:
        print(f"left out, as there was no time for them: {left_out} of {len(cases)} networks", file=sys.stderr)


def from_file(options: argparse.Namespace) -> Iterator[Iterator[Row]]:
    """Simulates the cases of a file of measurements."""
    for case, theirs in of_file(options.reference):
        run = ps.run(case.scenario(options.seconds, options.repetitions, options.seed))
        ours, kernel = measured(run, case), Kernel(dict(theirs))
        yield (row(case, quantity, ours[quantity], kernel) for quantity in TOLERANCES if quantity in theirs)


def main() -> int:
    """Prints a table; exit status 1 if something is not within its tolerance."""
    options = _arguments()
    out = sys.stderr if options.json == "-" else sys.stdout
    if options.reference:
        groups = from_file(options)
    else:
        cases = [
            replace(case, receive_buffer=options.receive_buffer)
            for case in islice(drawn(options.seed), options.count)
            if options.at_least <= case.rate_mbps <= options.up_to
        ]
        kept = Kept(options.kept)
        missing = [case for case in cases if not kept.has(case, options)]
        emulated_s = sum(options.seconds * case.repetitions(options.repetitions) for case in missing)
        bound_s = min(2 * emulated_s, 60 * options.minutes)
        said = f"{len(cases)} networks: {emulated_s / 60:.0f} minutes of emulation"
        print(f"{said}, and {bound_s / 60:.0f} at most if some are done once more", file=out, flush=True)
        groups = (emulated(case, options, kept) for case in fitting(cases, options, kept))
    rows: list[Row] = []
    for group in groups:
        for number, each in enumerate(group):
            rows.append(each)
            print(f"{each.scenario}\n{_line(each)}" if number == 0 else _line(each), file=out, flush=True)
        if options.json and options.json != "-":
            write_atomically(Path(options.json), _text(rows))  # emulations take an hour, and what is done is not lost
    verdicts = {each.scenario: each.verdict for each in rows}
    if invalid := sum(verdict == "invalid" for verdict in verdicts.values()):
        print(f"not counted: {invalid} of {len(verdicts)} emulations were invalid twice", file=out)
    judged = [each for each in rows if each.within is not None]
    for quantity, tolerance in TOLERANCES.items():
        of = [each for each in judged if each.quantity == quantity]
        print(f"{quantity}: {sum(bool(each.within) for each in of)} of {len(of)} within {tolerance:.0%}", file=out)
    if options.json == "-":
        print(_text(rows))
    return 0 if all(each.within for each in judged) else 1


def _text(rows: list[Row]) -> str:
    return json.dumps([asdict(each) for each in rows], indent=1)


def _line(one: Row) -> str:
    values = "".join(
        f"{value:>12.5g}" if value is not None else f"{'-':>12}" for value in (one.simulated, one.emulated)
    )
    difference = "" if one.difference is None else f"{one.difference:+7.1%} ±{one.error:.1%}"
    return f"  {one.quantity:24}{values}  {difference:16} {one.cause}".rstrip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="scenarios")
    parser.add_argument("--at-least", type=float, default=0.0, metavar="MBPS", help="leave slower ones out")
    parser.add_argument("--up-to", type=float, default=1000.0, metavar="MBPS", help="leave faster ones out")
    parser.add_argument("--receive-buffer", type=int, default=RECEIVE_BUFFER, help="bytes that receivers' begin with")
    parser.add_argument("--seconds", type=float, default=25.0, help="of a repetition; a fifth is warm-up")
    parser.add_argument("--repetitions", type=int, default=3, help=f"{EFFORT} times as many where little happens")
    parser.add_argument("--minutes", type=float, default=inf, help="leave out what does not fit into this time")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="what the kernel did: read, and added to")
    parser.add_argument("--reference", type=Path, help="a file of measurements made elsewhere: nothing is emulated")
    parser.add_argument("--json", nargs="?", const="-", help="the rows, to this file or to standard output")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
