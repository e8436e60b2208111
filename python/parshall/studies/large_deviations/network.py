"""The testbed of §4.2 as scenarios, and a flow's packets in consecutive RTTs.

The source resamples cwnd at the RTT rate. Here the packets sent are counted in consecutive intervals of one RTT,
from the `rounds` records: a round of recovery lasts two RTTs, and its packets are spread over both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from parshall.models.inputs import FloatArray
from parshall.runs import Run, run
from parshall.scenario import Scenario
from parshall.studies.large_deviations import published

WARM_UP_S = 60.0
TCP = {"name": "tcp", "rtt": "12 ms", "congestion_control": "reno", "packet_size": "1500 B"}
LINK = {"rate": "1 Gbit/s", "queue": {"name": "drop_tail", "limit": "96 packets"}}
WIDE = {"rate": "10 Gbit/s", "queue": {"name": "drop_tail", "limit": "100000 packets"}}
"""A link on which a single flow of windows up to some ten thousand packets meets no queue."""


FRAMING_BYTES, UDP_HEADERS_BYTES = 38, 28
"""Ethernet's bytes a packet that are not IP (preamble, header, check sum, gap: IEEE 802.3); headers of UDP and IP."""
ETHERNET_BPS = published.CAPACITY_BPS * published.PACKET_BYTES / (published.PACKET_BYTES + FRAMING_BYTES)
"""What Ethernet of 1 Gbit/s carries of IP packets of 1500 bytes."""
OF_PAYLOAD = published.PACKET_BYTES / (published.PACKET_BYTES - UDP_HEADERS_BYTES)
"""IP packets over the UDP payload in them."""
ETHERNET = {**LINK, "rate": f"{round(ETHERNET_BPS)} bit/s"}


def on_off_sources(on_s: float, off_s: float, rate_bps: float = published.SOURCE_BPS) -> dict[str, Any]:
    """32 UDP sources with exponential ON and OFF times."""
    workload = {
        "name": "on_off_cbr",
        "rate": f"{round(rate_bps)} bit/s",
        "on": {"name": "exponential", "mean": f"{on_s:g} s"},
        "off": {"name": "exponential", "mean": f"{off_s:g} s"},
    }
    return {"name": "udp", "count": 32, "rtt": "12 ms", "packet_size": "1500 B", "workload": workload}


AS_STATED = on_off_sources(published.ON_S, published.OFF_S)
"""ON and OFF times as the text has them: a mean of 698 Mbit/s."""
AS_MEASURED = on_off_sources(published.OFF_S, published.ON_S)
"""ON and OFF times exchanged: 582 Mbit/s, the mean that the text has."""
AS_PAYLOAD = on_off_sources(published.OFF_S, published.ON_S, published.SOURCE_BPS * OF_PAYLOAD)
"""Exchanged, 40 Mbit/s of payload: with `ETHERNET`, how Fig. 3 says that the testbed counted."""


def simulated(
    link: dict[str, Any],
    flows: Sequence[dict[str, Any]],
    duration_s: float,
    *,
    probes: dict[str, Any] | None = None,
    seed: int = 1,
) -> Run:
    """A run with rounds of the first flow of each group, without other series unless `probes` ask for them."""
    chosen = {"rounds": 1, "flow_samples": False, "link_samples": False, "transfers": False, **(probes or {})}
    scenario = Scenario(
        duration=f"{duration_s:g} s",
        warm_up=f"{WARM_UP_S:g} s",
        seed=seed,
        processing_time="0 s",  # as in the source, hosts take no time
        bottleneck=link,
        flows=list(flows),
        probes=chosen,
    )
    return run(scenario)


def rounds(link: dict[str, Any], flows: Sequence[dict[str, Any]], duration_s: float) -> pl.DataFrame:
    """The first flow's rounds after the warm-up, with their lengths."""
    return rounds_of(simulated(link, flows, duration_s))


def rounds_of(done: Run, flow: int = 0) -> pl.DataFrame:
    """A flow's rounds after the warm-up, with their lengths."""
    table = done.rounds
    assert table is not None  # noqa: S101 - the probe is on
    own = table.filter(pl.col("flow") == flow).sort("round")
    lengths = own.with_columns(length_s=pl.col("start_s").shift(-1) - pl.col("start_s"))
    return lengths.filter((pl.col("start_s") >= WARM_UP_S) & pl.col("length_s").is_not_null())


def per_rtt(found: pl.DataFrame, rtt_s: float = published.RTT_S) -> FloatArray:
    """Packets sent in consecutive intervals of one RTT, shape (N,); a round's packets are spread over its length."""
    start, length = found["start_s"].to_numpy(), found["length_s"].to_numpy()
    sent = np.concatenate([[0.0], np.cumsum(found["window_packets"].to_numpy(), dtype=np.float64)])
    times = np.append(start, start[-1] + length[-1])
    grid = np.arange(times[0], times[-1], rtt_s)
    return np.asarray(np.diff(np.interp(grid, times, sent)))
