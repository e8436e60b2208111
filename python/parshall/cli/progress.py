"""Progress: simulated time of a run, runs of a sweep, packets a second; or frames that were read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from parshall.instruments import simulation as runs

if TYPE_CHECKING:
    from parshall.campaign.progress import SweepProgress


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[runs.Progress], None]]:
    """Show a bar on standard error while a run is made; gives what to call with its progress."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[simulated]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, simulated="", rate="")

        def show(progress: runs.Progress) -> None:
            rate = progress.packets / progress.elapsed_s / 1e6 if progress.elapsed_s > 0 else 0.0
            bar.update(
                task,
                total=progress.total_s,
                completed=progress.simulated_s,
                simulated=f"{progress.simulated_s:.1f}/{progress.total_s:g} s simulated",
                rate=f"{rate:.2f} M packets/s",
            )

        yield show


@contextmanager
def frames_read() -> Iterator[Callable[[int, int], None]]:
    """Show on standard error how much of a trace was read; gives what to call with frames and bytes."""
    with Progress(TextColumn("{task.description}", markup=False), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(frames: int, wire_bytes: int) -> None:
            bar.update(task, description=f"{frames / 1e6:.1f} M frames, {wire_bytes / 1e9:.2f} GB on the wire")

        yield show


@contextmanager
def working(shown: bool) -> Iterator[Callable[[str], None]]:
    """Say on standard error what is being done, if that is to be `shown`; gives what to call with the words."""
    if not shown:
        yield lambda _: None
        return
    with Progress(TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda words: bar.update(task, description=words, refresh=True)


@contextmanager
def sweep_bar(name: str) -> Iterator[Callable[[SweepProgress], None]]:
    """Show a bar on standard error while a sweep is done; gives what to call with its progress."""
    texts = [TextColumn(f"{{task.{field}}}", markup=False) for field in ("description", "fields[text]")]
    columns = (texts[0], BarColumn(), texts[1])
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, text="")

        def show(progress: SweepProgress) -> None:
            bar.update(
                task, total=progress.planned, completed=progress.done + progress.failed, text=progress_text(progress)
            )

        yield show


def progress_text(progress: SweepProgress) -> str:
    """A sweep's progress in words."""
    counts = f"{progress.done}/{progress.planned} runs"
    if progress.from_store:
        counts += f" ({progress.from_store} from the store)"
    failed = f", {progress.failed} failed" if progress.failed else ""
    rate = f"{progress.packets_per_s / 1e6:.2f} M packets/s"
    return f"{counts}, {progress.running} running{failed}, {rate}, {_left(progress)}"


def _left(progress: SweepProgress) -> str:
    """Return the remaining time in words, with no more digits than such an estimate has."""
    if progress.remaining_s is None:
        return "time unknown"
    bound = "about" if progress.bounded else "at least"
    seconds = progress.remaining_s
    if seconds < 90:
        return f"{bound} {max(1, round(seconds))} s left"
    return f"{bound} {seconds / 60:.0f} min left" if seconds < 5400 else f"{bound} {seconds / 3600:.1f} h left"
