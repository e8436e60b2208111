"""Quantities of tables: all that a page shows, or those that are asked for by name.

**The link that matters.** A link's quantity without the name of a link is that of the link that is used most. Of links
that are used as much to within 1 % of their capacity, it is the one where packets wait longest. It is chosen once for
all repetitions of a run, all points of a sweep and both sides of a comparison, from means over all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.estimates import Series
from parshall.analysis.stats.quantiles import NoValue, Pooled
from parshall.analysis.stats.ranges import Number, Range
from parshall.foundations.errors import InputError
from parshall.results.quantities import naming
from parshall.results.quantities.catalog import SUMMARY
from parshall.results.quantities.definition import Better
from parshall.results.quantities.naming import Named
from parshall.results.quantities.tables import Per, Tables

BUSY = 0.8
"""From this utilisation on a link is called busy."""

_AS_BUSY = 0.01


@dataclass(frozen=True)
class Metric:
    """A quantity with what each repetition gave, or with the range of a model.

    There is an estimate, or `lacking` says why there is none.
    """

    named: Named
    label: str
    series: Series | Range

    @property
    def key(self) -> str:
        """Its name in output."""
        return self.named.name

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.named.unit

    @property
    def better(self) -> Better | None:
        """The better direction."""
        return self.named.better

    @cached_property
    def estimate(self) -> Pooled | None:
        """The mean or quantile over all repetitions; None of what a model states."""
        return None if isinstance(self.series, Range) else self.series.estimate()

    @cached_property
    def lacking(self) -> NoValue | None:
        """Reason why there is no estimate; None where there is one, or nothing was measured."""
        return None if isinstance(self.series, Range) else self.series.lacking()

    @property
    def interval(self) -> Interval:
        """The estimate over all repetitions and its 95 % confidence interval.

        Raises
        ------
        InputError
            A model states the quantity: what it has is a range (`number`).
        """
        return self.pooled.interval

    @property
    def number(self) -> Number:
        """The interval of what was measured, or the range of what a model states."""
        return self.series if isinstance(self.series, Range) else self.interval

    @property
    def value(self) -> float:
        """The estimate, or what a model states under its middle condition."""
        return self.number.value

    @property
    def values(self) -> Mapping[int, float]:
        """A value a repetition, whose mean is the estimate; of a range, and a quantile without an interval, nothing."""
        return {} if isinstance(self.series, Range) else self.pooled.by_repetition

    @property
    def stated(self) -> bool:
        """True if a model states it: then it has a range, and no repetitions."""
        return isinstance(self.series, Range)

    @property
    def resolution(self) -> float:
        """Return the limit to which the estimate is known at best: the width of a histogram's bin, else 0."""
        return 0.0 if isinstance(self.series, Range) else self.pooled.resolution

    @property
    def pooled(self) -> Pooled:
        """The estimate, of which there is one, with what each repetition gave.

        Raises
        ------
        InputError
            As `interval`.
        """
        if self.estimate is None:
            raise InputError(f"{self.key}: a model states a range, which is no interval: see `number`")
        return self.estimate

    def __repr__(self) -> str:
        """Return its name and number, without the code that computes it."""
        found = self.lacking.reason if self.lacking is not None else self.number
        return f"<Metric {self.key}: {found if isinstance(found, str) else _brief(found, self.unit)}>"


def _brief(number: Number, unit: str) -> str:
    """Return the value with its unit and the ends of its interval or range, to four digits."""
    ends = "" if number.low is None or number.high is None else f" ({number.low:.4g} to {number.high:.4g})"
    return f"{number.value:.4g} {unit}{ends}"


Metrics = dict[str, Metric]

_COLUMNS: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("name", "place", "unit"), pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    "n": pl.UInt32,
}


def frame(metrics: Metrics) -> pl.DataFrame:
    """Return one row a metric, as `parshall.Result.quantities` describes them."""
    rows = []
    for key, metric in metrics.items():
        number = None if metric.lacking is not None else metric.number
        ends = (None, None, None) if number is None else (number.value, number.low, number.high)
        rows.append((key, metric.named.place, metric.unit, *ends, number.n if isinstance(number, Interval) else None))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def of_run(tables: Tables, link: str | None = None) -> Metrics:
    """Of a run: what summarises it, and users' own; `link` instead of the link that matters."""
    return _measured(_of_run(tables, link))


def _of_run(tables: Tables, link: str | None = None) -> Metrics:
    ours = [naming.named(name) for name in SUMMARY]
    own = [Named(each.key, each) for each in naming.known("run").values() if each.source]
    links = tables.get("links")
    link = link or (None if links is None else busiest(links))
    metrics = {}
    flows = tables.get("flows")
    both_ways = flows is not None and not flows["forward"].all()
    for each in (*ours, *own):
        series = _series(tables, each, link)
        if series is not None and each.quantity.says(tables):
            label = each.quantity.title_of_run(link or "", both_ways=both_ways)
            metrics[each.name] = Metric(each, label, series)
    return metrics


ALL_FLOWS = "all flows"
"""The name of the group in which all flows are one."""

_TRIVIAL = ("goodput_bps", "share", "jain")
"""Quantities of a group that say nothing, or nothing new, of all flows."""


def everything(tables: Tables, link: str | None = None, groups: Collection[str] | None = None) -> Metrics:
    """All that there is, in the order of pages.

    Parameters
    ----------
    link
        The link that names without a link speak of; else the busiest one.
    groups
        Those of which it is asked; else all.
    """
    return _measured(_everything(tables, link, groups))


def lacking(tables: Tables, link: str | None = None, groups: Collection[str] | None = None) -> Metrics:
    """The metrics without an estimate, with the reason: a quantile of too few values, or that too few reached.

    Parameters
    ----------
    link, groups
        As of `everything`.
    """
    return {key: each for key, each in _everything(tables, link, groups).items() if each.lacking is not None}


def _everything(tables: Tables, link: str | None, groups: Collection[str] | None) -> Metrics:
    metrics = _of_run(tables, link)
    for name in places(tables, "link"):
        metrics |= _of_place(tables, "link", name)
    for name in places(tables, "group"):
        if groups is None or name in groups:
            metrics |= _of_place(tables, "group", name)
    return metrics


def of_all_flows(tables: Tables) -> Metrics:
    """Return the quantities of a group, of all flows as if they were one; as far as the table of flows gives them."""
    flows = tables.get("flows")
    if flows is None:
        return {}
    joined = flows.with_columns(group=pl.lit(ALL_FLOWS))
    metrics = of_place(Tables(lambda name: joined if name == "flows" else None), "group", ALL_FLOWS)
    return {key: metric for key, metric in metrics.items() if metric.named.quantity.key not in _TRIVIAL}


def places(tables: Tables, per: Per) -> list[str]:
    """The links in the order in which the table has them, or the groups in that of their first flows."""
    table = tables.get("links" if per == "link" else "flows")
    if table is None:
        return []
    if per == "link":
        return links_in(table)
    return table.group_by("group").agg(pl.col("flow").min()).sort("flow")["group"].to_list()


def links_in(table: pl.DataFrame) -> list[str]:
    """The links of a table, in the order in which it has them."""
    return table["link"].unique(maintain_order=True).to_list()


def of_place(tables: Tables, per: Per, place: str, *, lacking: bool = False) -> Metrics:
    """Of one group, flow or link: all that there are, or those too that lack an estimate for a reason.

    Computed once for the same tables, which hold it.
    """
    every = _of_place(tables, per, place)
    told = {key: each for key, each in every.items() if each.lacking is not None} if lacking else {}
    return _measured(every) | told


def _of_place(tables: Tables, per: Per, place: str) -> Metrics:
    known = naming.known(per)
    held = (per, place, tuple(known.values()))
    if held not in tables.computed:
        metrics = {}
        for key, quantity in known.items():
            each = Named(f"{per}/{place}/{key}", quantity, place)
            series = _series(tables, each, None)
            if series is not None:
                metrics[each.name] = Metric(each, quantity.title(place), series)
        tables.computed[held] = metrics
    return dict(tables.computed[held])


def series_of(tables: Tables, names: Collection[str], link: str | None = None) -> dict[str, Series]:
    """The quantities that are named; what there is not is left out.

    Parameters
    ----------
    link
        The link that names without a link speak of; else the busiest one.
    """
    by_name = {}
    for name in names:
        each = naming.find(name)
        if each is None:
            continue
        links = tables.get("links") if each.of_busiest and link is None else None
        link = link if links is None else busiest(links)
        series = _series(tables, each, link)
        if series is not None:
            by_name[name] = series
    return by_name


def measured(tables: Tables, name: str) -> Metric:
    """One quantity.

    Raises
    ------
    InputError
        Nothing has that name, or the tables have no value of it.
    """
    each = naming.named(name)
    series = series_of(tables, [name]).get(name)
    why = None if series is None else series.lacking()
    if why is not None:
        raise InputError(f"{name}: {why.reason}{'' if why.is_of_values else f' ({why.found} of {why.of})'}")
    if series is None or series.estimate() is None:
        raise InputError(f"{name}: nothing was measured; there is no such {each.quantity.per}, or it has no value")
    return Metric(each, each.label(), series)


def found_of(tables: Tables, name: str) -> Metric | None:
    """One quantity; None where the tables have no value of it."""
    each, series = naming.named(name), series_of(tables, [name]).get(name)
    if series is None or series.estimate() is None:
        return None
    return Metric(each, each.quantity.title(each.place) if each.place else each.label(), series)


def _series(tables: Tables, each: Named, link: str | None) -> Series | None:
    place = each.place or (link if each.of_busiest else "")
    if place is None:
        return None
    return each.quantity.series(tables.of(each.quantity.per, place) if place else tables)


def _measured(metrics: Metrics) -> Metrics:
    return {key: metric for key, metric in metrics.items() if metric.estimate is not None}


def busiest(links: pl.DataFrame) -> str:
    """The link that matters; the module says which."""
    used = links.group_by("link", maintain_order=True).agg(
        pl.col("utilisation").mean(), pl.col("mean_queueing_delay_s").mean()
    )
    as_busy = used.filter(pl.col("utilisation") >= pl.col("utilisation").max() - _AS_BUSY)
    waiting = as_busy.sort("mean_queueing_delay_s", descending=True, nulls_last=True, maintain_order=True)
    return str((waiting if len(waiting) else used)["link"][0])


def busiest_of_all(sides: Iterable[pl.DataFrame | None]) -> str | None:
    """The link that matters to all sides of a comparison that have links, of those that all have; None: there is none.

    What has no links, as a trace, takes no part; one side alone has nobody to share a link with.
    """
    tables = [links.select("link", "utilisation", "mean_queueing_delay_s") for links in sides if links is not None]
    common = set.intersection(*(set(table["link"]) for table in tables)) if len(tables) > 1 else set()
    return busiest(pl.concat(tables).filter(pl.col("link").is_in(list(common)))) if common else None


def busy(links: pl.DataFrame) -> list[str]:
    """The links that are used to more than 80 %, or else the busiest; that one first."""
    first = busiest(links)
    used = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    others = used.filter((pl.col("utilisation") > BUSY) & (pl.col("link") != first))["link"].to_list()
    return [first, *others]
