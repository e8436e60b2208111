"""Progress: simulated time and packets a second, or frames that were read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from parshall import runs


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[runs.Progress], None]]:
    """Show a bar on standard error while a run is made; gives what to call with its progress."""
    columns = (
        TextColumn("{task.description}"),
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
    with Progress(TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(frames: int, wire_bytes: int) -> None:
            bar.update(task, description=f"{frames / 1e6:.1f} M frames, {wire_bytes / 1e9:.2f} GB on the wire")

        yield show
