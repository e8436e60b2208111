"""PA: a ping-pong of MPI messages between two nodes, over one connection each way whose windows live on.

A node sends a message, and the other replies with one as large as soon as it has all of it (§4.5.4). The source sends
200 of 1 MB.

| symbol | here | unit |
| --- | --- | --- |
| t_i | from the first packet of message i sent to its last one received: `message_s` | s |
| time of the ping-pong | sum of t_i over both directions | s |

The two directions are simulated as two flows whose messages follow each other at once, so that a message starts when
the last ACK of the one before is there, half an RTT after the message was complete. While a node waits for the reply
its window does not change (no wait is as long as a retransmission timeout), so each t_i is that of the ping-pong, and
the sum over both directions is its time. What differs: both directions send at once where a ping-pong has them
alternate, so on a shared path the pair offers up to twice its load. The reply carries the ACK of the last packet; here
that ACK waits for a second packet, `ACK_PACKETS` packets' time at most, if the number of packets is odd.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4, §5.4.
"""

from __future__ import annotations

from typing import Any

import polars as pl

MESSAGES, MESSAGE_BYTES = 200, 1_000_000
"""Of the source."""

ACK_PACKETS = 1.5
_PACKET_BITS = 12_000


def direction(messages: int, message_bytes: float, access_bps: float) -> dict[str, Any]:
    """The messages of one direction, as keys of a group of a scenario.

    >>> sorted(direction(2, 1e6, 1e9).items())[:2]
    [('delayed_ack', '18000 ns'), ('persistent', True)]
    """
    return {
        "workload": {"name": "transfer", "sizes": [f"{round(message_bytes)} B"] * messages},
        "persistent": True,
        "delayed_ack": f"{round(1e9 * ACK_PACKETS * _PACKET_BITS / access_bps)} ns",
    }


def message_s(end_s: float | None = None) -> pl.Expr:
    """t_i of each row of a table of transfers with the column `rtt_base_s`, s.

    A message that is not complete counts up to `end_s`; without it, it has no time.
    """
    complete = pl.col("completion_s") - pl.col("start_s") - pl.col("rtt_base_s") / 2
    return complete if end_s is None else complete.fill_null(end_s - pl.col("start_s"))
