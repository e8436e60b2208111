"""What is true of every run, whatever its scenario: packets are conserved, shares are shares, numbers are finite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import polars as pl
from captures import Packet, packets

from parshall.instruments.simulation import Run

Row = Mapping[str, Any]

SHARES = ("loss_rate", "loss_rate_in", "loss_rate_out", "utilisation", "jain")
"""Columns, and keys of summaries, that lie within 0 and 1."""

PERCENTILES = tuple(f"queueing_delay_{name}_s" for name in ("p50", "p90", "p95", "p99", "p999"))

ROUNDING = 1e-9
"""Relative: sums of some thousand floating-point numbers."""


_LARGEST_DATAGRAM = 65_535
"""Bytes: what a distribution of datagrams' sizes may draw, whatever the packet size of the group."""


def violations(run: Run) -> Iterator[str]:
    """Every sentence says what is not as it has to be."""
    resolved = run.scenario.resolve()
    spans_s = {
        number: totals["simulated_s"] - resolved["warm_up_ps"] / 1e12
        for number, totals in zip(run.repetitions, run.totals, strict=True)
    }
    yield from _numbers(run)
    yield from _shares(run)
    for link in run.links.iter_rows(named=True):
        yield from _link(link, run, resolved)
    for flow in run.flows.iter_rows(named=True):
        yield from _flow(flow, resolved, spans_s[flow["repetition"]])
    yield from _between(run, resolved)
    if run.transfers is not None:
        yield from _transfers(run.transfers, run)
    for index in resolved["probes"]["pcap"]:
        for number, path in zip(run.repetitions, run.captures(resolved["links"][index]["name"]), strict=True):
            yield from _capture(packets(path), index, number, run, resolved)
    for path in run.directory.glob("repetitions/*/qlog/*.sqlog"):
        for record in path.read_text(encoding="utf-8").split("\x1e")[1:]:
            json.loads(record)


def _numbers(run: Run) -> Iterator[str]:
    """No number is infinite or none; what is written as JSON is strict JSON."""
    json.dumps([run.metadata, run.totals], allow_nan=False)
    names = ("flows", "links", "transfers", "rounds", "flow_samples", "link_samples", "delay_histogram")
    for name in names:
        table = run.table(name)
        if table is None:
            continue
        for column in table.select(pl.col(pl.Float64)).iter_columns():
            if not all(isfinite(value) for value in column.drop_nulls()):
                yield f"{name}.{column.name} has a value that is not finite"


def _capture(found: Sequence[Packet], index: int, number: int, run: Run, resolved: Row) -> Iterator[str]:
    name = resolved["links"][index]["name"]
    where = f"capture of {name}"
    times = [packet.time_ns for packet in found]
    if times != sorted(times):
        yield f"{where}: its times are not in order"
    if times and times[-1] > 1e9 * run.totals[run.repetitions.index(number)]["simulated_s"]:
        yield f"{where}: its last packet passes at {times[-1]} ns, after the end"
    if not all(packet.checksums_fit() for packet in found if len(packet.headers) + packet.payload < _LARGEST_DATAGRAM):
        yield f"{where}: a checksum is wrong"
    crossing = [(index in each["path"], index in each["reverse_path"]) for each in resolved["flows"]]
    if resolved["warm_up_ps"] or (True, True) in crossing:
        return  # then some packets were not counted, or cross it in both directions
    leaving = 0
    for packet in found:
        is_data = packet.source.startswith("10.")
        _, _, high, low = (packet.destination if is_data else packet.source).split(".")
        leaving += crossing[256 * int(high) + int(low)][0 if is_data else 1]
    row = run.links.row(by_predicate=(pl.col("link") == name) & (pl.col("repetition") == number), named=True)
    if leaving != row["forwarded_packets"]:
        yield f"{where}: {leaving} packets leave, {row['forwarded_packets']} were forwarded"


def _shares(run: Run) -> Iterator[str]:
    for where, rows in (("flow", run.flows), ("link", run.links), ("summary", pl.DataFrame([_scalars(run.summary)]))):
        for key in set(SHARES) & set(rows.columns):
            for value in rows[key].drop_nulls():
                if not -ROUNDING <= value <= 1 + ROUNDING:
                    yield f"{key} of a {where} is {value:g}"


def _scalars(summary: Mapping[str, Any]) -> Row:
    return {key: value for key, value in summary.items() if isinstance(value, int | float)}


def _link(link: Row, run: Run, resolved: Row) -> Iterator[str]:
    where = f"link {link['link']}"
    handled = link["forwarded_packets"] + link["dropped_packets"] + link["medium_losses_packets"]
    inside = link["arrivals_packets"] - handled
    most = link["max_queue_packets"] + 1  # and the one in transmission
    least = -most if resolved["warm_up_ps"] else 0  # what waits when the warm-up ends has arrived before
    if not least <= inside <= most:
        yield f"{where}: {inside} packets more arrived than were handled; {least} to {most} can be"
    ordered = [link[key] for key in (*PERCENTILES, "max_queueing_delay_s") if link[key] is not None]
    if ordered != sorted(ordered):
        yield f"{where}: percentiles of the delay are not in order: {ordered}"
    for mean, largest in (
        ("mean_queue_packets", "max_queue_packets"),
        ("mean_queue_at_arrival_packets", "max_queue_packets"),
        ("mean_queueing_delay_s", "max_queueing_delay_s"),
    ):
        if link[mean] is not None and link[mean] > link[largest] * (1 + ROUNDING):
            yield f"{where}: {mean}, {link[mean]:g}, is above {largest}, {link[largest]:g}"
    samples = run.link_samples
    if samples is not None and not resolved["warm_up_ps"]:
        mine = samples.filter((pl.col("link") == link["link"]) & (pl.col("repetition") == link["repetition"]))
        for key in ("arrivals_packets", "forwarded_bytes"):
            if mine[key].sum() != link[key]:
                yield f"{where}: {key} is {link[key]}, its bins have {mine[key].sum()}"


def _flow(flow: Row, resolved: Row, span_s: float) -> Iterator[str]:
    group = next(each for each in resolved["flows"] if each["name"] == flow["group"])
    where = f"flow {flow['flow']} of {flow['group']}"
    if flow["min_rtt_s"] is not None and flow["min_rtt_s"] < flow["rtt_base_s"] * (1 - ROUNDING):
        yield f"{where}: an RTT of {flow['min_rtt_s']:g} s is below the path's, {flow['rtt_base_s']:g} s"
    if flow["mean_rtt_s"] is not None and flow["mean_rtt_s"] < flow["min_rtt_s"] * (1 - ROUNDING):
        yield f"{where}: the mean RTT, {flow['mean_rtt_s']:g} s, is below the smallest, {flow['min_rtt_s']:g} s"
    if flow["retransmissions"] > flow["packets_sent"]:
        yield f"{where}: {flow['retransmissions']} retransmissions among {flow['packets_sent']} packets sent"
    if flow["goodput_bps"] > flow["throughput_bps"] * (1 + ROUNDING):
        yield f"{where}: goodput, {flow['goodput_bps']:g}, is above throughput, {flow['throughput_bps']:g} bit/s"
    # What waits behind a link when the warm-up ends is beyond its rate: then only the last link's bounds what arrives.
    crossed = [resolved["links"][index]["rate"].get("constant") for index in group["path"]]
    rates = crossed[-1:] if resolved["warm_up_ps"] else [*crossed, group["access_bps"]]
    slowest = min([rate for rate in rates if rate is not None], default=None)
    # A packet whose transmission began before the time measured may end in it: one more than the rate lets pass.
    largest = _LARGEST_DATAGRAM if group["workload"]["name"] == "poisson" else group["packet_bytes"]
    edge_bps = 8 * largest / span_s
    if slowest is not None and flow["throughput_bps"] > slowest * (1 + ROUNDING) + edge_bps:
        yield f"{where}: {flow['throughput_bps']:g} bit/s over a path of {slowest:g} bit/s"


def _between(run: Run, resolved: Row) -> Iterator[str]:
    """Links drop what flows miss, if no ACKs cross links, no host loses packets and everything is counted.

    The ACK without data that ends a handshake by Linux's rules is no packet of its flow: links may drop more.
    """
    beside = ("reverse_path", "access_packets")
    if resolved["warm_up_ps"] or any(each[key] for each in resolved["flows"] for key in beside):
        return
    if any(each["workload"]["name"] == "request_response" for each in resolved["flows"]):
        return  # ACKs of requests cross the links of the responses
    for number in run.repetitions:
        links, flows = (table.filter(pl.col("repetition") == number) for table in (run.links, run.flows))
        dropped = links["dropped_packets"].sum() + links["medium_losses_packets"].sum()
        missed = flows["packets_dropped"].sum()
        if missed > dropped or (missed < dropped and not any(map(_ends_handshakes_apart, resolved["flows"]))):
            yield f"links dropped {dropped} packets, flows miss {missed}"


def _transfers(transfers: pl.DataFrame, run: Run) -> Iterator[str]:
    longest_s = max(totals["simulated_s"] for totals in run.totals)
    for row in transfers.iter_rows(named=True):
        where = f"transfer {row['transfer']} of flow {row['flow']}"
        if row["retransmissions"] > row["packets_sent"]:
            yield f"{where}: {row['retransmissions']} retransmissions among {row['packets_sent']} packets sent"
        ended_s = row["start_s"] if row["completion_s"] is None else row["completion_s"]
        if not 0 <= row["start_s"] <= ended_s <= longest_s * (1 + ROUNDING):
            yield f"{where}: from {row['start_s']:g} s to {ended_s:g} s of {longest_s:g} s"


def _ends_handshakes_apart(group: Row) -> bool:
    """Whether an ACK without data ends the handshakes of a group."""
    tcp = group.get("tcp") or {}
    return bool(tcp.get("handshake")) and tcp.get("rules") == "linux"
