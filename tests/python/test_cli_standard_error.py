"""Every verb as a process: what succeeds writes nothing to standard error but the notes that are listed here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from parshall.cli.added import OF_EXTRAS
from parshall.cli.app import VERBS
from parshall.instruments.emulation import abilities

TESTS = Path(__file__).parents[1]
CAPTURE = TESTS.parent / "fuzz" / "corpus" / "captures" / "vlan.pcap"
LONG_CAPTURE = Path(__file__).parents[2] / "docs" / "example.pcap.gz"
RECORDING = TESTS / "data" / "linux-6.18" / "reno-overflow.csv.zst"

SCENARIO = """
name = "small"
duration = "1 s"
bottleneck = { rate = "5 Mbit/s", queue = "drop_tail" }
flows = [{ rtt = "50 ms", congestion_control = "reno" }]
"""
SWEEP = """
name = "counts"
scenario = "small.toml"
repetitions = 2
[parameters]
"flows.0.count" = [1, 2]
"""


@dataclass(frozen=True)
class Command:
    """A command line, and lines that it may write to standard error with the reason for each."""

    words: tuple[str, ...]
    notes: str = ""
    """A regular expression of a line."""
    slow: bool = False


def of(line: str, notes: str = "", *, slow: bool = False) -> Command:
    return Command(tuple(line.split("|")) if "|" in line else tuple(line.split()), notes, slow)


ASSUMED = r"In brackets: .*|Assumed:|- .*|.*: no model .*"
"""What models assume, and why one gives no number: beside the numbers, which go to other programs."""
HOW = r"95 % confidence.*|Of one repetition there are no confidence intervals.*|first: .*"
"""How a comparison was made."""
WHERE = r"\S+|next: .*"
"""Files that were written, where nothing is printed to standard output: a verb without ``--quiet``."""

COMMANDS: dict[str, list[Command]] = {
    "run": [of("run small.toml -q -o made")],
    "rerun": [of("rerun one -q -o again")],
    "open": [of("open one -q")],
    "emulate": [of("emulate small.toml -q -o emulated", slow=True), of("emulate --list")],
    "shell": [of("shell --help")],  # it goes on until it is ended
    "replay": [of(f"replay|{RECORDING}|--control|reno|-q")],
    "observe": [of(f"observe|{CAPTURE}|-q|-o|observed")],
    "infer": [of(f"infer|{LONG_CAPTURE}|-q|-o|made.toml|--controls|cubic|--no-what-if")],
    "list": [of("list"), of("list queues --json")],
    "schema": [of("schema sweep")],
    "validate": [of("validate small.toml -q")],
    "check-control": [of("check-control reno -q --repetitions 2", slow=True)],
    "predict": [of("predict small.toml", ASSUMED), of("predict small.toml --json")],
    "ask": [of("ask|transfer|--size|1 MB|--rate|10 Mbit/s|--rtt|40 ms|-q")],
    "explore": [of("explore --help")],  # it goes on until it is ended
    "report": [of("report one -q"), of("report store -q")],
    "figure": [of("figure one overview -q")],
    "card": [of("card one -q")],
    # How intervals are made, and how many differences matter: of people, not of other programs.
    "compare": [
        of("compare one two", HOW),
        of("compare one two --json"),
    ],
    "sweep": [of("sweep counts.toml --store store -q")],
    "query": [
        of("query|SELECT flows_0_count, avg(goodput_bps) FROM flows GROUP BY 1"),
        of("query|SELECT * FROM runs|--json"),
        of("query|SELECT * FROM transfers, points|--csv"),
        of("query|SELECT TIMESTAMP 'infinity' AS a, MAP{[1]: 2} AS b, '\\xff'::BLOB AS c"),
    ],
    "store": [
        of(f"store {each}") for each in ("list", "verify", "gc", "merge other store", "export store counts -o out -q")
    ],
    "study": [of("study rio -q --store answers", slow=True)],
    "suite": [of("suite rfc9743 reno -q --store answers", slow=True)],
    "itb": [of("itb --app PP --class A --cc reno -q -o itb", slow=True)],
    "design": [of("design|buffer|small.toml|--utilisation|80 %|-q", slow=True)],
    "new": [of("new quickstart", WHERE)],
    "doctor": [of("doctor"), of("doctor --json")],
}
DESCRIBED = [
    pytest.param(verb, each, id=" ".join(each.words[:3]), marks=[pytest.mark.slow] if each.slow else [])
    for verb, commands in COMMANDS.items()
    for each in commands
]


def done(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command, as a process without a terminal."""
    line = [sys.executable, "-m", "parshall", *words]
    environment = {**os.environ, "BROWSER": "true"}
    return subprocess.run(
        line, check=False, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario, its results and a store."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "small.toml").write_text(SCENARIO)
    (folder / "counts.toml").write_text(SWEEP)
    for line in ("run small.toml -o one", "run small.toml --set seed=2 -o two", "sweep counts.toml --store store"):
        done(line.split(), folder).check_returncode()
    return folder


def test_every_verb_is_tried() -> None:
    assert set(COMMANDS) == {*VERBS, *(name for name in OF_EXTRAS if "." not in name)}


@pytest.mark.parametrize(("verb", "command"), DESCRIBED)
def test_what_succeeds_writes_nothing_to_standard_error(verb: str, command: Command, place: Path) -> None:
    if verb == "emulate" and abilities().problem is not None:
        pytest.skip("this machine cannot emulate")
    found = done(command.words, place)
    assert found.returncode == 0, found.stderr
    others = [line for line in found.stderr.splitlines() if not re.fullmatch(command.notes, line)]
    assert not others
