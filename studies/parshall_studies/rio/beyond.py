"""Beyond the source: many sessions, several routers, UDP beside TCP, short transfers and over-booking.

The source announces these as extensions, and has no values; the checks are of the kind ``extended``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Points, Style
from parshall.studies.study import Findings
from parshall_studies.diffserv import Datagrams, Router, Sessions, fixed_point
from parshall_studies.rio.analytic import CAPACITY_PER_S, overlapped, sessions
from parshall_studies.routers.simulated import Setting, simulate

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000)
BOOKED = (0.6, 0.8, 1.0, 1.2, 1.4)
TRANSFERS_SHARE = 0.1
"""Of the capacity: short transfers, without reservation."""

TRANSFER_PACKETS = 20


def many() -> Findings:
    """N = 10 to 10,000 sessions, 60 packets/s of capacity each."""
    rows, checks = [], []
    for count in COUNTS:
        router = Router(60.0 * count, 20, 100, 0.01, 20, 100, 0.06)
        solution = fixed_point(Sessions(np.linspace(0.1, 0.3, count), 40, 20), router)
        used = float(solution.utilisation[0])
        rows.append(
            (
                f"{count}",
                f"{100 * used:.2f} %",
                f"{solution.loss_in[0]:.4g}",
                f"{solution.loss_out[0]:.4g}",
                f"{solution.queue_packets[0]:.4g}",
                f"{float(solution.residual):.0e}",
            )
        )
        checks.append(reported("sessions", f"used capacity with {count} sessions", exactly(used)))
    header = ("Sessions", "Used capacity", "p_in", "p_out", "Mean queue", "Residual")
    prose = (
        "The same router for 10 to 10,000 sessions, with capacity in proportion: round trips of 100 to 300 ms, "
        "thresholds as in section 4.1. The queue's share of the round trip vanishes with the number of sessions, and "
        "the losses tend to a limit.",
    )
    return Findings(
        checks, [Section("More sessions", prose, tables=[Table("", header, rows, numbers=(0, 1, 2, 3, 4, 5))])]
    )


def several() -> Findings:
    """One session across 1 to 5 routers, each with forty sessions of its own."""
    checks, lengths, rates, worst = [], range(1, 6), [], []
    router = Router(2400.0, 20, 100, 0.01, 20, 100, 0.06)
    for length in lengths:
        crosses = np.zeros((1 + 40 * length, length), dtype=np.bool_)
        crosses[0] = True
        for r in range(length):
            crosses[1 + 40 * r : 41 + 40 * r, r] = True
        solution = fixed_point(Sessions(np.full(1 + 40 * length, 0.2), 40, 20, crosses=crosses), [router] * length)
        rates.append(float(solution.session_delivered_per_s[0]))
        worst.append(float(solution.session_delivered_per_s[1:].mean()))
        quantity = f"delivered to the session across {length} routers, packets/s"
        checks.append(reported("routers", quantity, exactly(rates[-1])))
    marks: list[Line | Guide] = [
        Line(list(lengths), rates, "session across all"),
        Line(list(lengths), worst, "sessions across one", Style(1, 1)),
        Guide(40.0, "reservation"),
    ]
    panel = Panel(marks, Axis("routers in series"), Axis("delivered", "packets/s", minimum=0))
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
    marks: list[Line | Guide] = []
    checks = []
    for number, probability in enumerate((0.06, 0.3, 1.0)):
        solution = fixed_point(sessions(), overlapped(0.01, probability), datagrams=load)
        reached = np.mean(solution.session_per_s >= 40.0, axis=1)
        marks.append(Line(shares, 100 * reached, f"p_out^max = {probability:g}", Style(number, number)))
        most = float(shares[reached == 1.0].max(initial=0.0))
        quantity = f"UDP load, of the capacity, beside which all reach their reservation at p_out^max = {probability:g}"
        checks.append(reported("udp", quantity, exactly(most), "in steps of 0.05"))
    panel = Panel(marks, Axis("UDP load over capacity"), Axis("sessions at their reservation", "%", minimum=0))
    prose = (
        "UDP sends out-packets at a constant rate whatever is lost. The sessions reserve two thirds of the capacity.",
    )
    figure = Chart("udp", "Reservations beside UDP", Plot([panel], "By the model."))
    return Findings(checks, [Section("UDP beside TCP", prose, figures=[figure])])


def booking(booked: float, setting: Setting) -> tuple[float, Interval]:
    """The share of sessions at their reservation where so much of the capacity is booked: model, and simulation."""
    capacity, count = 3000.0, 50
    router = Router(capacity, 40, 80, 0.01, 10, 60, 0.3)
    reserved = booked * capacity / count
    given = Sessions(
        np.linspace(0.05, 0.2, count),
        reserved,
        20,
        access_per_s=3 * capacity / count,
        access_delay_s=count / (3 * capacity),
    )
    beside = Datagrams(0.0, TRANSFERS_SHARE * capacity)
    model = float(np.mean(fixed_point(given, router, datagrams=beside).session_per_s >= reserved))
    measured = simulate(given, router, setting, others=[_transfers(capacity)])
    return model, mean_interval(np.mean(measured.session_per_s >= reserved, axis=1))


def overbooked(answers: Mapping[float, tuple[float, Interval]]) -> Findings:
    """Reservations above the capacity, with short transfers beside them: the answers of `booking`."""
    model = [each for each, _ in answers.values()]
    seen = [each for _, each in answers.values()]
    checks = []
    for booked, (by_model, measured) in answers.items():
        quantity = f"sessions at their reservation with {booked:g} of the capacity booked, simulated"
        note = f"model: {by_model:.2f}"
        checks.append(reported("overbooking", quantity, measured, note))
    marks: list[Line | Points | Guide] = [
        Line(BOOKED, 100 * np.array(model), "model"),
        Points(BOOKED, [100 * each.mean for each in seen], "simulated", Style(1, 1)),
        Guide(1.0, "all booked", along="x"),
    ]
    y = Axis("sessions at their reservation", "%", minimum=0, maximum=105)
    panel = Panel(marks, Axis("reserved over capacity"), y)
    prose = (
        f"Short transfers of {TRANSFER_PACKETS} packets on average, {100 * TRANSFERS_SHARE:.0f} % of the "
        f"capacity and without "
        "reservation, arrive beside fifty sessions that reserve more and more. While the sum of the "
        "reservations leaves "
        "room, most sessions reach theirs in spite of the transfers; when it comes near to the capacity, "
        "those with long "
        "round trips stop doing so first, and beyond it reservations mean little. In the model the transfers are "
        "datagrams of the same load.",
    )
    figure = Chart("overbooking", "Over-booking beside short transfers", Plot([panel], "Model and simulation."))
    return Findings(checks, [Section("Short transfers and over-booking", prose, figures=[figure])])


def _transfers(capacity_per_s: float) -> dict[str, object]:
    size: dict[str, object] = {"name": "lognormal", "mean": f"{TRANSFER_PACKETS} packets", "sigma": 1.0}
    arrivals = TRANSFERS_SHARE * capacity_per_s / TRANSFER_PACKETS
    return {
        "name": "transfers",
        "rtt": "100 ms",
        "packet_size": "1000 B",
        "tcp": "rfc",
        "congestion_control": "reno",
        "workload": {"name": "open_loop", "arrivals_per_s": arrivals, "size": size},
    }
