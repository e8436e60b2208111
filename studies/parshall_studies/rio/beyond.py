"""Beyond the source: many sessions, several routers, UDP, unequal reservations, and over-booking.

The source announces these as extensions, and has no values. Unequal reservations and over-booking are also drawn over
the source's own map, p_out^max, and say what its answer to unfairness (a larger p_out^max) does for them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Grid, Guide, Line, Panel, Plot, Points, Style, cell_edges
from parshall.studies.study import Case, Findings, Part, Scale
from parshall_studies.diffserv import Datagrams, Router, Sessions, fixed_point
from parshall_studies.rio.setting import BURST_PACKETS, CAPACITY_PER_S, RESERVED_PER_S, RTTS_S, overlapped
from parshall_studies.routers.simulated import Setting, simulate

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000)
BOOKED = (0.6, 0.8, 1.0, 1.2, 1.4)
TRANSFERS_SHARE, TRANSFER_PACKETS = 0.1, 20
"""Short transfers, without reservation: of the capacity, and their mean size."""
SETTINGS: Mapping[Scale, Setting] = {
    "quick": Setting(90, 30, 2, recovery="sack"),
    "paper": Setting(330, 30, 10, recovery="sack"),
}


def many() -> Findings:
    """N = 10 to 10,000 sessions, 60 packets/s of capacity each."""
    rows, checks = [], []
    for count in COUNTS:
        router = Router(60.0 * count, 20, 100, 0.01, 20, 100, 0.06)
        found = fixed_point(Sessions(np.linspace(0.1, 0.3, count), 40, 20), router)
        used = float(found.utilisation[0])
        values = (found.loss_in[0], found.loss_out[0], found.queue_packets[0])
        rows.append((f"{count}", f"{100 * used:.2f} %", *(f"{each:.4g}" for each in values)))
        checks.append(reported("sessions", f"used capacity with {count} sessions", exactly(used)))
    prose = (
        "The same router for 10 to 10,000 sessions, with capacity in proportion: round trips of 100 to 300 ms, "
        "thresholds as in section 4.1. The queue's share of the round trip vanishes with the number of sessions, and "
        "the losses tend to a limit.",
    )
    header = ("Sessions", "Used capacity", "p_in", "p_out", "Mean queue")
    return Findings(checks, [Section("More sessions", prose, [Table("", header, rows, numbers=range(5))])])


def several() -> Findings:
    """One session across 1 to 5 routers, each with forty sessions of its own."""
    lengths, rates, others = range(1, 6), [], []
    router = Router(2400.0, 20, 100, 0.01, 20, 100, 0.06)
    for length in lengths:
        crosses = np.vstack([np.ones((1, length)), np.repeat(np.eye(length), 40, axis=0)]).astype(np.bool_)
        found = fixed_point(Sessions(np.full(1 + 40 * length, 0.2), 40, 20, crosses=crosses), [router] * length)
        rates.append(float(found.session_delivered_per_s[0]))
        others.append(float(found.session_delivered_per_s[1:].mean()))
    quantity = "delivered to the session across {} routers, packets/s"
    checks = [reported("routers", quantity.format(n), exactly(rate)) for n, rate in zip(lengths, rates, strict=True)]
    lines = [Line(list(lengths), rates, "across all"), Line(list(lengths), others, "across one", Style(1, 1))]
    panel = Panel([*lines, Guide(40.0, "reservation")], Axis("routers"), Axis("delivered", "packets/s", minimum=0))
    prose = (
        "Each router has forty sessions of its own; one session crosses all. It loses at each, and with three and more "
        "falls below what its token bucket reserves: marking protects in-packets, not the rate of a session whose "
        "out-packets are lost.",
    )
    figure = Chart("routers", "Across several routers", Plot([panel], "By the model."))
    return Findings(checks, [Section("Several routers", prose, figures=[figure])])


def udp() -> Findings:
    """Section 4.1's sessions beside UDP without a reservation."""
    shares = np.linspace(0.0, 1.0, 21)
    load = Datagrams(0.0, CAPACITY_PER_S * shares[:, None])
    lines, checks = [], []
    for number, probability in enumerate((0.06, 0.3, 1.0)):
        given = Sessions(RTTS_S, RESERVED_PER_S, BURST_PACKETS)
        found = fixed_point(given, overlapped(0.01, probability), datagrams=load)
        reached = np.mean(found.session_per_s >= RESERVED_PER_S, axis=1)
        lines.append(Line(shares, 100 * reached, f"p_out^max = {probability:g}", Style(number, number)))
        most = exactly(float(shares[reached == 1.0].max(initial=0.0)))
        quantity = f"UDP load, of the capacity, beside which all reach their reservation at p_out^max = {probability:g}"
        checks.append(reported("udp", quantity, most, "in steps of 0.05"))
    panel = Panel(lines, Axis("UDP load over capacity"), Axis("sessions at their reservation", "%", minimum=0))
    prose = (
        "UDP sends out-packets at a constant rate whatever is lost. The sessions reserve two thirds of the capacity.",
    )
    figure = Chart("udp", "Reservations beside UDP", Plot([panel], "By the model."))
    return Findings(checks, [Section("UDP beside TCP", prose, figures=[figure])])


_BOOKED, _OUTSIDE = np.linspace(0.4, 1.4, 21), np.geomspace(0.01, 1.0, 25)


def unequal() -> Findings:
    """Reservations that differ, and over-booking, on the map of p_out^max."""
    panels, checks = [], []
    for contrast in (1.0, 4.0):
        rows = []
        for booked in _BOOKED.tolist():
            weights = np.where(np.arange(len(RTTS_S)) % 2, contrast, 1.0)
            rates = np.minimum(booked * CAPACITY_PER_S * weights / weights.sum(), 125.0)
            sessions = Sessions(RTTS_S, rates, BURST_PACKETS, access_per_s=125.0)
            found = fixed_point(sessions, overlapped(0.0, _OUTSIDE))
            rows.append(100 * np.mean(found.session_per_s >= rates, axis=1))
        share = np.array(rows)
        for probability in (0.06, 1.0):
            at = int(np.argmin(np.abs(_OUTSIDE - probability)))
            most = float(_BOOKED[share[:, at] == 100].max(initial=0.0))
            quantity = (
                f"share of the capacity that can be booked, reservations 1:{contrast:g}, p_out^max = {probability:g}"
            )
            checks.append(reported("reservations", quantity, exactly(most), "in steps of 0.05"))
        edges = np.clip(cell_edges(_OUTSIDE, log=True), 0.01, 1.0), np.clip(cell_edges(_BOOKED), 0.4, 1.4)
        marks = [Grid(*edges, share, "reached, %")]
        panels.append(Panel(marks, Axis("p_out^max", log=True), Axis(f"booked over capacity, 1:{contrast:g}")))
    prose = (
        "Tail drop for in-packets, section 4.1's thresholds and round trips; every other session reserves four times "
        "as much as its neighbours in the second map. Shown is the part of them that reach their reservation. A larger "
        "p_out^max helps as long as the sum of the reservations leaves room, and beyond the capacity nothing does: "
        "in-packets alone fill the link.",
    )
    figure = Chart("reservations", "Reservations over p_out^max and what is booked", Plot(panels, "By the model."))
    return Findings(checks, [Section("Unequal reservations and over-booking", prose, figures=[figure])])


def booking(booked: float, setting: Setting) -> tuple[float, Interval]:
    """The share of sessions at their reservation where so much of the capacity is booked: model, and simulation."""
    capacity, count = 3000.0, 50
    router = Router(capacity, 40, 80, 0.01, 10, 60, 0.3)
    reserved, access = booked * capacity / count, 3 * capacity / count
    rtts_s = np.linspace(0.05, 0.2, count)
    given = Sessions(rtts_s, reserved, 20, access_per_s=access, access_delay_s=1 / access)
    beside = Datagrams(0.0, TRANSFERS_SHARE * capacity)
    model = float(np.mean(fixed_point(given, router, datagrams=beside).session_per_s >= reserved))
    measured = simulate(given, router, setting, others=[_transfers(capacity)])
    return model, mean_interval(np.mean(measured.session_per_s >= reserved, axis=1))


def _transfers(capacity_per_s: float) -> dict[str, object]:
    size = {"name": "lognormal", "mean": f"{TRANSFER_PACKETS} packets", "sigma": 1.0}
    arrivals = TRANSFERS_SHARE * capacity_per_s / TRANSFER_PACKETS
    return {
        "name": "transfers",
        "rtt": "100 ms",
        "packet_size": "1000 B",
        "tcp": "rfc",
        "congestion_control": "reno",
        "workload": {"name": "open_loop", "arrivals_per_s": arrivals, "size": size},
    }


def _bookings(scale: Scale) -> Mapping[float, Case]:
    return {each: Case(f"{each:g} of the capacity booked", booking, (each, SETTINGS[scale])) for each in BOOKED}


def overbooked(answers: Mapping[float, tuple[float, Interval]], _: Scale) -> Findings:
    """Reservations above the capacity, with short transfers beside them: the answers of `booking`."""
    quantity = "sessions at their reservation with {:g} of the capacity booked, simulated"
    checks = [
        reported("overbooking", quantity.format(booked), measured, f"model: {by_model:.2f}")
        for booked, (by_model, measured) in answers.items()
    ]
    marks: list[Line | Points | Guide] = [
        Line(BOOKED, [100 * each for each, _ in answers.values()], "model"),
        Points(BOOKED, [100 * each.mean for _, each in answers.values()], "simulated", Style(1, 1)),
        Guide(1.0, "all booked", along="x"),
    ]
    y = Axis("sessions at their reservation", "%", minimum=0, maximum=105)
    prose = (
        f"Short transfers of {TRANSFER_PACKETS} packets on average, {100 * TRANSFERS_SHARE:.0f} % of the capacity and "
        "without reservation, arrive beside fifty sessions that reserve more and more. While the sum of the "
        "reservations leaves room, most sessions reach theirs; when it comes near to the capacity, those with long "
        "round trips stop doing so first, and beyond it reservations mean little. In the model the transfers are "
        "datagrams of the same load.",
    )
    plot = Plot([Panel(marks, Axis("reserved over capacity"), y)], "Model and simulation.")
    figure = Chart("overbooking", "Over-booking beside short transfers", plot)
    return Findings(checks, [Section("Short transfers and over-booking", prose, figures=[figure])])


PARTS = (
    Part.of("many sessions", many),
    Part.of("several routers", several),
    Part.of("UDP", udp),
    Part.of("unequal reservations", unequal),
    Part("over-booking", _bookings, overbooked),
)
