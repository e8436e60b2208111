"""The simulator held against the kernel: drawn scenarios, emulated with Linux's TCP and simulated with its profile.

    .venv/bin/python benches/linux.py --seed 1 --count 10 --json rows.json

A row a quantity: scenario, quantity, simulated, emulated, the difference, the tolerance, whether it is within, and the
cause if not. An emulation that cannot be believed is shown as such and counts nowhere. With ``--reference FILE`` the
simulations are held against measurements made elsewhere (objects with ``congestion_control``, ``flows``,
``rate_mbps``, ``rtt_ms``, ``buffer_packets``, ``random_loss``, what was measured and its standard error), and nothing
is emulated: that takes seconds. An emulation takes the scenario's time, and asks for a machine on which nothing else
runs. docs/linux.md has the tables.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl

import parshall as ps
from parshall.emulation import validity
from parshall.files import write_atomically

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

COUNTS = {"loss_rate": "dropped_packets", "mark_rate": "marked_packets"}
"""Rates at the bottleneck, and what of its packets they count."""

MARKING = ("codel", "fq_codel")
"""Queues that mark what can be marked: their flows have ECN."""

TRANSFERS = "transfers"
"""The group of flows that send one transfer after another, beside those whose controls are held against each other."""

NO_CAUSE = "open"


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

    @property
    def name(self) -> str:
        """What a reader knows it by."""
        loss = f", loss {self.random_loss:g}" if self.random_loss else ""
        queue = f" of {self.queue}" if self.queue in MARKING else ""
        network = f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.buffer_packets} packets{queue}{loss}"
        transfers = f", transfers of {self.transfer_kb} kB" if self.transfer_kb else ""
        return f"{self.flows} {' and '.join(self.controls)}, {network}{transfers}"

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

    @classmethod
    def of(cls, values: list[float]) -> Measured | None:
        """The repetitions' values; None where no repetition has one."""
        if not values:
            return None
        return cls(fmean(values), stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0)


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
    """Why it is not within, or not judged."""


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
    """The quantities that are compared; None where nothing was measured, as of transfers of which none was done."""
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
    if case.transfer_kb:
        found |= completions(run)
    return {quantity: Measured.of(values.to_list()) for quantity, values in found.items()}


def completions(run: ps.Run) -> dict[str, pl.Series]:
    """Median and 95th percentile of the times that transfers took, of each repetition: of those that were done."""
    assert run.transfers is not None, "scenarios record them unless they say otherwise"
    done = run.transfers.filter(pl.col("group") == TRANSFERS, pl.col("completion_s").is_not_null())
    time = pl.col("completion_s") - pl.col("start_s")
    found = done.group_by("repetition", maintain_order=True).agg(
        completion_p50_s=time.quantile(0.5, "linear"), completion_p95_s=time.quantile(0.95, "linear")
    )
    return {quantity: found[quantity] for quantity in ("completion_p50_s", "completion_p95_s")}


def row(case: Case, quantity: str, ours: Measured | None, theirs: Measured | None, unjudged: str) -> Row:
    """The comparison; `unjudged`: why it is not one."""
    tolerance = TOLERANCES[quantity]
    if ours is None or theirs is None:
        here, there = (None if one is None else one.mean for one in (ours, theirs))
        return Row(case.name, quantity, here, there, None, None, tolerance, None, unjudged or "no transfer was done")
    scale = 1.0 if quantity == "share" else theirs.mean
    difference = (ours.mean - theirs.mean) / scale if scale else None
    error = (ours.error**2 + theirs.error**2) ** 0.5 / scale if scale else None
    within = None if difference is None or unjudged else abs(difference) <= tolerance
    cause = unjudged or ("" if within else _cause(difference, error, tolerance))
    return Row(case.name, quantity, ours.mean, theirs.mean, difference, error, tolerance, within, cause)


def _cause(difference: float | None, error: float | None, tolerance: float) -> str:
    """Why a difference is beyond its tolerance, as far as the figures say."""
    if difference is not None and error is not None and abs(difference) - tolerance <= 2 * error:
        return "within two standard errors of the tolerance"
    return NO_CAUSE


def emulated(case: Case, options: argparse.Namespace) -> Iterator[Row]:
    """Emulates and simulates a case."""
    scenario = case.scenario(options.seconds, options.repetitions, options.seed)
    real, simulated = ps.emulate(scenario), ps.run(scenario)
    believed = validity(real)
    invalid = str(believed) if believed is not None and believed.level == "invalid" else ""
    bottleneck = real.links.filter(pl.col("link") == "bottleneck")
    theirs = measured(real, case)
    for quantity, ours in measured(simulated, case).items():
        unjudged = invalid
        if not invalid and quantity in COUNTS and (count := bottleneck[COUNTS[quantity]].sum()) < FEW_LOSSES:
            unjudged = f"{count} packets"
        yield row(case, quantity, ours, theirs[quantity], unjudged)


def from_file(options: argparse.Namespace) -> Iterator[Iterator[Row]]:
    """Simulates the cases of a file of measurements."""
    for case, theirs in of_file(options.reference):
        run = ps.run(case.scenario(options.seconds, options.repetitions, options.seed))
        ours = measured(run, case)
        yield (
            row(case, quantity, ours[quantity], theirs[quantity], "") for quantity in TOLERANCES if quantity in theirs
        )


def main() -> int:
    """Prints a table; exit status 1 if something is not within its tolerance."""
    options = _arguments()
    if options.reference:
        groups = from_file(options)
    else:
        cases = islice(drawn(options.seed), options.count)
        groups = (emulated(case, options) for case in cases if case.rate_mbps <= options.up_to)
    rows: list[Row] = []
    out = sys.stderr if options.json == "-" else sys.stdout
    for group in groups:
        for number, each in enumerate(group):
            rows.append(each)
            print(f"{each.scenario}\n{_line(each)}" if number == 0 else _line(each), file=out, flush=True)
        if options.json and options.json != "-":
            write_atomically(Path(options.json), _text(rows))  # emulations take an hour, and what is done is not lost
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
    return f"  {one.quantity:24}{values}  {difference:16} {'' if one.within else one.cause}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="scenarios")
    parser.add_argument("--up-to", type=float, default=1000.0, metavar="MBPS", help="leave faster ones out")
    parser.add_argument("--seconds", type=float, default=25.0, help="of a repetition; a fifth is warm-up")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--reference", type=Path, help="a file of measurements made elsewhere: nothing is emulated")
    parser.add_argument("--json", nargs="?", const="-", help="the rows, to this file or to standard output")
    options: Any = parser.parse_args()
    return options


if __name__ == "__main__":
    sys.exit(main())
