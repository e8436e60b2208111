"""Response function: how fast a flow sends where packets are lost at random and no queue is full.

| symbol | meaning | unit |
| --- | --- | --- |
| p | probability that a packet is lost | 1 |
| W | packets delivered per round trip without queue, X RTT | packets |
| d | W ~ p^-d, least squares over the loss rates | 1 |

The link has 40 Mbit/s, 167 packets a round trip: more than Reno and CUBIC reach here. Reno's closed form is that of
independent losses without timeouts (`parshall.analysis.models.square_root`), which overestimates from p = 2 % on.

References: T. Ott, J. Kemperman, M. Mathis 1996; RFC 9743 §5.1.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from parshall.analysis.models.square_root import independent_losses_window
from parshall.analysis.stats.claims import Claim
from parshall.suites.control_check.card import Row, interval
from parshall.suites.control_check.networks import PACKET_BITS, RTT_S, WARM_UP_S, Control, flow, network
from parshall.suites.control_check.running import Course, Key, Reading, Readings

if TYPE_CHECKING:
    import polars as pl

LOSSES = (0.001, 0.003, 0.01, 0.03)
_DURATION_S = 60 + WARM_UP_S


def courses(controls: Mapping[str, Control]) -> dict[Key, Course]:
    """One control alone at each loss rate."""
    return {
        ("response", loss, name): Course(
            network(
                [flow("one", control)],
                _DURATION_S,
                rate="40 Mbit/s",
                limit="1000 packets",
                loss=loss,
            ),
            _read,
        )
        for loss in LOSSES
        for name, control in controls.items()
    }


def _read(tables: Mapping[str, pl.DataFrame]) -> Reading:
    return {"window": tables["flows"]["throughput_bps"][0] * RTT_S / PACKET_BITS}


def rows(readings: Readings, own: str, names: list[str]) -> list[Row]:
    """W at each loss rate, and d."""
    made = [
        Row(
            "response",
            f"response_{loss:g}",
            f"packets a round trip at {100 * loss:g} % loss",
            "packets",
            {name: interval(_windows(readings["response", loss, name])) for name in names},
            formula=float(independent_losses_window(loss)),
        )
        for loss in LOSSES
    ]
    slopes = {name: interval(_exponents(readings, name)) for name in names}
    label = "exponent d of the response function"
    less_where_more_is_lost = Claim("RFC 9743 §5.1.3", label, slopes[own], "sign", 1.0, basis="asked")
    return [*made, Row("response", "response_exponent", label, "", slopes, 0.5, less_where_more_is_lost)]


def _windows(of_course: list[Reading]) -> list[float]:
    return [reading["window"] for reading in of_course]


def _exponents(readings: Readings, name: str) -> list[float | None]:
    windows = np.array([_windows(readings["response", loss, name]) for loss in LOSSES])
    if (windows <= 0).any():
        return [None] * windows.shape[1]
    return [float(slope) for slope in -np.polyfit(np.log(LOSSES), np.log(windows), 1)[0]]
