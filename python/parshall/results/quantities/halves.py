"""Goodput, shares and queue in both halves of the measured time, as far as every run records them.

| quantity | from | of |
| --- | --- | --- |
| ``group/NAME/goodput_bps`` | `flow_samples`: bytes delivered | groups all of whose flows are sampled |
| ``group/NAME/share`` | the same | two groups or more, if all of them are sampled so |
| ``link/NAME/queue_packets`` | `link_samples`: mean queue of a bin, weighted by its length | one link |

Groups that send transfers of a size are left out: they end, and begin again, by themselves. So is everything where a
flow begins in the second half, where the rate of the link follows a trace, where all flows send transfers, or where no
half has been recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from parshall.analysis.stats.halves import Halves
from parshall.results.quantities.tables import Tables


def halves(tables: Tables, link: str, warm_up_s: float) -> dict[str, Halves]:
    """The means of each half by repetition, under the names of the quantities.

    Parameters
    ----------
    link
        The link whose queue is looked at.
    warm_up_s
        From when on it is measured, s.
    """
    flows = tables.get("flows")
    if flows is None:
        return {}
    steady = _steady_groups(tables, flows)
    bins, samples = tables.get("link_samples"), tables.get("flow_samples")
    if bins is not None:
        bins = bins.filter(pl.col("link") == link)
        if _varies(bins):
            return {}
    found = {}
    if samples is not None and {"delivered_bytes"} <= set(samples.columns):
        found = _goodputs(flows, samples.drop_nulls("delivered_bytes"), steady, warm_up_s)
    if steady and bins is not None:
        found |= _queue(bins, link, warm_up_s)
    ends = [table["time_s"].max() for table in (bins, samples) if table is not None]
    middle_s = (warm_up_s + max(map(float, ends))) / 2 if ends else 0.0  # type: ignore[arg-type]
    started = flows["start_s"].max() if "start_s" in flows.columns else 0.0
    return found if started is None or float(started) < middle_s else {}  # type: ignore[arg-type]


def _varies(bins: pl.DataFrame) -> bool:
    """True if the link's rate changes from bin to bin."""
    return "rate_bps" in bins.columns and bins["rate_bps"].n_unique() > 1


def _steady_groups(tables: Tables, flows: pl.DataFrame) -> list[str]:
    """The groups that send without end."""
    transfers = tables.get("transfers")
    ending = set() if transfers is None else set(transfers.drop_nulls("size_bytes")["group"].to_list())
    return [group for group in flows["group"].unique(maintain_order=True).to_list() if group not in ending]


def _goodputs(flows: pl.DataFrame, samples: pl.DataFrame, groups: list[str], warm_up_s: float) -> dict[str, Halves]:
    """Goodputs and shares of the groups all of whose flows are sampled."""
    sampled = samples.select("repetition", "flow").unique()
    who = flows.filter(pl.col("group").is_in(groups)).select("repetition", "flow", "group")
    known = who.join(sampled, on=["repetition", "flow"], how="semi")
    whole = [group for group in groups if _number(known, group) == _number(who, group)]
    courses = samples.sort("time_s").partition_by("repetition", "flow", as_dict=True)
    bits: dict[str, dict[int, tuple[float, float]]] = {group: {} for group in whole}
    for repetition, flow, group in known.filter(pl.col("group").is_in(whole)).iter_rows():
        course = courses[repetition, flow]
        rates = _rates(course["time_s"].to_numpy(), course["delivered_bytes"].to_numpy(), warm_up_s)
        if rates is None:
            return {}
        before = bits[group].get(repetition, (0.0, 0.0))
        bits[group][repetition] = before[0] + rates[0], before[1] + rates[1]
    found = {f"group/{group}/goodput_bps": _split(each) for group, each in bits.items() if each}
    if len(whole) < 2 or len(whole) < len(groups):
        return found
    return found | {f"group/{group}/share": each for group, each in _shares(bits).items()}


def _number(rows: pl.DataFrame, group: str) -> int:
    return rows.filter(pl.col("group") == group).height


def _rates(
    time_s: np.ndarray[tuple[int], np.dtype[np.float64]],
    delivered: np.ndarray[tuple[int], np.dtype[np.float64]],
    warm_up_s: float,
) -> tuple[float, float] | None:
    """Bits a second in both halves; None where the samples do not reach beyond the warm-up."""
    end_s = float(time_s[-1])
    if end_s <= warm_up_s or time_s.size < 4:
        return None
    at = np.interp([warm_up_s, (warm_up_s + end_s) / 2, end_s], time_s, delivered.astype(np.float64), left=0.0)
    first, second = np.diff(at) * 8.0 / ((end_s - warm_up_s) / 2)
    return float(first), float(second)


def _shares(bits: Mapping[str, Mapping[int, tuple[float, float]]]) -> dict[str, Halves]:
    """Of what all groups delivered; nothing where a half has none."""
    common = set.intersection(*(set(each) for each in bits.values()))
    totals = {n: [sum(each[n][half] for each in bits.values()) for half in (0, 1)] for n in sorted(common)}
    if not totals or any(total <= 0 for both in totals.values() for total in both):
        return {}
    groups = list(bits)[:1] if len(bits) == 2 else list(bits)  # of two, one says it of both
    return {
        group: _split({n: (bits[group][n][0] / both[0], bits[group][n][1] / both[1]) for n, both in totals.items()})
        for group in groups
    }


def _queue(bins: pl.DataFrame, link: str, warm_up_s: float) -> dict[str, Halves]:
    """The mean queue of a link, packets."""
    if bins.is_empty() or "mean_queue_packets" not in bins.columns:
        return {}
    bins = bins.filter(pl.col("time_s") >= warm_up_s)
    means: dict[int, tuple[float, float]] = {}
    for (repetition,), rows in bins.group_by("repetition", maintain_order=True):
        start, length = rows["time_s"].to_numpy(), rows["bin_s"].to_numpy()
        middle_s = (warm_up_s + float((start + length).max())) / 2
        later = start + length / 2 >= middle_s
        if later.all() or not later.any():
            return {}
        queue = rows["mean_queue_packets"].to_numpy()
        means[int(repetition)] = tuple(  # type: ignore[assignment]
            float(np.average(queue[half], weights=length[half])) for half in (~later, later)
        )
    return {f"link/{link}/queue_packets": _split(means)} if means else {}


def _split(by_repetition: Mapping[int, tuple[float, float]]) -> Halves:
    return (
        {number: both[0] for number, both in by_repetition.items()},
        {number: both[1] for number, both in by_repetition.items()},
    )
