"""What an emulation keeps of its scenario, and how much a machine can emulate.

    .venv/bin/python benches/emulation.py speed --repeats 3
    .venv/bin/python benches/emulation.py arithmetic
    .venv/bin/python benches/emulation.py shapers
    .venv/bin/python benches/emulation.py recording

`speed`: flows and rates against the goals of docs/emulation.md. `arithmetic`: round trips, rates, losses, waits against
what can be computed, and the decisions of queues against those of a replay. `shapers`: beside the kernel's tbf and htb.
`recording`: the calls of the controls of 100 flows at 1 Gbit/s, and how many are lost (docs/kernel_recordings.md).
It takes the scenarios' time, and asks for a machine on which nothing else runs. Exit status 1 if something is not as it
is to be.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from harness import arithmetic, emulated_speed, shapers
from harness.emulated import Emulation, emulate

import parshall as ps
from parshall.instruments.emulation import abilities, validity


def speed(options: argparse.Namespace) -> bool:
    """Each case several times; more than half of its runs must reach all goals."""
    good = True
    for name, case in emulated_speed.cases(options.seconds).items():
        runs = [emulate(case.scenario) for _ in range(options.repeats)]
        for run in runs:
            _show(name, run)
        late_us = [1e6 * run.measured["lateness_p99_s"] for run in runs]
        print(f"  lateness p99 of {len(runs)}: median {median(late_us):.0f} us, best {min(late_us):.0f} us", flush=True)
        missed = "; ".join(", ".join(emulated_speed.missed(run, case)) or "nothing" for run in runs)
        print(f"  missed: {missed}", flush=True)
        good &= emulated_speed.passed(runs, case)
    return good


def _show(name: str, run: Emulation) -> None:
    measured, hosts = run.measured, run.hosts
    late = "/".join(f"{1e6 * measured[f'lateness_{which}_s']:.0f}" for which in ("p50", "p99"))
    cpu = " + ".join(
        f"{run.share(cpu_s):.2f}" for cpu_s in (measured["cpu_s"], hosts["senders_cpu_s"], hosts["receivers_cpu_s"])
    )
    goodput_mbps = emulated_speed.goodput_bps(run) / 1e6
    said = f"{goodput_mbps:.0f} Mbit/s, late {late} us, CPUs {cpu}, steal {100 * (measured['steal'] or 0):.1f} %"
    print(f"{name}: {run.level}, {said}, set-up {run.set_up_s:.2f} s; {'; '.join(run.reasons)}", flush=True)


def arithmetic_table(options: argparse.Namespace) -> bool:
    """What can be computed beside what was measured."""
    good = True
    print("| what | computed | measured | accepted | |\n| --- | --- | --- | --- | --- |")
    for row in arithmetic.rows(options.seconds):
        verdict = "" if row.within else "**beyond**"
        numbers = f"{row.computed:.4g} {row.unit} | {row.measured:.4g} | +-{row.tolerance:.3g}"
        print(f"| {row.what} | {numbers} | {verdict} {row.level} |", flush=True)
        good &= row.within
    return good


def shapers_table(options: argparse.Namespace) -> bool:
    """Links of the kernel beside emulated ones."""
    why = shapers.missing()
    if why is not None:
        print(f"tbf and htb are left out: {why}")
        return True
    print("| link | rate, Mbit/s | goodput, Mbit/s | queueing, ms | CPUs busy |\n| --- | --- | --- | --- | --- |")
    for row in shapers.rows(options.seconds):
        numbers = f"{row.goodput_mbps:.1f} | {row.queueing_ms:.3f} | {row.cpus:.2f}"
        print(f"| {row.shaper} | {row.rate_mbps:g} | {numbers} |", flush=True)
    return True


def recording(options: argparse.Namespace) -> bool:
    """100 flows whose calls are recorded, each repeat: valid, and none lost."""
    if not abilities().bpf_controls:
        print("recordings are left out: this process cannot load BPF programs")
        return True
    good = True
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as directory:
            scenario = emulated_speed.recorded(options.seconds)
            run = ps.emulate(scenario, Path(directory) / "run", record_controls=True)
        judged, counted = validity(run), run.metadata["recording"]
        assert judged is not None, "it was emulated"
        goodput_mbps = float(run.flows["goodput_bps"].sum()) / 1e6
        said = f"{counted['calls']} calls, {counted['dropped']} lost, {counted['left_out']} left out by the kernel"
        load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs"
        print(f"recorded: {judged}; {said}; {goodput_mbps:.0f} Mbit/s; {load}", flush=True)
        good &= judged.level != "invalid" and counted["dropped"] == 0
    return good


PARTS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "speed": speed,
    "arithmetic": arithmetic_table,
    "shapers": shapers_table,
    "recording": recording,
}


def main() -> int:
    """Runs the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--seconds", type=float, default=10.0, help="of an emulation")
    parser.add_argument("--repeats", type=int, default=3, help="of a case of speed")
    options: Any = parser.parse_args()
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"found {', '.join(unknown)}; accepted: {', '.join(PARTS)}")
    why = abilities().problem
    if why is not None:
        print(f"emulations are left out: {why}")
        return 0
    good = [PARTS[part](options) for part in options.parts or PARTS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
