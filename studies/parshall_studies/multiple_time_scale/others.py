"""The cost of steering for others: on the source's own network, at 1 Gbit/s with CUBIC of today; and lock-outs.

The source shows that steered connections are fair to each other (Fig. 13), and does not say what plain ones lose
beside them. Here one connection, steered or plain, runs beside an endless one of Reno and one of CUBIC with the same
RTT, and the 32 clients. Every difference is between runs of the same seed. At 1 Gbit/s there are SACK and an initial
window of 10; the clients' files are as heavy-tailed as the source's, bring half of the capacity, and are sent by
CUBIC; the buffer is the bandwidth-delay product of their RTT.

A mean over seeds hides a run in which one connection holds the queue and others find no place in it. So the page says
in how many of its runs that was so (`parshall.report.starved`), what part of their traffic the clients kept (beside the
measured connections over alone, together), and the least share of a competing connection (over an equal one).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.region import exactly
from parshall.analysis.stats.verdict import sign_of
from parshall.foundations.numbers import counted
from parshall.report.description import listed
from parshall.report.document import Section, Table
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import BEYOND, NAMES, beyond, percent, table
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Key, Normalised, Point, Results
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import COMPETING, TODAY, Network
from parshall_studies.multiple_time_scale.rtt import blind
from parshall_studies.multiple_time_scale.setting import STEERED, Setting

BESIDE = ("reno", "cubic")
_NETWORK = ("loss rate", "queueing delay")


def harming(setting: Setting) -> list[Point]:
    """A steered connection beside two that are not."""
    rtts = setting.rtts_ms[0], setting.rtts_ms[-1]
    return [grid.point(setting, each, STEERED, rtt_ms=rtt, competing=BESIDE) for each in BESIDE for rtt in rtts]


def modern() -> list[Point]:
    """The same at 1 Gbit/s."""
    rows = ((control, rtt) for control in ("cubic", "reno") for rtt in (30, 150))
    return [Point(1.05, 500.0, rtt, control, STEERED, network=TODAY, competing=BESIDE) for control, rtt in rows]


def _harm_points(setting: Setting) -> Cases:
    made = harming(setting)
    return grid.cases([*made, *(each.plain for each in made)], setting)


def _modern_points(setting: Setting) -> Cases:
    """Steered, plain, and with the mean slope."""
    return grid.cases([each for point in modern() for each in (point, point.plain, blind(point))], setting)


def losses(found: Results, point: Point) -> dict[str, FloatArray]:
    """Relative changes for the others, by who or what: the clients, each competing connection, loss and delay."""

    def of(control: str) -> FloatArray:
        rows = ([each.competing_mbps[control] for each in found.runs[which]] for which in (point, point.plain))
        after, before = map(np.array, rows)
        return np.asarray(after / before - 1, dtype=np.float64)

    return {
        "clients": found.change(point, "background_mbps"),
        **{f"competing {NAMES[control]}": of(control) for control in point.competing},
        "loss rate": found.change(point, "loss_rate"),
        "queueing delay": found.change(point, "queueing_delay_ms"),
    }


def _harm_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Losses of the others; the source has none of it."""
    found = grid.results(answers)
    made = []
    for point in harming(setting):
        made.append(beyond(f"gain of {_where(point)} beside endless Reno and CUBIC", found.gain(point)))
        made += [beyond(f"{who} beside steered {_where(point)}", row) for who, row in losses(found, point).items()]
    return made


def _modern_claims(answers: Answers, setting: Setting) -> list[Claim]:  # noqa: ARG001 - as other artefacts
    """Gains, whether they are those of prediction, and what the others lose."""
    found = grid.results(answers)
    made = []
    for point in modern():
        name = f"{NAMES[point.control]} (SACK) at 1 Gbit/s, RTT {point.rtt_ms} ms"
        made.append(beyond(f"gain of {name}", found.gain(point)))
        over = found.over(point, blind(point))
        made.append(beyond(f"gain of {name} over the same mean slope without prediction", over))
        made += [beyond(f"{who} beside steered {name}", row) for who, row in losses(found, point).items()]
    return made


def _harm_section(answers: Answers, setting: Setting) -> Section:
    found, made = grid.results(answers), harming(setting)
    text = (
        "One connection beside an endless one of Reno, an endless one of CUBIC with the same RTT, and the clients of 5 "
        "Mbit/s: changes when it is steered."
    )
    return Section("What steering does to others", (text, _others(found, made)), [_table(found, made)])


def _modern_section(answers: Answers, setting: Setting) -> Section:
    found, made = grid.results(answers), modern()
    paying = [each for each in made if sign_of(mean_interval(found.gain(each))) > 0]
    beaten = [_where(each) for each in made if sign_of(mean_interval(found.over(each, blind(each)))) > 0]
    gains = listed([f"{_where(each)} {percent(found.gain(each))}" for each in made])
    prediction = f"for {listed(beaten)}" if beaten else "in none of them"
    text = (
        "At 1 Gbit/s, with CUBIC clients of 500 Mbit/s, SACK and initial windows of 10, beside an endless connection "
        f"of Reno and one of CUBIC ({setting.fast_seeds} seeds of {setting.fast_duration_s:g} s).",
        f"It pays in {len(paying)} of {len(made)} cases: {gains}; prediction gains anything that shows over a slope "
        f"that is always 3.5 {prediction}. {_others(found, made)}",
    )
    return Section("Does it still pay?", text, [_table(found, made)])


def _table(found: Results, points: Sequence[Point]) -> Table:
    columns: dict[str, Callable[[Point], str]] = {
        "steered": lambda point: NAMES[point.control],
        "RTT (ms)": lambda point: f"{point.rtt_ms}",
        "plain (Mbit/s)": lambda point: f"{found.goodput(point.plain).mean():.3g}",
        "gain": lambda point: percent(found.gain(point)),
    }
    more = {who: lambda point, who=who: percent(losses(found, point)[who]) for who in losses(found, points[0])}
    return table("", points, {**columns, **more})


def _others(found: Results, points: Sequence[Point]) -> str:
    """Losses and gains of others that show, in words."""
    changes = [
        (who, f"{who} beside {_where(point)} {percent(row)}", sign_of(mean_interval(row)))
        for point in points
        for who, row in losses(found, point).items()
    ]

    def shown(sign: int, *, network: bool) -> str:
        return listed([text for who, text, is_sign in changes if is_sign == sign and (who in _NETWORK) == network])

    taken, given, costs = shown(-1, network=False), shown(1, network=False), shown(1, network=True)
    return " ".join(
        (
            f"What it takes from others: {taken}." if taken else "Nobody loses anything that shows.",
            f"Who gains by it: {given}." if given else "Nobody else gains.",
            f"What the network pays: {costs}." if costs else "Neither loss rate nor queueing delay grows.",
        )
    )


def _where(point: Point) -> str:
    return f"{NAMES[point.control]} at {point.rtt_ms} ms"


HARM = Artefact("harm", _harm_points, _harm_claims, _harm_section)
MODERN = Artefact("today", _modern_points, _modern_claims, _modern_section)


# --- who is locked out ---


@dataclass
class Toll:
    """The runs in a network: their number, who got next to nothing, and the least that others had."""

    runs: int = 0
    locked_out: Counter[str] = field(default_factory=Counter)
    kept: tuple[float, str] = (1.0, "")
    share: tuple[float, str] | None = None

    def count(self, point: Point, run: Measured, alone_mbps: float) -> None:
        """One more run."""
        how = "plain" if point.parameters is None else "steered"
        name = NAMES.get(point.control, point.control.replace("_", " "))
        beside = f"{f'{point.count} of ' if point.count > 1 else ''}{how} {name} at {point.rtt_ms} ms"
        self.runs += 1
        self.locked_out.update(f"{group.removeprefix(COMPETING)} beside {beside}" for group in set(run.locked_out))
        self.kept = min(self.kept, (run.background_mbps / alone_mbps, beside))
        if run.least_share is not None:
            here = (run.least_share, beside)
            self.share = here if self.share is None else min(self.share, here)


def named(network: Network) -> str:
    """A network in words."""
    window = "no window limit" if network.window is None else f"window limit {network.window}"
    access = "" if network.measured_access or network.stack == "today" else ", unlimited access"
    stack = {"ns2": "", "ns2_later": ", ns-2.35", "today": ", today's TCP"}[network.stack]
    idle = f", idle {network.idle_s:g} s"
    return f"{network.rate_mbps:g} Mbit/s, {window}, buffer {network.buffer}{idle}{access}{stack}"


def tolls(found: Results) -> dict[str, Toll]:
    """By network; datagrams apart, as no ACK holds them back."""
    made: dict[str, Toll] = {}
    for point, runs in found.runs.items():
        toll = made.setdefault(named(point.network) + (", over UDP" if point.datagrams else ""), Toll())
        for run, normalised in zip(runs, found.backgrounds.get(point.key, ()), strict=False):
            toll.count(point, run, normalised.alone.background_mbps)
    return made


def locked_out_claims(answers: Answers, setting: Setting) -> list[Claim]:  # noqa: ARG001 - as other artefacts
    """Lock-outs, and the least that others had; the source has none of it."""
    return list(_tolled(grid.results(answers)))


def _tolled(found: Results) -> Iterator[Claim]:
    for name, toll in tolls(found).items():
        quantities = [
            ("runs in which a connection was locked out", float(toll.locked_out.total())),
            ("least part of their traffic that the clients kept in a run", toll.kept[0]),
            *([("least share of a competing connection in a run", toll.share[0])] if toll.share else []),
        ]
        for quantity, value in quantities:
            yield reported(BEYOND, f"{quantity}, {name}", exactly(value), f"of {toll.runs} runs")


def answer(found: Results) -> str:
    """The connections that were locked out, in words."""
    made = tolls(found)
    runs = counted(sum(toll.runs for toll in made.values()), "run")
    who = [
        f"{group} ({counted(count, 'run')}; {name})"
        for name, toll in made.items()
        for group, count in toll.locked_out.items()
    ]
    if not who:
        return f"In none of {runs} was anybody locked out."
    return f"Connections were locked out in some of {runs}: {listed(who)}."


def locked_out_section(answers: Answers, setting: Setting) -> Section:
    """Lock-outs, and the load of the clients alone after sample-path normalisation (§4.3)."""
    found = grid.results(answers)
    columns: dict[str, Callable[[tuple[str, Toll]], str]] = {
        "network": lambda row: row[0],
        "runs": lambda row: f"{row[1].runs}",
        "locked out": lambda row: f"{row[1].locked_out.total()}",
        "the clients kept at the least": lambda row: "{:.0%} ({})".format(*row[1].kept),
        "least share of a competing connection": lambda row: (
            "{:.2%} ({})".format(*row[1].share) if row[1].share else ""
        ),
    }
    loads: dict[str, Callable[[tuple[Key, Sequence[Normalised]]], str]] = {
        "network": lambda row: named(row[0][2]),
        "for (s)": lambda row: f"{grid.duration(setting, row[0]):g}",
        "tail index": lambda row: f"{row[0][0]:g}",
        "target (Mbit/s)": lambda row: f"{row[0][1]:g}",
        "carried (Mbit/s)": lambda row: _span([each.alone.background_mbps for each in row[1]]),
        "worst error": lambda row: f"{max((each.error for each in row[1]), key=abs):+.1%}",
        "mean sizes (packets)": lambda row: _span([each.background.mean_packets for each in row[1]]),
    }
    return Section(
        "Is anybody locked out?",
        (
            answer(found),
            "Locked out is who has less than 1 % of an equal share, has lost half of what it sent, and has tried for a "
            "while. What the clients kept is what they carry beside the measured connections over what they carry "
            "alone, together; a share is over an equal one of all flows. Both are the least of any single run.",
        ),
        [
            table("Who is locked out", tolls(found).items(), columns),
            table("Normalised backgrounds", found.backgrounds.items(), loads),
        ],
    )


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.3g} to {max(values):.3g}"
