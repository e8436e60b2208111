"""Whether anybody was locked out: who got next to nothing beside the measured connections, in whose network.

A mean over seeds hides a run in which one connection holds the queue and others find no place in it. So the page says
in how many of its runs that was so (`parshall.report.starved`), what part of their traffic the clients kept at the
least, and what share a competing connection had at the least.

| symbol | meaning |
| --- | --- |
| kept | what the clients carry beside the measured connections over what they carry alone, together |
| share | goodput of a competing connection over an equal share of what all flows of its run have |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.foundations.numbers import counted
from parshall.report.description import listed
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale.claims import NAMES
from parshall_studies.multiple_time_scale.grid import Point, Results
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import COMPETING, Network


@dataclass
class Toll:
    """What the runs in a network say.

    Parameters
    ----------
    runs
        How many.
    locked_out
        Runs in which somebody got next to nothing, by who, and beside what.
    kept
        The least part of their own traffic that the clients kept, and beside what.
    share
        The least share of a competing connection, and beside what; None: none competes.
    """

    runs: int = 0
    locked_out: Counter[str] = field(default_factory=Counter)
    kept: tuple[float, str] = (1.0, "")
    share: tuple[float, str] | None = None

    def count(self, point: Point, run: Measured, alone_mbps: float) -> None:
        """One more run."""
        beside = label_of(point)
        self.runs += 1
        self.locked_out.update(f"{group.removeprefix(COMPETING)} beside {beside}" for group in set(run.locked_out))
        self.kept = min(self.kept, (run.background_mbps / alone_mbps, beside))
        if run.least_share is not None:
            here = (run.least_share, beside)
            self.share = here if self.share is None else min(self.share, here)


def label_of(point: Point) -> str:
    """The measured connections of a point."""
    how = "plain" if point.parameters is None else "steered"
    name = NAMES.get(point.control, point.control.replace("_", " "))
    count = f"{point.count} of " if point.count > 1 else ""
    return f"{count}{how} {name} at {point.rtt_ms} ms"


def named(network: Network) -> str:
    """A network in words."""
    window = "no window limit" if network.window is None else f"window limit {network.window}"
    access = "" if network.measured_access or network.stack == "today" else ", unlimited access"
    stack = {"ns2": "", "ns2_later": ", ns-2.35", "today": ", today's TCP"}[network.stack]
    return f"{network.rate_mbps:g} Mbit/s, {window}, buffer {network.buffer}{access}{stack}"


def tolls(results: Results) -> dict[str, Toll]:
    """By network; datagrams apart, as no ACK holds them back."""
    made: dict[str, Toll] = {}
    for point, runs in results.runs.items():
        name = named(point.network) + (", over UDP" if point.datagrams else "")
        toll = made.setdefault(name, Toll())
        for run, normalised in zip(runs, results.backgrounds[point.key], strict=True):
            toll.count(point, run, normalised.alone.background_mbps)
    return made


def checks(results: Results) -> Iterator[Claim]:
    """What the source does not have."""
    for name, toll in tolls(results).items():
        quantities = [
            ("runs in which a connection was locked out", float(toll.locked_out.total())),
            ("least part of their traffic that the clients kept in a run", toll.kept[0]),
            *([("least share of a competing connection in a run", toll.share[0])] if toll.share else []),
        ]
        for quantity, value in quantities:
            note = f"of {toll.runs} runs"
            yield reported("beyond the source", f"{quantity}, {name}", exactly(value), note)


def answer(results: Results) -> str:
    """Whether anybody was locked out."""
    made = tolls(results)
    runs = sum(toll.runs for toll in made.values())
    who = [
        f"{group} ({counted(count, 'run')}; {name})"
        for name, toll in made.items()
        for group, count in toll.locked_out.items()
    ]
    if not who:
        return f"In none of {counted(runs, 'run')} was anybody locked out."
    return f"Connections were locked out in some of {counted(runs, 'run')}: {listed(who)}."


def table(results: Results) -> Table:
    """By network."""
    rows = [
        (
            name,
            f"{toll.runs}",
            f"{toll.locked_out.total()}",
            f"{toll.kept[0]:.0%} ({toll.kept[1]})",
            "" if toll.share is None else f"{toll.share[0]:.2%} ({toll.share[1]})",
        )
        for name, toll in tolls(results).items()
    ]
    header = ("network", "runs", "locked out", "the clients kept at the least", "least share of a competing connection")
    return Table("Who is locked out", header, rows, numbers=(1, 2))


def section(results: Results) -> Section:
    """The answer and the table."""
    return Section(
        "Is anybody locked out?",
        (
            answer(results),
            "Locked out is who has less than 1 % of an equal share, has lost half of what it sent, and has tried for a "
            "while. What the clients kept is what they carry beside the measured connections over what they carry "
            "alone, together; a share is over an equal one of all flows. Both are the least of any single run.",
        ),
        [table(results)],
    )
