"""How large the benchmark is: as in the source, or small enough for a coffee.

At ``paper`` scale, K = 1000 has C_a = 100 Mbit/s and K = 10 has C_a = 1000 Mbit/s; a bulk file takes the 240 s that
30 GB take at 1 Gbit/s; PA sends 200 messages of 1 MB.

``quick`` keeps what a class is about (C_g, R, the RTT, and few or many flows at the bottleneck) and gives up absolute
size: the bottleneck has 100 Mbit/s, K = 1000 becomes 50, a bulk file takes seconds, PA sends 50 messages. What goes
with the size is the window: 167 packets fill a path of a data centre class at 200 ms, where the paper scale has
16,667. So differences that only show at high bandwidth-delay products (Reno's slow growth) are smaller at quick scale
than at paper scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScaleName = Literal["quick", "paper"]


@dataclass(frozen=True)
class Scale:
    """How much is simulated.

    Parameters
    ----------
    access_bps
        C_a by K of Table 3, bit/s.
    aggregation
        K by K of Table 3.
    bulk_s
        What a bulk file takes at C_a, s.
    web_bytes, peer_bytes
        Mean sizes of WM and PP, bytes.
    messages, message_bytes
        How many messages PA sends, and their size by K of Table 3, bytes.
    rounds
        Transfers of each source of WM and PP that are timed.
    patience
        A run lasts so many times what its files take where the bottleneck is shared fairly, at most.
    repetitions
        Independent runs.
    """

    name: ScaleName
    access_bps: dict[float, float]
    aggregation: dict[float, float]
    bulk_s: float
    web_bytes: float
    peer_bytes: float
    messages: int
    message_bytes: dict[float, float]
    rounds: int
    patience: float
    repetitions: int


SCALES: dict[str, Scale] = {
    "quick": Scale(
        "quick",
        access_bps={10.0: 10e6, 1000.0: 2e6},
        aggregation={10.0: 10.0, 1000.0: 50.0},
        bulk_s=5.0,
        web_bytes=50e3,
        peer_bytes=250e3,
        messages=50,
        message_bytes={10.0: 125e3, 1000.0: 25e3},
        rounds=6,
        patience=3.0,
        repetitions=3,
    ),
    "paper": Scale(
        "paper",
        access_bps={10.0: 1e9, 1000.0: 100e6},
        aggregation={10.0: 10.0, 1000.0: 1000.0},
        bulk_s=240.0,
        web_bytes=1e6,
        peer_bytes=100e6,
        messages=200,
        message_bytes={10.0: 1e6, 1000.0: 1e6},
        rounds=20,
        patience=3.0,
        repetitions=5,
    ),
}
