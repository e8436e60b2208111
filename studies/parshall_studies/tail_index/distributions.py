"""Flow-size distributions to compare: equal in mean, and in variance or in the tail; and measured ones.

| symbol | name here | unit |
| --- | --- | --- |
| alpha | `tail_index` | - |
| C^2 | variance over squared mean | - |

Measured distributions are not part of Parshall. `PARSHALL_DATA` names a folder with ``flowsize/``, whose files have a
value and the probability not to exceed it a line (docs/catalogs.md, `empirical`): web search and data mining (as in
DCTCP and VL2), Hadoop, storage, remote procedure calls, caches. Only their shape is used: values are scaled to a mean
of 1000 packets, so that all variants offer the same load, and a file's unit does not matter.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gamma

from parshall.scenario import Scenario
from parshall_studies.tail_index.network import MEAN_PACKETS, PAYLOAD

Size = dict[str, Any]

VARIABLE = "PARSHALL_DATA"
FILES = {
    "web search": "hpcc_WebSearch_distribution.txt",
    "data mining": "hkust_VL2_CDF.txt",
    "Hadoop": "hpcc_FbHdp_distribution.txt",
    "storage": "hpcc_AliStorage2019.txt",
    "remote procedure calls": "hpcc_GoogleRPC2008.txt",
    "Facebook": "hkust_FB_CDF.txt",
    "caches": "CACHE_CDF.txt",
}
"""Measured distributions, and the files of that name that others published."""

_TAIL_POINTS = 200
_REMAINDER = 1e-7
"""Probability beyond the last point of a tail given by points."""


def bounded_pareto(mean: float, tail_index: float, largest: float) -> Size:
    """Bounded Pareto sizes of a given mean, by their smallest value; packets.

    Examples
    --------
    >>> bounded_pareto(1000, 1.5, 100_000)["minimum"]
    '517361 B'
    """

    def mean_from(smallest: float) -> float:
        part = 1 - (smallest / largest) ** tail_index
        if tail_index == 1:
            return float(smallest * np.log(largest / smallest) / part)
        power = smallest**tail_index * (smallest ** (1 - tail_index) - largest ** (1 - tail_index))
        return float(tail_index / (tail_index - 1) * power / part)

    smallest = float(brentq(lambda low: mean_from(low) - mean, 1e-6 * mean, mean * (1 - 1e-9)))
    return {
        "name": "bounded_pareto",
        "minimum": f"{round(smallest * PAYLOAD)} B",
        "maximum": f"{round(largest * PAYLOAD)} B",
        "tail_index": tail_index,
    }


def same_tail(tail_index: float, beyond: float = 2 * MEAN_PACKETS) -> Size:
    """The tail of Pareto sizes of mean 1000 packets `beyond` so many, and one size for all others: the same mean.

    Examples
    --------
    >>> points = same_tail(1.5)["points"]
    >>> [round(float(points[at][0].split()[0]) / 1460) for at in (0, 2)], round(points[1][1], 3)
    ([638, 2000], 0.932)
    """
    smallest = MEAN_PACKETS * (tail_index - 1) / tail_index
    exceeded = (smallest / beyond) ** tail_index
    tail = exceeded * np.geomspace(1, _REMAINDER / exceeded, _TAIL_POINTS)
    values = smallest * tail ** (-1 / tail_index)
    # The tail's part of the mean, as it is sampled: straight between the points, none beyond the last.
    tail[-1] = 0
    part = float(np.sum((values[1:] + values[:-1]) / 2 * -np.diff(tail)))
    body = (MEAN_PACKETS - part) / (1 - exceeded)
    points = [[body, 0.0], [body, 1 - exceeded], *([x, 1 - p] for x, p in zip(values, tail, strict=True))]
    return _by_points(points)


def weibull_shape(cv2: float) -> float:
    """Shape of the Weibull distribution whose variance is `cv2` squared means."""

    def excess(shape: float) -> float:
        return float(gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1 - cv2)

    return float(brentq(excess, 0.1, 10.0))


def lognormal(cv2: float) -> Size:
    """Lognormal sizes of mean 1000 packets whose variance is `cv2` squared means."""
    return {"name": "lognormal", "mean": "1000 packets", "sigma": float(np.sqrt(np.log1p(cv2)))}


def measured() -> dict[str, Size]:
    """The measured distributions that are there, scaled to a mean of 1000 packets, by what they are of."""
    folder = Path(os.environ.get(VARIABLE, "data")) / "flowsize"
    return {name: _scaled(folder / file) for name, file in FILES.items() if (folder / file).exists()}


def _scaled(path: Path) -> Size:
    """The shape of a file's distribution."""
    asked = {"name": "empirical", "file": str(path.absolute())}
    reader = Scenario.from_document(
        {
            "duration": "1 s",
            "bottleneck": {"rate": "1 Gbit/s", "queue": "drop_tail"},
            "flows": [{"rtt": "10 ms", "workload": {"name": "open_loop", "size": asked, "arrivals_per_s": 1.0}}],
        }
    )
    points = np.array(reader.resolve()["flows"][0]["workload"]["size"]["points"])
    value, probability = points.T
    before = np.append(value[0], value[:-1])
    mean = float(np.diff(probability, prepend=0.0) @ (before + value) / 2)
    return _by_points([[x * MEAN_PACKETS / mean, p] for x, p in points.tolist()])


def _by_points(points: list[list[float]]) -> Size:
    """Sizes in packets as a distribution of bytes."""
    return {"name": "empirical", "points": [[f"{max(1, round(x * PAYLOAD))} B", p] for x, p in points]}
