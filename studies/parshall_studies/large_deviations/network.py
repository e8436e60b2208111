"""The testbed of §4.2 as scenarios, and what is measured of a flow in them.

Throughput is in packets per round trip, as the source's cwnd; see `record`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parshall.analysis.models.inputs import FloatArray
from parshall.instruments.simulation import Run, run
from parshall.results.quantities.completion import lasted
from parshall.scenario import Scenario
from parshall.studies.published import printed_in
from parshall_studies.large_deviations.record import SAMPLES_S, Record, recorded

PAPER = printed_in(__package__)

WARM_UP_S = 60.0
TCP = {"name": "tcp", "rtt": "12 ms", "congestion_control": "reno", "packet_size": "1500 B"}
LINK = {"rate": "1 Gbit/s", "queue": {"name": "drop_tail", "limit": "96 packets"}}
WIDE = {"rate": "10 Gbit/s", "queue": {"name": "drop_tail", "limit": "100000 packets"}}
"""A link on which a single flow of windows up to some ten thousand packets meets no queue."""
TIMEOUT_S = 0.2
"""The least retransmission timeout, which is what it is at these round-trip times."""


FRAMING_BYTES, UDP_HEADERS_BYTES = 38, 28
"""Ethernet's bytes a packet that are not IP (preamble, header, check sum, gap: IEEE 802.3); headers of UDP and IP."""
ETHERNET_BPS = PAPER["capacity_bps"] * PAPER["packet_bytes"] / (PAPER["packet_bytes"] + FRAMING_BYTES)
"""What Ethernet of 1 Gbit/s carries of IP packets of 1500 bytes."""
OF_PAYLOAD = PAPER["packet_bytes"] / (PAPER["packet_bytes"] - UDP_HEADERS_BYTES)
"""IP packets over the UDP payload in them."""


def ethernet(buffer_packets: int = PAPER["buffer_packets"], slower: float = 1) -> dict[str, Any]:
    """Gigabit Ethernet with a buffer of so many packets, and so many times slower."""
    return {
        "rate": f"{round(ETHERNET_BPS / slower)} bit/s",
        "queue": {"name": "drop_tail", "limit": f"{buffer_packets} packets"},
    }


def on_off_sources(
    on_s: float, off_s: float, rate_bps: float = PAPER["source_bps"], slower: float = 1
) -> dict[str, Any]:
    """32 UDP sources with exponential ON and OFF times; of a network that is so many times slower."""
    workload = {
        "name": "on_off_cbr",
        "rate": f"{round(rate_bps / slower)} bit/s",
        "on": {"name": "exponential", "mean": f"{on_s * slower:g} s"},
        "off": {"name": "exponential", "mean": f"{off_s * slower:g} s"},
    }
    rtt = f"{12 * slower:g} ms"
    return {"name": "udp", "count": 32, "rtt": rtt, "packet_size": "1500 B", "workload": workload}


def as_payload(slower: float = 1) -> dict[str, Any]:
    """ON and OFF times exchanged, 40 Mbit/s of payload: with `ethernet`, how Fig. 3 says that the testbed counted."""
    return on_off_sources(PAPER["off_s"], PAPER["on_s"], PAPER["source_bps"] * OF_PAYLOAD, slower)


AS_STATED = on_off_sources(PAPER["on_s"], PAPER["off_s"])
"""ON and OFF times as the text has them: a mean of 698 Mbit/s."""
AS_MEASURED = on_off_sources(PAPER["off_s"], PAPER["on_s"])
"""ON and OFF times exchanged: 582 Mbit/s, the mean that the text has."""
AS_PAYLOAD = as_payload()


def declared(
    links: dict[str, Any] | list[dict[str, Any]],
    flows: Sequence[dict[str, Any]],
    duration_s: float,
    *,
    probes: dict[str, Any] | None = None,
    seed: int = 1,
    warm_up_s: float = WARM_UP_S,
) -> Scenario:
    """A scenario without series unless `probes` ask for them; of one link, or of some with names."""
    network = {"links": links} if isinstance(links, list) else {"bottleneck": links}
    chosen = {"rounds": 0, "flow_samples": False, "link_samples": False, "transfers": False, **(probes or {})}
    return Scenario(
        duration=f"{duration_s:g} s",
        warm_up=f"{warm_up_s:g} s",
        seed=seed,
        processing_time="0 s",  # as in the source, hosts take no time
        flows=list(flows),
        probes=chosen,
        **network,
    )


@dataclass(frozen=True)
class Measured:
    """What a run says of its first flow, and of the link.

    Attributes
    ----------
    record
        Its round trips.
    timeouts, loss_rate
        How many it had, and packets lost over packets sent.
    utilisation
        Of the link.
    on_time
        Mean duration of the transfers of other flows in words (`on_time`); empty where it was not recorded.
    """

    record: Record
    timeouts: int
    loss_rate: float
    utilisation: float
    on_time: str = ""


def measured(
    link: dict[str, Any],
    flows: Sequence[dict[str, Any]],
    duration_s: float,
    *,
    rtt_s: float = PAPER["rtt_s"],
    transfers: bool = False,
) -> Measured:
    """The first flow's record after the warm-up, from a run of `duration_s`; `rtt_s` is its propagation delay."""
    probes = {**probes_of_record(rtt_s), "transfers": transfers}
    return measure(run(declared(link, flows, duration_s, probes=probes)), transfers=transfers)


def probes_of_record(rtt_s: float) -> dict[str, Any]:
    """What is recorded of the first flow for `measure`."""
    return {"rounds": 1, "flows": 1, "flow_samples": f"{SAMPLES_S * rtt_s / PAPER['rtt_s']:g} s"}


def measure(done: Run, warm_up_s: float = WARM_UP_S, *, transfers: bool = False) -> Measured:
    """What a run with `probes_of_record` says, simulated or emulated."""
    own = done.flows.row(0, named=True)
    return Measured(
        recorded(samples_of(done, 0, warm_up_s), rounds_of(done, 0, warm_up_s)),
        int(own["timeouts"]),
        float(own["loss_rate"]),
        float(done.links["utilisation"][0]),
        on_time(lasted(done.tables)) if transfers else "",
    )


def record_of(done: Run, group: str, warm_up_s: float) -> Record:
    """The record of the first flow of a group, of which a run has the probes of `probes_of_record`."""
    flow = int(done.flows.filter(pl.col("group") == group)["flow"][0])
    return recorded(samples_of(done, flow, warm_up_s), rounds_of(done, flow, warm_up_s))


def on_time(transfers: pl.DataFrame) -> str:
    """The mean duration of transfers (`quantities.completion.lasted`), with how many ended if not all did.

    The source's 0.48 s is the mean of what it draws. Here sizes are drawn and times follow, and the longest of a heavy
    tail are cut off: each lasted what it had at the end of the run at least, and so did their mean.

    Examples
    --------
    >>> on_time(pl.DataFrame({"lasted_s": [0.5, 1.5], "ended": [True, False]}))
    'at least 1.00 s, 50.0 % ended'
    >>> on_time(pl.DataFrame({"lasted_s": [0.5, 1.5], "ended": [True, True]}))
    '1.00 s'
    """
    mean, ended = f"{transfers['lasted_s'].to_numpy().mean():.2f} s", int(transfers["ended"].sum())
    if ended == transfers.height:
        return mean
    return f"at least {mean}, {np.floor(1000 * ended / transfers.height) / 10:.1f} % ended"


def samples_of(done: Run, flow: int = 0, warm_up_s: float = WARM_UP_S) -> pl.DataFrame:
    """A flow's samples after the warm-up."""
    table = done.flow_samples
    assert table is not None  # noqa: S101 - the probe is on
    return table.filter((pl.col("flow") == flow) & (pl.col("time_s") >= warm_up_s)).sort("time_s")


def rounds_of(done: Run, flow: int = 0, warm_up_s: float = WARM_UP_S) -> pl.DataFrame:
    """A flow's rounds after the warm-up, with their lengths."""
    table = done.rounds
    assert table is not None  # noqa: S101 - the probe is on
    own = table.filter(pl.col("flow") == flow).sort("round")
    lengths = own.with_columns(length_s=pl.col("start_s").shift(-1) - pl.col("start_s"))
    return lengths.filter((pl.col("start_s") >= warm_up_s) & pl.col("length_s").is_not_null())


def per_rtt(rounds: pl.DataFrame, rtt_s: float) -> FloatArray:
    """Packets sent in consecutive intervals of `rtt_s`, shape (N,); a round's packets are spread over its length."""
    start, length = rounds["start_s"].to_numpy(), rounds["length_s"].to_numpy()
    sent = np.concatenate([[0.0], np.cumsum(rounds["window_packets"].to_numpy(), dtype=np.float64)])
    times = np.append(start, start[-1] + length[-1])
    grid = np.arange(times[0], times[-1], rtt_s)
    return np.asarray(np.diff(np.interp(grid, times, sent)))
