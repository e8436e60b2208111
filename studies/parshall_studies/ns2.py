"""TCP as ns-2 had it when the studies of 2000 to 2002 were simulated: the defaults of its one-way agents.

| ns-2's variable | until May 2001 | here |
| --- | --- | --- |
| ``window_`` | 20 packets | `WINDOW`, ``receive_window`` |
| ``tcpTick_`` | 0.1 s; 0.01 s from March 2002 on | ``rto_granularity`` |
| ``minrto_`` | none beyond two ticks; 1 s from May 2001 on | ``min_rto`` |
| ``singledup_`` (limited transmit) | off | ``limited_transmit`` |
| ``windowInit_`` | 1 packet | ``initial_window`` |

There is no SYN, every packet is acknowledged, a window grows by one packet an ACK, and the RTT is sampled once a round
trip. The dates stand in the comments of ns-2's ``ns-default.tcl``. `LATER` has what ns-2.35 changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WINDOW = 20
"""The window limit, packets."""

LATER: Mapping[str, Any] = {
    "limited_transmit": True,
    "rto_granularity": "10 ms",
    "initial_window": "2 packets",
    "handshake": True,
}
"""What ns-2.35 has otherwise; its least timeout of 0.2 s is that of `tcp`."""


def tcp(window: int | None = WINDOW) -> dict[str, Any]:
    """Keys of a group of flows.

    Parameters
    ----------
    window
        The window limit in packets; None: no limit.

    Examples
    --------
    >>> tcp()["receive_window"], tcp(None)["receive_window"]
    ('20 packets', 'unlimited')
    """
    return {
        "recovery": "reno",
        "receive_window": "unlimited" if window is None else f"{window} packets",
        "initial_window": "1 packets",
        "handshake": False,
        "limited_transmit": False,
        "delayed_ack": False,
        "byte_counting": False,
        "timestamps": False,
        "rto_granularity": "100 ms",
        "initial_rto": "3 s",
        "min_rto": "200 ms",
        "max_rto": "60 s",
    }
