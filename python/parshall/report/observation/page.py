"""The page of an observation: the flows, and the largest of them closely."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from parshall.foundations.errors import InputError
from parshall.foundations.numbers import ABSENT, count, counted, quantity, significant
from parshall.foundations.version import __version__
from parshall.instruments.observation.flow import TracedFlow
from parshall.instruments.observation.limits import FlowLimits, of_rows
from parshall.instruments.observation.result import Observation
from parshall.report.document import Chart, Document, Section, Table, write_document
from parshall.report.observation import figures, limited, overview, short, trust
from parshall.report.observation.additions import CLOSELY, Close, Looked, absent, look
from parshall.report.sentences import say

LISTED = 40
"""Flows that are listed."""

SUMMED = ("goodput_bps", "packets_sent", "packets_dropped", "loss_events", "timeouts")
"""The columns that are summed over the other flows, in the order of the columns."""


def write_page(
    observation: Observation,
    path: str | Path,
    chosen: Sequence[str] = (),
    looked: Looked | None = None,
    *,
    without: Collection[str] = (),
) -> Path:
    """Write the page of `observation` to `path`, all or nothing; with `chosen`, of these flows.

    `looked` is what `parshall.report.observation.additions.look` found, if it is known already; sections of the keys
    `without` are left out, as ``arrivals``, which takes seconds.

    Raises
    ------
    InputError
        One of `chosen` means no flow.
    OSError
        It cannot be written.
    """
    return write_document(document(observation, chosen, looked, without=without), path)


def document(
    observation: Observation,
    chosen: Sequence[str] = (),
    looked: Looked | None = None,
    *,
    without: Collection[str] = (),
) -> Document:
    """The page; arguments as `write_page`."""
    rows, number = observation.selected(chosen, LISTED).to_dicts(), observation.number(chosen)
    seen = look(observation, chosen, without=without) if looked is None else looked
    drawn = overview.over_time(observation, rows)
    sequence = short.sequence(observation, rows[0]) if rows else None
    numbers = short.tiles(observation, rows)
    return Document(
        kind="observation",
        title=observation.name,
        description="What traces show of their flows: windows, losses, round-trip times, and how throughput varies.",
        byline=_byline(observation),
        finding=overview.finding(rows, observation.captures, number, _limit(observation, rows)),
        sections=[
            *([Section("In short", blocks=[numbers], name="answer", is_opening=True)] if numbers else []),
            *([Section("Over time", figures=[drawn], name="glance", is_opening=True)] if drawn else []),
            *([Section("Delivered", figures=[sequence], name="delivered", is_opening=True)] if sequence else []),
            limited.section(observation, rows),
            _listing(
                [{**row, "label": observation.label(row)} for row in rows],
                observation.sums(SUMMED, chosen),
                number,
                overview.first_of(observation.captures),
            ),
            _traces(observation),
            *(section for each in seen.close for section in _close(observation, each)),
            *_of_traces(seen, without),
        ],
    )


def _limit(observation: Observation, rows: Sequence[Mapping[str, Any]]) -> FlowLimits | None:
    """Return the limits of the first flow; None without a flow."""
    if not rows:
        return None
    key = rows[0]["repetition"], rows[0]["flow"]
    return of_rows(rows[0], observation.limits_of([key]).get(key, {}))


def _of_traces(seen: Looked, without: Collection[str]) -> list[Section]:
    """Return the sections that packages add about traces, and in the place of a missing one what to install."""
    found = [each.section for own in seen.traces.values() for each in own[:CLOSELY] if each.section is not None]
    to_install = "" if "arrivals" in without else absent("arrivals")
    return [*found, *([Section("Arrivals", [to_install])] if to_install else [])]


def _byline(observation: Observation) -> list[str]:
    frames = sum(capture["frames"] for capture in observation.captures)
    formats = sorted({capture["format"] for capture in observation.captures})
    return [
        ", ".join(formats),
        f"{count(frames)} {'frames' if 'pcap' in formats[0] else 'rows'}",
        counted(observation.number(), "flow"),
        f"Parshall {__version__}",
    ]


def _listing(rows: Sequence[dict[str, Any]], sums: Mapping[str, Any], number: int, which: str = "largest") -> Section:
    """The largest flows, and the sums of the others; `sums` are those of all, of which there are `number`."""
    header = (
        "flow",
        "goodput",
        "packets",
        "lost",
        "loss events",
        "timeouts",
        "window over time",
        "mean of RTT samples",
        "least RTT",
    )
    lines, note = [_listed(row) for row in rows], []
    if number > len(rows):
        others = counted(number - len(rows), "other flow")
        lines.append(_others(others, rows, sums))
        note = [say("observed.listed", listed=count(len(rows)), which=which, others=others).text]
    table = Table("", header, lines, numbers=range(1, len(header)))
    note.append(
        "`window over time`: each window counts as long as it lasts (the text of a flow has the mean of its round "
        "trips, "
        "which counts each round trip once). `mean of RTT samples`: each sample counts once, so busy times count more "
        "than in the figure, where the smoothed round-trip time is drawn over time."
    )
    return Section("Flows", note, [table])


def _others(name: str, rows: Sequence[dict[str, Any]], sums: Mapping[str, Any]) -> tuple[str, ...]:
    """The sums of the flows without a row; what is no sum is absent."""
    left = {key: None if total is None else total - sum(row[key] or 0 for row in rows) for key, total in sums.items()}
    goodput = quantity(left.pop("goodput_bps"), "bit/s")
    return name, goodput, *(ABSENT if each is None else count(each) for each in left.values()), *[ABSENT] * 3


def _listed(row: dict[str, Any]) -> tuple[str, ...]:
    whole = [ABSENT if row[key] is None else count(row[key]) for key in SUMMED[1:]]
    return (
        row.get("label", f"{row['flow']}: {row['group']}"),
        quantity(row["goodput_bps"], "bit/s"),
        *whole,
        quantity(row["mean_cwnd_packets"], "packets"),
        quantity(row["mean_rtt_s"], "s"),
        quantity(row["min_rtt_s"], "s"),
    )


def _traces(observation: Observation) -> Section:
    sentences = []
    for capture in observation.captures:
        name = ", ".join(Path(file).name for file in capture["files"])
        lasted = quantity(capture["duration_s"], "s")
        packed = f", compressed with {' in '.join(capture['compression'])}" if capture["compression"] else ""
        sentences.append(
            f"`{name}`: {capture['format']}{packed}, {count(capture['frames'])} frames or rows in {lasted}."
        )
        sentences += trust.of_capture(capture)
    return Section("The traces, and how far they can be trusted", sentences)


def _close(observation: Observation, shown: Close) -> list[Section]:
    """A flow's section, and folded what only experts ask for; figures carry its number in their names."""
    flow = shown.flow
    place = f"{flow.row['repetition']}-{flow.row['flow']}"
    sentences = trust.of_flow(flow)
    drawings = []
    if flow.windows.size >= 2:
        drawings.append(Chart(f"windows-{place}", "Windows", figures.windows(flow)))
    else:
        sentences.append(say("observed.few_rounds", rounds=counted(flow.windows.size, "round trip")).text)
    for name, title, plot in (
        ("flight", "In flight", figures.in_flight(flow)),
        ("rtt", "Round-trip time", figures.round_trips(flow)),
    ):
        if plot is not None and (name != "flight" or flow.windows.size < 2):
            drawings.append(Chart(f"{name}-{place}", title, plot))
    number, trace = flow.row["flow"], flow.row["repetition"]
    used = limited.window_use(flow, observation.windows(number, trace))
    if used is not None:
        drawings.append(Chart(f"window-{place}", "Sent in a round trip, and the receiver's window", used))
    events = limited.happened(observation.events(number, trace))
    tables: list[Table] = []
    about: list[str] = []
    special: list[Chart] = []
    try:
        bins = flow.loss_function()
        special.append(Chart(f"loss-{place}", "Losses by window", figures.loss_function(bins)))
        tables.append(_changes(flow))
    except InputError as error:
        if flow.windows.size >= 2:
            about.append(f"{error}.")
    for found in shown.found.values():
        special += found.charts
        about += found.sentences
    about.append(absent("variability"))
    own_tables = [_facts(flow), *([events] if events is not None else [])]
    own = Section(f"Flow {number}: {flow.name}", sentences, own_tables, drawings)
    folded = "Losses by window, increase and decrease, spectra"
    model = Section(
        f"Flow {number} as a model sees it", [each for each in about if each], tables, special, closed=folded
    )
    return [own, model] if model.paragraphs or tables or special else [own]


def _facts(flow: TracedFlow) -> Table:
    facts, row = flow.facts, flow.row
    rows = [("began", quantity(row["start_s"], "s")), ("loss rate", _share(row["loss_rate"]))]
    if facts:
        rows += [
            ("delivered", f"{count(facts['delivered_bytes'])} bytes"),
            ("full packet", f"{facts['segment_bytes']} bytes of payload"),
            ("retransmissions", count(row["retransmissions"])),
            ("of these not needed", count(facts["spurious_retransmissions"])),
            ("tail loss probes", count(facts["tail_loss_probes"])),
            ("overtaken packets", count(facts["out_of_order_packets"])),
            ("lost before the capture point", count(facts["lost_before_capture_packets"])),
            ("discarded by the receiver", count(facts["discarded_by_receiver"])),
            ("after their acknowledgement in the file", count(facts["acknowledged_first"])),
            ("handshake RTT", quantity(facts["handshake_rtt_s"], "s")),
            ("RTT samples: 50 %, 95 %, 99 %", _quantiles(row)),
            ("SACK, timestamps", f"{_yes(facts['sack_permitted'])}, {_yes(facts['timestamps'])}"),
            ("probes of a closed window", count(facts["zero_window_probes"])),
            ("largest receive window", quantity(facts["max_receive_window_bytes"], "B")),
            ("end", facts["ending"]),
        ]
    return Table("", ("", "value"), rows)


def _quantiles(row: Mapping[str, Any]) -> str:
    """The RTT that half, 95 % and 99 % of the samples do not exceed, with units."""
    return ", ".join(quantity(row[f"rtt_p{share}_s"], "s") for share in (50, 95, 99))


def _changes(flow: TracedFlow) -> Table:
    changes = flow.changes()
    rows = []
    for label, values, unit in (
        ("increase a round trip", changes.increase, "packets"),
        ("window after a loss over before", changes.factor, ""),
    ):
        if values is None:
            rows.append((label, ABSENT, ""))
        else:
            low, middle, high = (significant(value, 3) for value in values)
            rows.append((label, f"{middle} {unit}".strip(), f"half of them from {low} to {high}"))
    reno = changes.is_reno
    if reno is not None:
        verdict = "yes" if reno else "no"
        rows.append(("as Reno's (+1, 1/2)", verdict, f"{counted(changes.periods, 'period')} without loss"))
    return Table("Increase and decrease", ("", "median", "range"), rows)


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{significant(100 * value)} %"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
