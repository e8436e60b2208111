"""Times Parshall, and beside it ns-2 and ns-3 where they are installed: `make bench`.

Prints packets forwarded at the bottleneck per CPU-second of the event loop, memory a flow, the ratios to the others,
and whether each bar is met; stores all of it as benches/results/<date>.json. Exit status 1 if a bar is not met.
See benches/README.md for what exactly is compared.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from harness import commands, ours, pairs, scaling, studies, theory_and_traces
from harness.cases import (
    BYTES_PER_FLOW_BAR,
    CASES,
    COST_GROWTH_BAR,
    FEWEST,
    HOUR,
    HOUR_BAR_S,
    MOST,
    PAIRED,
    Case,
)
from harness.machine import machine, versions
from harness.network import read
from harness.others import Measurement, Ns2, Ns3
from harness.record import Bar, Record, Row

BENCHES = Path(__file__).parent


def main() -> int:
    options = _arguments()
    others = [] if options.alone else _others()
    record = Record(
        {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "options": vars(options),
            "machine": machine(),
            "versions": versions(BENCHES.parent) | {other.name: other.version for other in others},
        }
    )
    for case in CASES:
        if (options.only and case.name not in options.only) or (options.quick and case.quick_s is None):
            continue
        _measure(case, others, record, options.quick)
    _judge_growth(record)
    if options.long:
        _measure_hour(record)
        _say("bulk transfers of ITB's class H")
        studies.measure_bulk(record)
    if not options.only:
        fewest = next(case.scenario for case in CASES if case.name == FEWEST)
        _say("what choices cost at 500 flows")
        pairs.measure(record, next(case.scenario for case in CASES if case.name == PAIRED), quick=options.quick)
        _say("whole commands")
        commands.measure(record)
        studies.measure(record, fewest)
        scaling.measure(record, fewest, quick=options.quick)
        theory_and_traces.measure(record)
    record.show()
    if not (options.only or options.quick):
        path = BENCHES / "results" / f"{datetime.now(UTC):%Y-%m-%d-%H%M}.json"
        record.store(path)
        print(f"stored as {path}")
    return 0 if all(bar.met for bar in record.bars) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="about a minute: short runs, once each, few flows")
    parser.add_argument("--long", action="store_true", help="also an hour at 1 Gbit/s, and 20 files of 30 GB")
    parser.add_argument("--alone", action="store_true", help="without ns-2 and ns-3")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="only these cases; nothing is stored")
    return parser.parse_args()


def _others() -> list[Ns2 | Ns3]:
    found: list[Ns2 | Ns3] = [Ns2("own"), Ns2("shared"), Ns3()]
    for other in found:
        if other.version is None:
            print(f"{other.name} is not installed: left out")
    return [other for other in found if other.version is not None]


def _measure(case: Case, others: list[Ns2 | Ns3], record: Record, quick: bool) -> None:
    """All simulators in turn, then all again, so that each ratio is of two neighbouring runs."""
    network = read(case.scenario)
    assignments = [f"duration={case.quick_s} s"] if quick else []
    repeats = 1 if quick else case.repeats
    runs: list[ours.OwnMeasurement] = []
    theirs: dict[str, list[Measurement]] = {}
    ratios: dict[str, list[float]] = {}
    for turn in range(repeats):
        _say(f"{case.name}, run {turn + 1} of {repeats}: Parshall")
        run = ours.run(case.scenario, *assignments)
        runs.append(run)
        for other in others:
            duration = _duration_elsewhere(case, other, turn, quick)
            if duration is None:
                continue
            _say(f"{case.name}, run {turn + 1} of {repeats}: {other.name}")
            there = other.run(network, duration)
            theirs.setdefault(other.name, []).append(there)
            ratios.setdefault(other.name, []).append(run.packets_per_cpu_s / there.packets_per_cpu_s)
    baseline = ours.baseline_bytes(case.scenario)
    per_flow = median(run.high_water_bytes - baseline for run in runs) / network.flows
    record.add(Row(case.name, "Parshall", runs, bytes_per_flow=per_flow))
    for name, measured in theirs.items():
        record.add(Row(case.name, name, measured, ratios[name]))
    for name, bar in (("ns-2", case.ns2_bar), ("ns-3", case.ns3_bar)):
        if name in ratios and bar is not None:
            record.judge(Bar(f"{case.name}: times {name}", median(ratios[name]), bar))
    if case.name == MOST:
        record.judge(Bar(f"{case.name}: bytes a flow", per_flow, BYTES_PER_FLOW_BAR, at_least=False))


def _duration_elsewhere(case: Case, other: Ns2 | Ns3, turn: int, quick: bool) -> float | None:
    """Simulated seconds in another simulator on this turn; None: not run."""
    if isinstance(other, Ns3):
        return case.ns3_s if turn < 2 else None
    if case.ns2_s is None or turn >= case.ns2_repeats or (quick and case.ns2_repeats == 1):
        return None
    if case.ns2_repeats == 1 and other.sinks != "own":
        return None  # minutes of set-up each
    return case.quick_s if quick else case.ns2_s


def _judge_growth(record: Record) -> None:
    fewest, most = record.find(FEWEST, "Parshall"), record.find(MOST, "Parshall")
    if fewest and most:
        growth = fewest.best / most.best
        record.judge(Bar("a packet at 1,000,000 flows costs times one at 100", growth, COST_GROWTH_BAR, at_least=False))


def _measure_hour(record: Record) -> None:
    """One simulated hour, and two minutes of the same for the memory."""
    _say("one simulated hour of 500 flows at 1 Gbit/s")
    short = ours.run(HOUR.scenario, "duration=120 s")
    hour = ours.run(HOUR.scenario)
    record.add(Row(HOUR.name, "Parshall", [hour]))
    record.judge(Bar("one hour of 500 flows at 1 Gbit/s: CPU seconds", hour.cpu_s, HOUR_BAR_S, at_least=False))
    growth = hour.high_water_bytes / short.high_water_bytes
    record.judge(Bar("memory of the hour over that of two minutes", growth, 1.05, at_least=False))


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
