"""Files in, tables out.

An observation is a result like a run, with a repetition for each trace (`parshall.results.records.storage`). Without an
output directory it is a temporary one, which goes when the observation does.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

import polars as pl

from parshall import _core
from parshall.foundations import notebook
from parshall.foundations.errors import InputError, ParshallError, RunNotFoundError
from parshall.foundations.files import Scratch
from parshall.instruments.observation.flow import TracedFlow
from parshall.instruments.observation.limits import CAUSES
from parshall.instruments.observation.sources import packet_filter, without_folders
from parshall.results.records import Result, about, schema, storage

SAMPLE_EVERY_S = 0.1
SKIPPED = 20
"""Files of a folder that are no traces, of which a remark names so many."""
_POLL_S = 0.1
SHOWN = ("repetition", "flow", "group", "goodput_bps", "mean_rtt_s", "loss_events", "packets_sent")
"""Columns of `flows` that notebooks show."""

Progress = Callable[[int, int], None]
"""Called with the frames read so far, and their bytes on the wire."""


class Observation(Result):
    """The result of reading traces: a `Result` whose repetitions are the traces."""

    instruments = ("observe",)

    @property
    def captures(self) -> list[dict[str, Any]]:
        """Return facts of each trace apart from its flows: counts of frames, where reading stopped, and so on."""
        return [dict(capture) for capture in self.metadata["captures"]]

    @property
    def trace_flows(self) -> pl.DataFrame:
        """One row a flow of a capture: its ends, where the capture was made, what was captured of it."""
        return self._required("trace_flows")

    @property
    def limits(self) -> pl.DataFrame:
        """One row a flow: the time that each cause limited it, and what that shows of its path."""
        return self._required("trace_limits")

    def label(self, row: Mapping[str, Any]) -> str:
        """The number and the ends of the flow of a row; of several traces, its file too."""
        name = f"{row['flow']}: {row['group']}"
        if len(self.captures) == 1:
            return name
        return f"{Path(self.captures[row['repetition']]['files'][0]).name}, {name}"

    def limits_of(self, flows: Sequence[tuple[int, int]]) -> dict[tuple[int, int], dict[str, Any]]:
        """Rows of ``trace_limits``, by the number of their trace and their own; none if it was not written."""
        lazy = self.scan("trace_limits")
        if lazy is None:
            return {}
        wanted = pl.LazyFrame(list(flows), schema={"repetition": pl.UInt32, "flow": pl.UInt32}, orient="row")
        rows = lazy.join(wanted, on=["repetition", "flow"], how="semi").collect().to_dicts()
        return {(row["repetition"], row["flow"]): row for row in rows}

    def periods(self, flow: int, trace: int = 0) -> pl.DataFrame:
        """Return the causes that limited a flow, in order: ``start_s``, ``end_s``, ``limited_by``; empty if unknown."""
        return self._of_flow("trace_periods", flow, trace).sort("start_s")

    def windows(self, flow: int, trace: int = 0) -> pl.DataFrame:
        """The window that a flow's receiver offered, over time: ``receive_window_bytes``, ``outstanding_bytes``."""
        return self._of_flow("trace_windows", flow, trace).sort("time_s")

    def events(self, flow: int, trace: int = 0) -> pl.DataFrame:
        """Return the events of a flow, in order: ``time_s``, ``event``, ``lasted_s``; empty of series."""
        return self._of_flow("trace_events", flow, trace).sort("time_s")

    def _of_flow(self, table: str, flow: int, trace: int) -> pl.DataFrame:
        if self.scan(table) is None:  # of a version that had no such table
            return pl.DataFrame({name: [] for name in schema.columns(table)})
        return self._own(table, (pl.col("flow") == flow) & (pl.col("repetition") == trace))

    @property
    def largest(self) -> pl.DataFrame:
        """The flows, those that sent the most packets first."""
        return self.flows.sort("packets_sent", descending=True, nulls_last=True, maintain_order=True)

    def selected(self, chosen: Sequence[str] = (), most: int | None = None) -> pl.DataFrame:
        """The flows that are meant by their number, or by a part of ``address:port > address:port``; the largest first.

        Of several traces, the slowest come first: those that anything but their application limited longest.

        Parameters
        ----------
        chosen
            What means them; empty: all are meant.
        most
            How many rows are returned at most, the others are not held in memory; None: all.

        Raises
        ------
        InputError
            One of `chosen` means none.
        """
        found = self._in_order(self._meant(chosen))
        if most is None:
            return found.collect()
        of_largest = found.select("repetition", "flow").head(most).collect()
        own = self._meant(chosen).join(of_largest.lazy(), on=["repetition", "flow"], how="semi")
        return self._in_order(own).collect()

    def _in_order(self, flows: pl.LazyFrame) -> pl.LazyFrame:
        """The largest flows first; of several traces the slowest."""
        limits = self.scan("trace_limits") if len(self.captures) > 1 else None
        if limits is None:
            return flows.sort("packets_sent", descending=True, nulls_last=True, maintain_order=True)
        causes = [f"limited_by_{cause}_s" for cause in CAUSES if cause != "application"]
        slow = limits.select("repetition", "flow", slow_s=pl.sum_horizontal(causes, ignore_nulls=False))
        joined = flows.join(slow, on=["repetition", "flow"], how="left", maintain_order="left")
        keys = ["slow_s", "packets_sent"]
        return joined.sort(keys, descending=True, nulls_last=True, maintain_order=True).drop("slow_s")

    def number(self, chosen: Sequence[str] = ()) -> int:
        """Return the number of flows, of all or of those that `chosen` selects."""
        return int(self._meant(chosen).select(pl.len()).collect().item())

    def sums(self, columns: Sequence[str], chosen: Sequence[str] = ()) -> dict[str, Any]:
        """The sums of some columns of `flows` over all flows, or those meant by `chosen`; None of what no flow has."""
        known = (
            [pl.col(name).sum() for name in columns],
            [pl.col(name).count().alias(f"{name} known") for name in columns],
        )
        row = self._meant(chosen).select(*known[0], *known[1]).collect().row(0, named=True)
        return {name: row[name] if row[f"{name} known"] else None for name in columns}

    def _meant(self, chosen: Sequence[str]) -> pl.LazyFrame:
        flows = self._scanned("flows")
        number = pl.col("flow").cast(pl.String)
        meant = [(number == text) | pl.col("group").str.contains(text, literal=True) for text in chosen]
        for text, each in zip(chosen, meant, strict=True):
            if flows.filter(each).head(1).collect().is_empty():
                some = ", ".join(f"{row['flow']} ({row['group']})" for row in self.selected(most=3).to_dicts())
                raise InputError(f'--flow: found "{text}", which no flow has; there are {self.number()}: {some}, ...')
        return flows.filter(pl.any_horizontal(meant)) if meant else flows

    def flow(self, number: int, trace: int = 0) -> TracedFlow:
        """One flow, by its number within a trace.

        Raises
        ------
        InputError
            There is no such flow.
        """
        own = (pl.col("flow") == number) & (pl.col("repetition") == trace)
        row = self._own("flows", own).to_dicts()
        if not row:
            raise InputError(f"flow: found {number} of trace {trace}, which is not there")
        facts = self._own("trace_flows", own).to_dicts()
        rounds, samples = (self._own(name, own) for name in ("rounds", "flow_samples"))
        return TracedFlow(row[0], facts[0] if facts else {}, rounds, samples, self.captures[trace])

    def arrival_bins(self, trace: int = 0) -> pl.DataFrame:
        """The rows of ``trace_arrivals`` of a trace, in order; empty of a series of a sender's kernel."""
        return self._own("trace_arrivals", pl.col("repetition") == trace).sort("time_s")

    def samples(self, flows: Sequence[int], trace: int = 0) -> pl.DataFrame | None:
        """The samples of some flows of a trace over time; None where none was recorded."""
        every = self.scan("flow_samples")
        if every is None:
            return None
        return (
            every.filter(pl.col("flow").is_in(list(flows)) & (pl.col("repetition") == trace)).collect().sort("time_s")
        )

    def _own(self, table: str, rows: pl.Expr) -> pl.DataFrame:
        """Some rows of a table, of which the others are not held in memory."""
        return self._scanned(table).filter(rows).collect()

    def _scanned(self, table: str) -> pl.LazyFrame:
        lazy = self.scan(table)
        if lazy is None:
            raise RunNotFoundError(f"{self.place} has no table {table}; files of the observation are missing")
        return lazy

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the flows, the largest first."""
        columns = [each for each in SHOWN if each in self.flows.columns]
        rows = self.largest.select(columns).iter_rows()
        return notebook.fragment("Observation", f"of {len(self.captures)} trace(s)", notebook.table(columns, rows))

    def __repr__(self) -> str:
        return f"<Observation of {len(self.captures)} trace(s), {self.number()} flow(s), in {self.directory}>"


def observe(
    *files: str | Path,
    output: str | Path | None = None,
    join: bool = False,
    overwrite: bool = False,
    sample_every_s: float | None = SAMPLE_EVERY_S,
    rtt_s: float | None = None,
    columns: str | None = None,
    from_s: float | None = None,
    until_s: float | None = None,
    hosts: Sequence[str] = (),
    ports: Sequence[int] = (),
    progress: Progress | None = None,
) -> Observation:
    r"""Read traces into tables: captures (pcap, pcapng), and series that senders recorded.

    Series are of cwnd (CSV) or TCP_INFO (CSV, JSON), logs of ``ss -ti``, iperf3's and flent's JSON, qlog, and any
    CSV whose
    columns are named. Files may be compressed with gzip or zstd.

    Parameters
    ----------
    files
        Each is a trace of its own, unless `join`; a folder stands for the traces in it.
    output
        A new directory for the tables.
    join
        The files are consecutive parts of one capture.
    overwrite
        Replace the observation that is in `output`.
    sample_every_s
        Time between two rows of ``flow_samples`` of a flow; None: no such rows.
    rtt_s
        The round-trip time of series; None: as recorded, or of cwnd series, which have none, from the slope, as Reno's.
    columns
        Which columns of a CSV are what: ``time=COLUMN[:UNIT],cwnd=COLUMN[:UNIT],...``, as docs/observe.md has it. None:
        the file is recognised by itself.
    from_s, until_s
        Packets of captures within these seconds since the first frame; None: from the beginning, to the end.
    hosts, ports
        Packets of captures with one of these addresses and one of these ports at either end; empty: all.
    progress
        Told how far it has come.

    Raises
    ------
    InputError
        A file cannot be read, is no trace, or holds no TCP data.
    OutputExistsError
        `output` is there, and is not to be replaced.
    StorageError
        The tables cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     series = Path(folder) / "series.csv"
    ...     lines = [f"{0.1 * i:.1f},{10 + i % 8}" for i in range(200)]
    ...     _ = series.write_text("t_s,cwnd_pkts\n" + "\n".join(lines))
    ...     observation = observe(series)
    >>> observation.rounds["window_packets"][:4].to_list()
    [10, 11, 12, 13]
    >>> observation.flows["loss_events"].to_list()
    [24]
    """
    if not files:
        raise InputError("files: found none; give at least one capture or series")
    for name, value in (("sample_every_s", sample_every_s), ("rtt_s", rtt_s)):
        if value is not None and not 0 < value < 1e6:
            raise InputError(f"{name}: found {value}; accepted: seconds above 0")
    paths = [Path(file) for file in files]
    chosen = packet_filter(from_s, until_s, hosts, ports)
    every = without_folders(paths)
    groups = [every] if join else [[path] for path in every]
    may_skip = set() if join else set(every).difference(paths)
    options = json.dumps({"sample_every_s": sample_every_s, "rtt_s": rtt_s, "columns": columns, "filter": chosen})
    scratch = Scratch("parshall-observe-") if output is None else None
    directory = scratch.path if scratch is not None else Path(output or "")
    storage.prepare(directory, overwrite, "observe")
    try:
        made = storage.guarded(lambda: _written(groups, may_skip, directory, options, progress))
    except BaseException:
        storage.discard(directory)
        if scratch is not None:
            scratch.remove()
        raise
    if scratch is not None:
        weakref.finalize(made, scratch.remove)
    return made


def _written(
    groups: Sequence[Sequence[Path]],
    may_skip: set[Path],
    directory: Path,
    options: str,
    progress: Progress | None,
) -> Observation:
    """Read all traces into the directory, and seal it; of those that `may_skip`, what is no trace is passed over."""
    started, clock = about.now(), time.monotonic()
    captures: list[dict[str, Any]] = []
    skipped: list[str] = []
    for group in groups:
        number = len(captures)
        try:
            made = _observed(group, number, storage.partial_directory(directory, number), options, progress)
        except InputError as error:
            if not may_skip.issuperset(group):
                raise
            skipped.append(str(error))
            continue
        captures.append(made)
        storage.publish(directory, number)
    if not captures:
        some = "; ".join(skipped[:3]) or "the folder holds no file"
        raise InputError(f"no trace: {some}")
    storage.discard_partial(directory)
    if skipped:
        more = f", and {len(skipped) - SKIPPED} more" if len(skipped) > SKIPPED else ""
        captures[0]["remarks"] = [*captures[0]["remarks"], f"passed over: {'; '.join(skipped[:SKIPPED])}{more}"]
    files = [file for capture in captures for file in capture["files"]]
    metadata = {
        "format": storage.FORMAT,
        "instrument": "observe",
        "status": "complete",
        "name": storage.named_after(files),
        "sources": files,
        "repetitions_finished": list(range(len(captures))),
        "started": started,
        "wall_s": round(time.monotonic() - clock, 3),
        "versions": about.versions(),
        "host": about.host(),
        "captures": captures,
    }
    storage.seal(directory, metadata)
    return Observation(directory, metadata)


def _observed(
    files: Sequence[Path], number: int, directory: Path, options: str, progress: Progress | None
) -> dict[str, Any]:
    """Observe one trace in a thread of its own, so that it can be interrupted."""
    monitor = _core.TraceMonitor()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(_core.observe, list(files), number, directory, options, monitor)
        try:
            summary = json.loads(_finished(future, monitor, progress))
        except FileNotFoundError as error:
            raise InputError(f"{error.filename}: no such file") from None
        except OSError as error:
            if error.filename and Path(error.filename) in files:
                raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from None
            raise
        except ValueError as error:
            raise InputError(str(error)) from None
        except RuntimeError as error:
            raise ParshallError(str(error)) from None
    _check_content(summary, files, filtered=any(json.loads(options)["filter"].values()))
    return dict(summary)


def _finished(future: Future[str], monitor: _core.TraceMonitor, progress: Progress | None) -> str:
    while True:
        try:
            return future.result(timeout=_POLL_S)
        except NotYet:
            if progress is not None:
                progress(monitor.frames, monitor.wire_bytes)
        except KeyboardInterrupt:
            monitor.cancel()
            raise


def _check_content(summary: Mapping[str, Any], files: Sequence[Path], *, filtered: bool) -> None:
    """Refuse traces with nothing in them to look at."""
    if summary["flows"]:
        return
    where = " + ".join(str(file) for file in files)
    stopped = "".join(f"; reading stopped at byte {stop['byte']}: {stop['reason']}" for stop in summary["stopped"])
    if filtered and not summary["tcp"]:
        raise InputError(f"{where}: no packet that the filter leaves: of the time, hosts and ports that are asked for")
    if not summary["frames"]:
        raise InputError(f"{where}: a capture without a packet{stopped}")
    if summary["tcp"]:
        raise InputError(f"{where}: {summary['tcp']} TCP packets, but no data in them{stopped}")
    reasons = {"other": "of other protocols", "fragments": "IP fragments", "unreadable": "unreadable"}
    reasons["unknown_link"] = "of a link layer that is not understood"
    rejected = ", ".join(f"{summary[key]} {reason}" for key, reason in reasons.items() if summary[key])
    remarks = "".join(f"; {remark}" for remark in summary["remarks"])
    raise InputError(f"{where}: no TCP among {summary['frames']} frames: {rejected}{remarks}{stopped}")
