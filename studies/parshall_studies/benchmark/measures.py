"""The tables of files and rates that the measures of a run (§4.2) are computed from, for many runs at a time.

`parshall_studies.transport` has the measures. A file of PA is the whole ping-pong, both directions of it:
`parshall_studies.benchmark.ping_pong`.

A file that is not complete at the end counts as if it were complete then, so wherever `finished` is below 1,
completion times are lower bounds and goodputs upper ones, and spread and fairness have no value; nor have start-up and
convergence that were not seen. Start-up, convergence, and how goodput varies over time are those of applications with
one file a source; others idle in between. Goodputs over time are moving averages over two RTTs or one sampling
interval, whichever is longer.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.2; R. Jain, D. Chiu, W. Hawe, DEC TR-301, 1984.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.results.quantities.tables import Tables as Measured
from parshall_studies import transport
from parshall_studies.benchmark.building import EXCHANGED, SAMPLES, TIMED, Case
from parshall_studies.benchmark.ping_pong import message_s

KEYS = ("point", "repetition")
Scope = Literal["all", "a", "b"]
_GROUPS: dict[Scope, str] = {"all": TIMED, "a": r"^a\d+$", "b": r"^b\d+$"}

_RTTS = 2.0
"""Over which goodputs are averaged."""


@dataclass(frozen=True)
class Tables:
    """Tables of several runs, with the columns `point` and `repetition` in front."""

    flows: pl.DataFrame
    links: pl.DataFrame
    transfers: pl.DataFrame
    flow_samples: pl.DataFrame


def measured(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """The metrics of a half, or of both: one row a run."""
    files = _files(case, tables, scope)
    sources = files.group_by(KEYS).agg(expected=pl.struct("group", "source").n_unique() * case.rounds)
    made = {
        "files": files.join(sources, on=KEYS, how="left", maintain_order="left"),
        "flows": _of(tables.flows, scope),
        "links": tables.links.filter(pl.col("link") == "bottleneck"),
    }
    if not case.application.idles:
        target_bps = transport.REACHED * case.share_bps / case.factors.streams * _payload_share(case)
        made["rates"] = _goodputs(case, tables, scope).with_columns(target_bps=target_bps)
    runs = files.select(KEYS).unique().sort(KEYS).with_row_index("_number")
    numbered = {
        name: table.join(runs, on=KEYS, how="inner", maintain_order="left")
        .drop("repetition")
        .rename({"_number": "repetition"})
        for name, table in made.items()
    }
    quantities = (*transport.MEASURES.values(), *transport.OTHERS)
    return transport.with_values(runs.select(KEYS), quantities, Measured(numbered.get))


def completion_times(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """One row a timed file: `source`, `transfer`, `completion_s`, `slowdown`, `finished`."""
    return _files(case, tables, scope).rename({"time_s": "completion_s"})


def goodput_shares(case: Case, tables: Tables, scope: Scope) -> dict[int, NDArray[np.float64]]:
    """How often a flow's goodput is k % of C_a, k = 0 .. 100, by point (the distribution of §4.2.2)."""
    shares = {}
    for (point,), rows in _goodputs(case, tables, scope).group_by("point", maintain_order=True):
        percent = np.clip(100 * rows["goodput_bps"].to_numpy() / case.factors.access_bps, 0, 100.999)
        counts = np.bincount(percent.astype(int), minlength=101)
        shares[int(str(point))] = counts / counts.sum()
    return shares


def _of(table: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    return table.filter(pl.col("group").str.contains(_GROUPS[scope]))


def _files(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """The timed files; the parallel streams of one are put together."""
    if case.application.replies:
        return _exchanges(case, tables, scope)
    rtts = tables.flows.select(*KEYS, "flow", "rtt_base_s")
    first = pl.col("flow").min().over(*KEYS, "group")
    of_streams = (
        _of(tables.transfers, scope)
        .with_columns(source=(pl.col("flow") - first) // case.factors.streams)
        .filter(pl.col("transfer") < case.rounds)
        .join(rtts, on=[*KEYS, "flow"], how="left")
    )
    files = of_streams.group_by(*KEYS, "group", "source", "transfer", maintain_order=True).agg(
        start_s=pl.col("start_s").min(),
        end_s=pl.col("completion_s").fill_null(case.duration_s).max(),
        finished=pl.col("completion_s").is_not_null().all(),
        size_bytes=pl.col("size_bytes").sum(),
        rtt_base_s=pl.col("rtt_base_s").mean(),
    )
    empty_s = 8 * pl.col("size_bytes") / case.factors.access_bps + pl.col("rtt_base_s")
    return files.with_columns(time_s=pl.col("end_s") - pl.col("start_s")).with_columns(
        slowdown=pl.col("time_s") / empty_s
    )


def _exchanges(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """One ping-pong a half: the times of its messages there and back, one after the other."""
    rtts = tables.flows.select(*KEYS, "flow", "rtt_base_s")
    half = pl.col("group").str.strip_prefix("back-")
    flows = (
        tables.transfers.filter(pl.col("group").str.contains(EXCHANGED) & half.str.contains(_GROUPS[scope]))
        .join(rtts, on=[*KEYS, "flow"], how="left")
        .with_columns(time_s=message_s(case.duration_s), half=half)
        .group_by(*KEYS, "half", "group", "flow", maintain_order=True)
        .agg(
            pl.col("time_s").sum(),
            pl.col("start_s").min(),
            pl.col("size_bytes").sum(),
            pl.col("rtt_base_s").first(),
            complete=pl.col("completion_s").is_not_null().sum(),
        )
    )
    ways = flows.group_by(*KEYS, "half", "group", maintain_order=True).agg(
        pl.col("time_s").max(),  # of parallel streams the last one
        pl.col("start_s").min(),
        pl.col("size_bytes").sum(),
        pl.col("rtt_base_s").mean(),
        complete=(pl.col("complete") == case.scale.messages).all() & (pl.len() == case.factors.streams),
    )
    exchanges = ways.group_by(*KEYS, "half", maintain_order=True).agg(
        pl.col("time_s").sum(),
        pl.col("start_s").min(),
        pl.col("size_bytes").sum(),
        pl.col("rtt_base_s").mean(),
        finished=pl.col("complete").all() & (pl.len() == len(("there", "back"))),
    )
    empty_s = 8 * pl.col("size_bytes") / case.factors.access_bps + case.scale.messages * pl.col("rtt_base_s")
    return exchanges.rename({"half": "group"}).with_columns(
        source=pl.lit(0, dtype=pl.Int64),
        transfer=pl.lit(0, dtype=pl.UInt32),
        end_s=pl.col("start_s") + pl.col("time_s"),
        slowdown=pl.col("time_s") / empty_s,
    )


def _goodputs(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """Goodput over time of sampled flows while they have something to send."""
    groups = tables.flows.select(*KEYS, "flow", "group")
    ends = tables.transfers.group_by(*KEYS, "flow", maintain_order=True).agg(
        pl.col("start_s").min(), pl.col("completion_s").fill_null(case.duration_s).max()
    )
    interval_s = case.duration_s / SAMPLES
    window = max(1, round(_RTTS * case.factors.mean_rtt_s / interval_s))
    samples = _of(tables.flow_samples.join(groups, on=[*KEYS, "flow"], how="inner"), scope).sort(
        *KEYS, "flow", "time_s"
    )
    before = pl.col("delivered_bytes").shift(1).over(*KEYS, "flow").fill_null(0)
    rates = samples.with_columns(
        rate=8.0 * (pl.col("delivered_bytes").cast(pl.Int64) - before.cast(pl.Int64)) / interval_s
    )
    rates = rates.with_columns(
        goodput_bps=pl.col("rate").rolling_mean(window, min_samples=1).over(*KEYS, "flow"),
    )
    joined = rates.join(ends, on=[*KEYS, "flow"], how="inner")
    active = (pl.col("time_s") > pl.col("start_s")) & (pl.col("time_s") <= pl.col("completion_s"))
    return joined.filter(active).select(*KEYS, "group", "flow", "time_s", "goodput_bps", "start_s", "completion_s")


def _payload_share(case: Case) -> float:
    mix = case.application.mixes(case.factors, case.scale, case.itb_class.aggregation)[0]
    return (mix.packet_bytes - 40) / mix.packet_bytes
