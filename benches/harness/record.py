"""What a run of the benches found: the table on the terminal, the verdicts, and the stored record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.others import Measurement


@dataclass(frozen=True)
class Bar:
    """A requirement and what was measured."""

    what: str
    value: float
    bar: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether the value is on the right side."""
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def as_json(self) -> dict[str, Any]:
        """For the record."""
        return {
            "what": self.what,
            "value": self.value,
            "bar": self.bar,
            "sense": "at least" if self.at_least else "at most",
            "met": self.met,
        }


@dataclass(frozen=True)
class Row:
    """One simulator on one case, with the ratio of Parshall to it, pair by pair."""

    case: str
    simulator: str
    runs: Sequence[Measurement]
    ratios: Sequence[float] = ()
    bytes_per_flow: float | None = None

    @property
    def packets_per_cpu_s(self) -> float:
        """The median over the runs."""
        return median(run.packets_per_cpu_s for run in self.runs)

    @property
    def best(self) -> float:
        """Of the fastest run: what is measured alone, as other work only adds."""
        return max(run.packets_per_cpu_s for run in self.runs)

    def as_json(self) -> dict[str, Any]:
        """For the record."""
        return {
            "case": self.case,
            "simulator": self.simulator,
            "packets_per_cpu_s": self.packets_per_cpu_s,
            "ratio_of_parshall": list(self.ratios),
            "bytes_per_flow": self.bytes_per_flow,
            "runs": [{"packets": run.packets, "drops": run.drops, "cpu_s": run.cpu_s} for run in self.runs],
        }


@dataclass
class Record:
    """Everything, in the order it was measured."""

    about: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows.append(row)

    def judge(self, bar: Bar) -> None:
        """Keep a bar."""
        self.bars.append(bar)

    def find(self, case: str, simulator: str) -> Row | None:
        """The row of a case and simulator, if it was measured."""
        return next((row for row in self.rows if (row.case, row.simulator) == (case, simulator)), None)

    def show(self) -> None:
        """Print both tables."""
        console = Console()
        if not console.is_terminal:
            console = Console(width=120)
        speeds = Table("case", "simulator", "packets/CPU-s", "runs", "Parshall is x times", "bytes/flow")
        for row in self.rows:
            per_flow = "" if row.bytes_per_flow is None else f"{row.bytes_per_flow:,.0f}"
            speeds.add_row(
                row.case,
                row.simulator,
                f"{row.packets_per_cpu_s:,.0f}",
                str(len(row.runs)),
                _spread(row.ratios),
                per_flow,
            )
        console.print(speeds)
        bars = Table("bar", "measured", "required", "")
        for bar in self.bars:
            sense = ">=" if bar.at_least else "<="
            verdict = "[green]met[/]" if bar.met else "[red]NOT MET[/]"
            bars.add_row(bar.what, f"{bar.value:,.2f}", f"{sense} {bar.bar:,g}", verdict)
        console.print(bars)
        for note in self.notes:
            console.print(note)

    def store(self, path: Path) -> None:
        """Write the record, aside and then renamed."""
        content = {
            **self.about,
            "rows": [row.as_json() for row in self.rows],
            "bars": [bar.as_json() for bar in self.bars],
            "notes": self.notes,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(".partial")
        aside.write_text(json.dumps(content, indent=1) + "\n")
        aside.rename(path)


def _spread(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    if len(ratios) == 1:
        return f"{ratios[0]:.1f}"
    return f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
