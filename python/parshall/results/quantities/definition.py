"""A quantity: what it is called, its unit, which direction is better, and how tables give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from parshall.analysis.stats.estimates import BinnedQuantiles, Censored, Means, Quantiles, Series
from parshall.foundations.errors import QuantityError
from parshall.results.quantities.tables import NotRecorded, Per, Tables

Better = Literal["higher", "lower"]

Values = Series | Mapping[int, float] | Mapping[int, float | None] | pl.DataFrame
"""By repetition: numbers, of which the mean is the estimate (a mapping, or a frame with the column `repetition` and one
more), or a series of `parshall.analysis.stats.estimates`."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """One quantity.

    Parameters
    ----------
    key
        Its name for programs, unique among those that are per the same thing.
    label
        Its name for people, the field's term for it, as it stands within a sentence.
    heading
        The same as the heading of a tile or row, where that says it in another way: ``packets lost``.
    unit
        ``s``, ``bit/s``, ``packets``, ``ratio`` (a share, printed in percent), ``1``.
    better
        Which direction is; None: neither.
    per
        What has one value of it in each repetition: the run, or each group, flow or link.
    of
        Computes it from the tables of that run, group, flow or link. Repetitions that have no value are left out.
    what
        What it is exactly, where the label leaves that open: for the guide.
    range
        What it can be: intervals are cut to that.
    preposition
        Of a link: what stands between label and link.
    forward_heading
        The heading where flows of both directions are kept apart.
    says
        Whether it says something of such tables; where not, pages leave it out.
    source
        Where one that is not ours was defined: ``mine.py:12``.
    """

    key: str
    label: str
    unit: str
    better: Better | None
    per: Per
    of: Callable[[Tables], Values]
    range: tuple[float, float] | None = None
    preposition: str = "at"
    what: str = ""
    heading: str = ""
    forward_heading: str = ""
    says: Callable[[Tables], bool] = lambda _: True
    source: str = ""

    def series(self, tables: Tables) -> Series | None:
        """Return the values by repetition; None if none has a value, or a table that it needs was not recorded.

        It is computed once for the same tables: they hold it.

        Raises
        ------
        QuantityError
            A quantity that is not ours failed, or gave what is no number.
        """
        if self not in tables.computed:
            tables.computed[self] = self._computed(tables)
        computed: Series | None = tables.computed[self]
        return computed

    def _computed(self, tables: Tables) -> Series | None:
        try:
            series = self._series(self.of(tables), tables.repetitions)
        except NotRecorded:
            return None
        except QuantityError:
            raise
        except Exception as error:
            if not self.source:
                raise
            raise self.wrong(f"{type(error).__name__}: {error}") from error
        return series if series.repetitions else None

    def wrong(self, what: str) -> QuantityError:
        """The error that says what is wrong with it, and where it is defined."""
        return QuantityError(f'quantity "{self.key}" ({self.source or "built in"}): {what}')

    def _series(self, computed: object, repetitions: frozenset[int] | None) -> Series:
        if isinstance(computed, pl.DataFrame):
            others = [name for name in computed.columns if name != "repetition"]
            if len(others) != 1 or len(computed.columns) != 2:
                raise self.wrong(f'found the columns {computed.columns}; accepted: "repetition" and one more')
            computed = dict(computed.select("repetition", others[0]).iter_rows())
        if isinstance(computed, Mapping):
            numbers = {int(n): float(value) for n, value in sorted(computed.items()) if value is not None}
            computed = Means(numbers, *self._range(), repetitions)
        if not isinstance(computed, Means | Quantiles | BinnedQuantiles | Censored):
            accepted = "a frame or mapping of repetitions to numbers, or a series of parshall.analysis.stats.estimates"
            raise self.wrong(f"found {type(computed).__name__}; accepted: {accepted}")
        if self.source:
            self._refuse_nan(computed)
        return computed if computed.among else replace(computed, among=repetitions)

    def _refuse_nan(self, series: Series) -> None:
        values = series.values if isinstance(series, Means) else series.own()
        for repetition, value in values.items():
            if not np.isfinite(value):
                raise self.wrong(
                    f"found {value} in repetition {repetition}; accepted: finite numbers. Leave a repetition out, or "
                    "give None, where there is no value"
                )

    def _range(self) -> tuple[float, float]:
        if self.range is not None:
            return self.range
        return 0.0, 1.0 if self.unit == "ratio" else np.inf

    def title(self, place: str) -> str:
        """The heading: ``Mean queue, uplink``."""
        return f"{_capital(self.heading or self.label)}, {place}"

    def title_of_run(self, link: str, *, both_ways: bool) -> str:
        """The same where it speaks for a run: ``Mean queue at uplink``.

        Parameters
        ----------
        link
            The link that matters.
        both_ways
            Whether flows of both directions are kept apart.
        """
        heading = _capital((both_ways and self.forward_heading) or self.heading or self.label)
        return f"{heading} {self.preposition} {link_name(link)}" if self.per == "link" else heading


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]


def link_name(link: str) -> str:
    """Return the name of a link in a sentence."""
    return {"bottleneck": "the bottleneck", "reverse": "the reverse bottleneck"}.get(link, link)
