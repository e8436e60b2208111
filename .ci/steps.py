"""Times the steps of `make check` and `make check-all`, and tells what they took.

`steps.py run NAME COMMAND...` runs a command, and adds a line to `build/steps.jsonl`: its name, wall and CPU seconds,
exit status, and how many tests passed, failed and were skipped. `steps.py table CHECK` prints the lines as a table,
lists the reasons of skipped tests, and removes the file. For `check-all` it also adds a line to `build/checked.json`:
commit, machine, duration, counts. So it is on record when everything was last checked.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STEPS = ROOT / "build/steps.jsonl"
CHECKED = ROOT / "build/checked.json"

PYTEST = re.compile(r"^(?=.*\b(?:passed|failed|skipped|error))(?:=+ )?\d+ \w+.* in [\d.]+s")
CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+ (.*)")


def main(arguments: list[str]) -> int:
    """Do what the module's description says; the exit status is the command's."""
    match arguments:
        case ["run", name, *command] if command:
            return run(name, command)
        case ["table", check]:
            return summary(check)
    print(__doc__, file=sys.stderr)
    return 2


def run(name: str, command: list[str]) -> int:
    """Run a step, pass on what it prints, and note what it took."""
    begun, before = time.time(), os.times()
    counts, reasons = Counter[str](), Counter[str]()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        for line in process.stdout:
            print(line, end="", flush=True)
            counts += counted(line)
            if skipped := SKIPPED.match(line):
                reasons[skipped[2].removesuffix(".")] += int(skipped[1])
    after = os.times()
    note(
        {
            "step": name,
            "status": process.returncode,
            "begun": round(begun, 1),
            "wall_s": round(time.time() - begun, 1),
            "cpu_s": round(sum(after[2:4]) - sum(before[2:4]), 1),
            "tests": counts,
            "skipped": reasons,
        }
    )
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def counted(line: str) -> Counter[str]:
    """Tests that the last line of a test runner counts.

    >>> counted("3634 passed, 17 skipped in 214.76s (0:03:34)") == Counter(passed=3634, skipped=17)
    True
    >>> counted("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s")
    Counter({'passed': 12, 'skipped': 1})
    """
    if of_cargo := CARGO.match(line):
        passed, failed, ignored = map(int, of_cargo.groups())
        return +Counter({"passed": passed, "failed": failed, "skipped": ignored})
    if not PYTEST.match(line):
        return Counter()
    words = {"error": "failed", "errors": "failed"}
    found = re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", line)
    return sum((Counter({words.get(word, word): int(number)}) for number, word in found), Counter[str]())


def note(step: dict[str, Any]) -> None:
    """Add a line to the file of steps; steps end beside each other."""
    STEPS.parent.mkdir(exist_ok=True)
    with STEPS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(step) + "\n")


def summary(check: str) -> int:
    """Print the table of all steps, and end with 1 if one failed."""
    steps = [json.loads(line) for line in STEPS.read_text(encoding="utf-8").splitlines()] if STEPS.is_file() else []
    STEPS.unlink(missing_ok=True)
    tests = sum((Counter(step["tests"]) for step in steps), Counter[str]())
    print("\n".join(rows(steps)))
    for reason, number in sorted(sum((Counter(step["skipped"]) for step in steps), Counter[str]()).items()):
        print(f"skipped: {reason} ({number})")
    print(f"{tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped")
    failed = any(step["status"] for step in steps) or not steps
    if check == "check-all":
        record(steps, tests, failed=failed)
    return int(failed)


def rows(steps: list[dict[str, Any]]) -> Iterator[str]:
    """Lines of the table: step, CPU seconds, wall seconds."""
    width = max((len(step["step"]) for step in steps), default=3)
    yield f"{'step':{width}}  CPU s  wall s"
    for step in steps:
        failed = f"  failed ({step['status']})" if step["status"] else ""
        yield f"{step['step']:{width}}  {step['cpu_s']:5.0f}  {step['wall_s']:6.0f}{failed}"
    yield f"{'all':{width}}  {cpu_s(steps):5.0f}  {wall_s(steps):6.0f}"


def cpu_s(steps: list[dict[str, Any]]) -> float:
    """CPU seconds of all steps."""
    return sum(step["cpu_s"] for step in steps)


def wall_s(steps: list[dict[str, Any]]) -> float:
    """Seconds from the begin of the first step to the end of the last: some run beside each other."""
    ends = [step["begun"] + step["wall_s"] for step in steps]
    return max(ends, default=0.0) - min((step["begun"] for step in steps), default=0.0)


def record(steps: list[dict[str, Any]], tests: Counter[str], *, failed: bool) -> None:
    """Add a line to `build/checked.json`."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    line = {
        "checked": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() or None,
        "passed": not failed,
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": processor(),
            "cores": os.cpu_count(),
        },
        "cpu_s": round(cpu_s(steps)),
        "wall_s": round(wall_s(steps)),
        "tests": tests,
        "steps": steps,
    }
    with CHECKED.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def processor() -> str:
    """The processor's name, as Linux has it."""
    path = Path("/proc/cpuinfo")
    names = re.findall(
        r"^model name\s*: (.*)", path.read_text(encoding="utf-8") if path.is_file() else "", re.MULTILINE
    )
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
