"""The mean of the sizes that a run drew beside the mean that was asked for: heavy tails seldom have it.

| symbol | name here |
| --- | --- |
| m | `count`, sizes drawn |

Where the sampled mean of a group's sizes is more than 5 % off, the run carries another load than its scenario says,
and its results are those of that load. The page says so, with the interval in which the mean of so many values of this
distribution lies: by the stable law for Pareto sizes (`parshall.analysis.stats.tails`), by a parametric bootstrap for
others of which few were drawn, else by the normal law.

References: M. Crovella, L. Lipsky, Long-lasting transient conditions in simulations with heavy-tailed workloads, WSC
1997.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from parshall.foundations.errors import ParshallError
from parshall.foundations.numbers import count, quantity
from parshall.report.sentences import say
from parshall.results.records import Result
from parshall.scenario import properties

TOLERANCE = 0.05
_Z = 1.959964
_FEW, _SERIES, _SEED = 5000, 400, 1
_SLOW = "hyperexponential"
"""Its quantiles take a search each; its variance is finite."""


def off_loads(run: Result) -> list[str]:
    """A sentence for each group whose sampled mean size is more than 5 % off the one asked for."""
    transfers = run.tables.get("transfers")
    if transfers is None:
        return []
    drawn = transfers.group_by("group").agg(pl.col("size_bytes").count(), mean=pl.col("size_bytes").mean())
    found = {name: (number, mean) for name, number, mean in drawn.iter_rows()}
    sentences = []
    for name, law in _size_laws(run).items():
        number, sampled = found.get(name, (0, None))
        asked = properties.mean(law)
        if sampled is not None and abs(sampled / asked - 1) > TOLERANCE:
            sentences.append(_sentence(name, law, number, sampled, asked))
    return sentences


def _size_laws(run: Result) -> dict[str, Mapping[str, Any]]:
    """The distribution of each group's sizes, in bytes; of groups whose sizes are drawn."""
    scenario = getattr(run, "scenario", None)
    try:
        groups = () if scenario is None else scenario.resolved.flows
    except ParshallError:  # a file that the scenario names is gone
        return {}
    sizes = {group.name: group.workload.get("size") for group in groups}
    return {name: size for name, size in sizes.items() if isinstance(size, Mapping)}


def _sentence(name: str, law: Mapping[str, Any], number: int, sampled: float, asked: float) -> str:
    low, high = mean_interval(law, number)
    way = "above" if sampled > asked else "below"
    return say(
        "off_load",
        group=name,
        number=count(number),
        sampled=quantity(sampled, "B"),
        off=f"{abs(sampled / asked - 1):.0%}",
        side=way,
        asked=quantity(asked, "B"),
        law=_named(law),
        low=quantity(low * asked, "B"),
        high=quantity(high * asked, "B"),
        least=f"{low - 1:+.0%}",
        most=f"{high - 1:+.0%}",
    ).text


def _named(law: Mapping[str, Any]) -> str:
    index = law.get("tail_index")
    return str(law["name"]).replace("_", " ") + ("" if index is None else f", tail index {index:g}")


def mean_interval(law: Mapping[str, Any], number: int) -> tuple[float, float]:
    """Return the range of the mean of `number` values of a law in 95 % of samples, as parts of its mean.

    Raises
    ------
    InputError
        If it is not in the catalog.

    Examples
    --------
    >>> low, high = mean_interval({"name": "exponential", "mean": 8.0}, 10_000)
    >>> round(low, 3), round(high, 3)
    (0.98, 1.02)
    """
    if law["name"] == "pareto":
        from parshall.analysis.stats.tails import mean_interval_of_pareto  # noqa: PLC0415 - it loads scipy

        return mean_interval_of_pareto(float(law["tail_index"]), number)
    if number > _FEW or law["name"] == _SLOW:
        half = _Z * math.sqrt(properties.cv2(law) / number)
        return max(0.0, 1 - half), 1 + half
    drawn = properties.quantiles(law, np.random.default_rng(_SEED).random((_SERIES, number)).ravel())
    means = drawn.reshape(_SERIES, number).mean(axis=1) / properties.mean(law)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
