"""The page of a report card: the answer, the conformance kit, then each measure with its figure."""

from __future__ import annotations

from collections.abc import Sequence

from parshall.analysis.models.square_root import independent_losses_window
from parshall.foundations.version import __version__
from parshall.report.document import Chart, Document, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.suites.control_check.alone import BUFFERS
from parshall.suites.control_check.answer import answer
from parshall.suites.control_check.card import COLUMNS, Card, Row
from parshall.suites.control_check.response import LOSSES

_PARTS = {
    "response": (
        "Response function",
        "Packets that are delivered in a round trip where each is lost with the same probability and no queue is full, "
        "60 s at 40 Mbit/s and 50 ms. The closed form is that of Reno with independent losses and without timeouts; it "
        "overestimates from 2 % of loss on.",
    ),
    "alone": (
        "Trajectory: alone at the bottleneck",
        "One flow, 12 Mbit/s, 50 ms (1 BDP is 50 packets), drop-tail; 30 s after 10 s of warm-up.",
    ),
    "fairness": (
        "Fairness: among flows of its own",
        "The same bottleneck with a buffer of 1 BDP. Four flows with one RTT; two with 20 ms and 80 ms; one that is "
        "joined by a second after 10 s, and the time until Jain's index of both is 0.9.",
    ),
    "harm": (
        "Harm beside Reno and CUBIC",
        "One flow beside one of Reno or CUBIC for 60 s, 1 BDP. Its own share and the share left to the other add up to "
        "two equal ones. Harm is the share of its goodput that the other loses, "
        "compared with what it has beside a flow of its own kind, and the share of its queueing delay that is caused; "
        "0 is as beside its own kind (Ware et al., HotNets 2019).",
    ),
}


def page(card: Card) -> Document:
    """The page of a card."""
    figures = {"response": _response(card), "alone": _trajectories(card)} if card.rows else {}
    sections = [_answer(card), _conformance(card)]
    for part, (heading, text) in _PARTS.items():
        rows = [row for row in card.rows if row.part == part]
        if rows:
            sections.append(Section(heading, (text,), [_table(card, rows)], figures.get(part, ())))
    byline = (
        card.source,
        f"{card.repetitions} repetitions",
        f"seed {card.seed}",
        f"Parshall {__version__}",
    )
    description = "What every congestion control must keep, and what this one does beside Reno and CUBIC."
    return Document("check-control", f"Report card: {card.control}", description, byline, sections)


def _answer(card: Card) -> Section:
    """Pass or fail, what becomes of it and of others, and every criterion that it misses."""
    missing = () if card.not_measured is None else (f"Nothing was measured: {card.not_measured}.",)
    missed = [f"{row.label}: {row.verdict}; accepted is {row.asked}." for row in card.rows if row.accepted is False]
    return Section("The answer", (" ".join(answer(card)), *missing, *missed))


def _conformance(card: Card) -> Section:
    header = ("check", "what must hold", "asked by", "found")
    rows = [(f"`{each.name}`", each.sentence, each.source, each.text) for each in card.findings]
    text = "Random events and scripted courses, told to the control without a network; all follows from the seed."
    return Section("Conformance", (text,), [Table("", header, rows)])


def _table(card: Card, rows: Sequence[Row]) -> Table:
    """Without the columns that are empty."""
    header, cells = ("", *card.controls, *COLUMNS), [row.cells(card.controls) for row in rows]
    columns = [n for n, name in enumerate(header) if not name or any(row[n] for row in cells)]
    numbers = range(1, len(card.controls) + 1 + any(row.formula is not None for row in rows))
    return Table("", [header[n] for n in columns], [[row[n] for n in columns] for row in cells], numbers=numbers)


def _response(card: Card) -> list[Chart]:
    """Packets a round trip against loss, both logarithmic."""
    rows = [row for row in card.rows if row.part == "response" and row.unit]
    marks: list[Line | Points] = [
        Line(LOSSES, independent_losses_window(LOSSES), "Reno, closed form", Style(dash=1, muted=True))
    ]
    for number, name in enumerate(card.controls):
        known = [(loss, row.values[name]) for loss, row in zip(LOSSES, rows, strict=True)]
        points = [(loss, each) for loss, each in known if each is not None and each.mean > 0]
        x, y = [loss for loss, _ in points], [each.mean for _, each in points]
        low = [each.mean if each.low is None else max(each.low, each.mean / 10) for _, each in points]
        high = [each.mean if each.high is None else each.high for _, each in points]
        marks.append(Points(x, y, name, Style(series=number), low, high))
    axes = Axis("probability of loss", log=True), Axis("delivered a round trip", "packets", log=True)
    plot = Plot([Panel(marks, *axes)], "Means and 95 % intervals over the repetitions.")
    return [Chart("response", "Response function", plot)]


def _trajectories(card: Card) -> list[Chart]:
    """Windows over time, a figure a buffer."""
    return [
        Chart(
            f"trajectory-{buffer:g}".replace(".", "-"),
            f"Window over time, buffer {buffer:g} BDP",
            Plot(
                [
                    Panel(
                        [
                            Line(each.time_s, each.cwnd_packets, each.control, Style(series=number))
                            for number, each in enumerate(card.trajectories_at(buffer))
                        ],
                        Axis("time", "s", minimum=0),
                        Axis("congestion window", "packets", minimum=0),
                    )
                ],
                "Each alone at the bottleneck; first repetition.",
            ),
        )
        for buffer in BUFFERS
    ]
