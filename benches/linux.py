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
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl

import parshall as ps
from parshall.emulation import validity

TOLERANCES = {
    "goodput_bps": 0.03,
    "loss_rate": 0.10,
    "mean_queueing_delay_s": 0.10,
    "queueing_delay_p99_s": 0.10,
    "share": 0.05,
}
"""Relative, but for shares of the goodput: what one would accept of two kernels, or of one kernel on two days."""

FEW_LOSSES = 30
"""Below so many losses in all repetitions a loss rate is known to no better than a third, and is not judged."""

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

    @property
    def name(self) -> str:
        """What a reader knows it by."""
        loss = f", loss {self.random_loss:g}" if self.random_loss else ""
        network = f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.buffer_packets} packets{loss}"
        return f"{self.flows} {' and '.join(self.controls)}, {network}"

    def scenario(self, seconds: float, repetitions: int, seed: int) -> ps.Scenario:
        """The scenario, with the profile: an emulation has the kernel itself."""
        headers = 52 + self.packet_bytes - 1500  # IP and TCP with timestamps, and what was counted beside them
        return ps.Scenario.from_document(
            {
                "name": "linux",
                "duration": f"{seconds:g} s",
                "warm_up": f"{seconds / 5:g} s",
                "repetitions": repetitions,
                "seed": seed,
                "bottleneck": {
                    "rate": f"{self.rate_mbps:g} Mbit/s",
                    "queue": {"name": "drop_tail", "limit": f"{self.buffer_packets} packets"},
                    **({"loss": {"name": "bernoulli", "probability": self.random_loss}} if self.random_loss else {}),
                },
                "flows": [
                    {
                        "name": control,
                        "count": self.flows // len(self.controls),
                        "rtt": f"{self.rtt_ms:g} ms",
                        "start": {"uniform": "1 s"},
                        "congestion_control": control,
                        "tcp": "linux",
                        "packet_size": f"{self.packet_bytes} B",
                        "header_size": f"{headers} B",
                    }
                    for control in self.controls
                ],
            }
        )


@dataclass(frozen=True)
class Measured:
    """A quantity over repetitions."""

    mean: float
    error: float
    """Standard error; 0 of one repetition."""

    @classmethod
    def of(cls, values: list[float]) -> Measured:
        """The repetitions' values."""
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
    """Cases without end, as the seed has them."""
    choices = random.Random(seed)
    while True:
        rate, rtt = choices.choice((10, 20, 50, 100)), choices.choice((10, 20, 40, 100, 200))
        bdp = rate * 1e6 * rtt / 1e3 / 8 / 1500
        controls = choices.choice((("reno",), ("cubic",), ("bbr",), ("cubic", "bbr")))
        yield Case(
            controls=controls,
            flows=choices.choice((2, 4, 10) if len(controls) > 1 else (1, 2, 4, 10)),
            rate_mbps=rate,
            rtt_ms=rtt,
            buffer_packets=max(8, round(bdp * choices.choice((0.5, 1, 2, 4)))),
            random_loss=choices.choice((0.0, 0.0, 0.0, 1e-3)),
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


def measured(run: ps.Run, case: Case) -> dict[str, Measured]:
    """The quantities that are compared."""
    link = run.links.filter(pl.col("link") == "bottleneck")
    flows = run.flows.with_columns(first=pl.col("group") == case.controls[0])
    goodput = flows.group_by("repetition", maintain_order=True).agg(
        pl.col("goodput_bps").sum(), share=pl.col("goodput_bps").filter("first").sum() / pl.col("goodput_bps").sum()
    )
    found = {
        "goodput_bps": goodput["goodput_bps"],
        "loss_rate": link["dropped_packets"] / link["arrivals_packets"],
        "mean_queueing_delay_s": link["mean_queueing_delay_s"],
        "queueing_delay_p99_s": link["queueing_delay_p99_s"],
    }
    if len(case.controls) > 1:
        found["share"] = goodput["share"]
    return {quantity: Measured.of(values.to_list()) for quantity, values in found.items()}


def row(case: Case, quantity: str, ours: Measured, theirs: Measured, unjudged: str) -> Row:
    """The comparison; `unjudged`: why it is not one."""
    scale = 1.0 if quantity == "share" else theirs.mean
    difference = (ours.mean - theirs.mean) / scale if scale else None
    error = (ours.error**2 + theirs.error**2) ** 0.5 / scale if scale else None
    tolerance = TOLERANCES[quantity]
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
    judged = validity(real)
    level = "unknown" if judged is None else judged.level
    lost = real.links.filter(pl.col("link") == "bottleneck")["dropped_packets"].sum()
    theirs = measured(real, case)
    for quantity, ours in measured(simulated, case).items():
        unjudged = f"the emulation is {level}" if level == "invalid" else ""
        if quantity == "loss_rate" and lost < FEW_LOSSES:
            unjudged = f"{lost} losses"
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
        cases = drawn(options.seed)
        groups = (emulated(next(cases), options) for _ in range(options.count))
    rows: list[Row] = []
    out = sys.stderr if options.json == "-" else sys.stdout
    for group in groups:
        for number, each in enumerate(group):
            rows.append(each)
            print(f"{each.scenario}\n{_line(each)}" if number == 0 else _line(each), file=out, flush=True)
    judged = [each for each in rows if each.within is not None]
    for quantity, tolerance in TOLERANCES.items():
        of = [each for each in judged if each.quantity == quantity]
        print(f"{quantity}: {sum(bool(each.within) for each in of)} of {len(of)} within {tolerance:.0%}", file=out)
    if options.json:
        text = json.dumps([asdict(each) for each in rows], indent=1)
        print(text) if options.json == "-" else Path(options.json).write_text(text, encoding="utf-8")
    return 0 if all(each.within for each in judged) else 1


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
    parser.add_argument("--seconds", type=float, default=25.0, help="of a repetition; a fifth is warm-up")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--reference", type=Path, help="a file of measurements made elsewhere: nothing is emulated")
    parser.add_argument("--json", nargs="?", const="-", help="the rows, to this file or to standard output")
    options: Any = parser.parse_args()
    return options


if __name__ == "__main__":
    sys.exit(main())
