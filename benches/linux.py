"""The simulator held against the kernel: scenarios drawn by a generator, emulated with Linux's TCP and simulated.

    .venv/bin/python benches/linux.py --seed 1 --count 10 --json rows.json

A row a quantity: emulated, simulated, the difference, the tolerance, and whether it is within. An emulation that cannot
be believed is shown as such and counts nowhere. With ``--reference FILE`` the scenarios are those of a file of
measurements made elsewhere (objects with ``congestion_control``, ``flows``, ``rate_mbps``, ``rtt_ms``,
``buffer_packets``, ``random_loss``, and what was measured), and its values stand beside both. It takes the scenarios'
time, and asks for a machine on which nothing else runs. docs/emulation.md has a table of it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

import parshall as ps
from parshall.emulation import validity

LINUX = {
    "recovery": "rack",
    "delayed_ack": "40 ms",
    "initial_window": "10 packets",
    "rto_floor": "variation",
    "rules": "linux",
}
"""Keys by which a simulated sender does as Linux's; `OF_CONTROL` in addition."""

OF_CONTROL = {"cubic": {"slow_start": "hystart++"}}

TOLERANCES = {"goodput_bps": 0.03, "loss_rate": 0.10, "mean_queueing_delay_s": 0.10, "queueing_delay_p99_s": 0.10}
"""Relative: what one would accept of two kernels, or of one kernel on two days."""

FEW_LOSSES = 30
"""Below so many losses in an emulation its loss rate is known to no better than a third, and is not judged."""


@dataclass(frozen=True)
class Case:
    """A network and who shares it."""

    control: str
    flows: int
    rate_mbps: float
    rtt_ms: float
    buffer_packets: int
    random_loss: float = 0.0

    @property
    def name(self) -> str:
        """What a reader knows it by."""
        loss = f", loss {self.random_loss:g}" if self.random_loss else ""
        network = f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.buffer_packets} packets{loss}"
        return f"{self.flows} {self.control}, {network}"

    def scenario(self, seconds: float, repetitions: int, seed: int, *, as_linux: bool) -> ps.Scenario:
        """The scenario; `as_linux`: simulated senders do as Linux's."""
        keys = LINUX | OF_CONTROL.get(self.control, {}) if as_linux else {}
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
                        "count": self.flows,
                        "rtt": f"{self.rtt_ms:g} ms",
                        "start": {"uniform": "1 s"},
                        "congestion_control": self.control,
                        "header_size": "52 B",  # with timestamps
                        **keys,
                    }
                ],
            }
        )


@dataclass(frozen=True)
class Row:
    """A quantity of a case."""

    case: str
    quantity: str
    emulated: float | None
    simulated: float | None
    difference: float | None
    """Simulated less emulated, over emulated."""
    tolerance: float
    within: bool | None
    """None: it is not judged."""
    emulation: str
    """How far the emulation can be believed."""
    reference: float | None = None
    """What was measured elsewhere."""


def drawn(seed: int) -> Iterator[Case]:
    """Cases without end, as the seed has them."""
    choices = random.Random(seed)
    while True:
        rate, rtt = choices.choice((10, 20, 50, 100)), choices.choice((10, 20, 40, 100, 200))
        bdp = rate * 1e6 * rtt / 1e3 / 8 / 1500
        yield Case(
            control=choices.choice(("reno", "cubic", "bbr")),
            flows=choices.choice((1, 2, 4, 10)),
            rate_mbps=rate,
            rtt_ms=rtt,
            buffer_packets=max(8, round(bdp * choices.choice((0.5, 1, 2, 4)))),
            random_loss=choices.choice((0.0, 0.0, 0.0, 1e-3)),
        )


def of_file(path: Path) -> Iterator[tuple[Case, dict[str, float]]]:
    """The cases of a file of measurements, and what was measured; those of mixed controls are passed over."""
    named = {"loss": "loss_rate"}
    for one in json.loads(path.read_text(encoding="utf-8"))["scenarios"]:
        if one["congestion_control"] not in {"reno", "cubic", "bbr"}:
            continue
        case = Case(
            one["congestion_control"],
            one["flows"],
            one["rate_mbps"],
            one["rtt_ms"],
            one["buffer_packets"],
            one["random_loss"],
        )
        yield case, {named.get(key, key): one[key] for key in ("goodput_bps", "loss", "mean_queueing_delay_s")}


def measured(run: ps.Run) -> dict[str, float | None]:
    """The quantities that are compared, over repetitions."""
    link = run.links.filter(run.links["link"] == "bottleneck")
    goodput = run.flows.group_by("repetition").agg(pl.col("goodput_bps").sum())["goodput_bps"].mean()
    lost, came = link["dropped_packets"].sum(), link["arrivals_packets"].sum()
    return {
        "goodput_bps": goodput,
        "loss_rate": lost / came if came else None,
        "lost": lost,
        "mean_queueing_delay_s": link["mean_queueing_delay_s"].mean(),
        "queueing_delay_p99_s": link["queueing_delay_p99_s"].mean(),
    }


def compared(case: Case, options: argparse.Namespace, reference: dict[str, float]) -> Iterator[Row]:
    """Emulates and simulates a case."""
    given = (options.seconds, options.repetitions, options.seed)
    real = ps.emulate(case.scenario(*given, as_linux=False))
    simulated = measured(ps.run(case.scenario(*given, as_linux=not options.rfc)))
    judged = validity(real)
    level = "unknown" if judged is None else judged.level
    found = measured(real)
    for quantity, tolerance in TOLERANCES.items():
        one, other = found[quantity], simulated[quantity]
        difference = None if not one or other is None else other / one - 1
        countable = level != "invalid" and (quantity != "loss_rate" or (found["lost"] or 0) >= FEW_LOSSES)
        within = abs(difference) <= tolerance if difference is not None and countable else None
        yield Row(case.name, quantity, one, other, difference, tolerance, within, level, reference.get(quantity))


def main() -> int:
    """Prints a table; exit status 1 if something is not within its tolerance."""
    options = _arguments()
    cases = of_file(options.reference) if options.reference else ((case, {}) for case in drawn(options.seed))
    rows: list[Row] = []
    for number, (case, reference) in enumerate(cases):
        if number >= options.count:
            break
        print(case.name, flush=True)
        for row in compared(case, options, reference):
            rows.append(row)
            _show(row)
    judged = [row for row in rows if row.within is not None]
    for quantity, tolerance in TOLERANCES.items():
        of = [row for row in judged if row.quantity == quantity]
        print(f"{quantity}: {sum(bool(row.within) for row in of)} of {len(of)} within {tolerance:.0%}")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 0 if all(row.within for row in judged) else 1


def _show(row: Row) -> None:
    def text(value: float | None) -> str:
        return f"{value:>12.5g}" if value is not None else f"{'-':>12}"

    difference = "" if row.difference is None else f"{row.difference:+7.1%}"
    verdict = {None: "not judged", True: "", False: "beyond the tolerance"}[row.within]
    elsewhere = "" if row.reference is None else f"  elsewhere {row.reference:.5g}"
    values = f"{text(row.emulated)}{text(row.simulated)}"
    print(f"  {row.quantity:24}{values}  {difference:8} {row.emulation:9} {verdict}{elsewhere}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="cases")
    parser.add_argument("--seconds", type=float, default=25.0, help="of a repetition; a fifth is warm-up")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rfc", action="store_true", help="simulate with the scenarios' defaults, not as Linux does")
    parser.add_argument("--reference", type=Path, help="a file of measurements made elsewhere")
    parser.add_argument("--json", type=Path, help="write the rows there")
    options: Any = parser.parse_args()
    return options


if __name__ == "__main__":
    sys.exit(main())
