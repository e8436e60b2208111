"""Figures 3, 5, 6, 8 and 9 on real stacks: the kernel's own Reno, BIC, HighSpeed and CUBIC in the source's network.

The network is `SLOWER` times slower than the source's, so that this machine can carry it: rates are divided, times
multiplied. What counts a round trip stays: windows in packets, the load, the buffer, how many round trips an ON time
lasts. What does not scale are the times that a kernel knows (least retransmission timeout, delayed ACKs, the clock of
CUBIC), so the simulator runs both networks: their difference is what scaling does.

Each row has three columns: the source's value, simulated in both networks, and Linux. A run of Linux is one run: it is
held against the interval in which one run of the simulator falls, with `tcp = "linux"`. p(w) and spectra of its flows
are in `real_losses`.

Flows that do not fill this machine are emulated at once, each with a link of its own, which nothing of another crosses.

Cross traffic of datagrams heeds nobody: it is simulated in the same queue as the kernel's flow, so that it comes when
it is due also where this machine is late. The 45 ON/OFF sources of Fig. 6 are the kernel's TCP too. They send at the
rate of `long_range` at each scale, for which its flow loses what the source's did.

References: Loiseau 2010, §4.2, §5.1, §5.3, Figs 3, 5, 6, 8 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import single
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.large_deviations import long_range, network, real_losses
from parshall_studies.large_deviations.constant import FITTING
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.record import Record
from parshall_studies.spectrum import interval_means

SLOWER = 5
"""200 Mbit/s and 60 ms in place of 1 Gbit/s and 12 ms."""
WARM_UP_S = {"quick": 15.0, "paper": 60.0}
SECONDS = {"quick": 75.0, "paper": 3600.0}
"""How long flows are measured on the kernel."""
SEEDS = 8
"""Runs of the simulator that say in which interval one more of them falls."""
WITHIN = 0.05
"""Differences between Linux and the simulator that nobody would act on, over the simulator's value."""
AVERAGED = 100
"""Round trips of the averages whose range is shown."""


@dataclass(frozen=True)
class Artefact:
    """A figure of the source.

    Parameters
    ----------
    name, control
        Which, and the congestion control of its flow.
    link, cross
        Its network, so many times slower; cross traffic at a scale.
    real_cross
        Whether the cross traffic has the TCP of the flow; else it is simulated.
    paced
        Whether the flow's packets are spaced over the round trip, so that its host sends no bursts.
    published
        Quantity of `Summary`, in words, and the source's value.
    """

    name: str
    control: str
    link: Callable[[float], dict[str, Any]]
    cross: Callable[[float, Scale], dict[str, Any]]
    published: tuple[tuple[str, str, float], ...] = ()
    real_cross: bool = False
    paced: bool = False

    def scenario(self, slower: float, scale: Scale, seed: int, rules: Mapping[str, Any]) -> Scenario:
        """Of as many round trips in each network."""
        return at_once([self], slower, scale, seed, rules)

    def flows(self, slower: float, scale: Scale, rules: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Its flow, which has its name, and the cross traffic, on the link of its name."""
        tcp = {**network.TCP, "rtt": f"{12 * slower:g} ms", "congestion_control": self.control, **rules}
        if self.paced:
            # A socket with a largest rate spaces its packets, as with ``fq``; that of its link changes no more.
            rate = self.link(slower)["rate"]
            tcp |= {"pacing": True} if "tcp" in rules else {"kernel": {"pacing": rate}}
        cross = {**self.cross(slower, scale), **(rules if self.real_cross else {"endpoint": "simulated"})}
        return [{**tcp, "name": self.name, "path": [self.name]}, {**cross, "name": self.among, "path": [self.name]}]

    @property
    def among(self) -> str:
        """The name of its cross traffic."""
        return f"{self.name}-cross"


def at_once(
    artefacts: Sequence[Artefact], slower: float, scale: Scale, seed: int, rules: Mapping[str, Any]
) -> Scenario:
    """Some artefacts side by side, each on its own link; `rules` are keys of their flows: whose TCP they have."""
    warm_up_s = WARM_UP_S[scale] * slower / SLOWER
    return network.declared(
        [{"name": each.name, **each.link(slower)} for each in artefacts],
        [group for each in artefacts for group in each.flows(slower, scale, rules)],
        warm_up_s + SECONDS[scale] * slower / SLOWER,
        probes=network.probes_of_record(PAPER["rtt_s"] * slower),
        seed=seed,
        warm_up_s=warm_up_s,
    )


def _constant_link(slower: float) -> dict[str, Any]:
    return {**network.LINK, "rate": f"{round(FITTING.link_bps / slower)} bit/s"}


def _constant_cross(slower: float, _: Scale) -> dict[str, Any]:
    workload = {"name": "cbr", "rate": f"{round(FITTING.cross_bps / slower)} bit/s"}
    return {"name": "udp", "rtt": f"{12 * slower:g} ms", "packet_size": "1500 B", "workload": workload}


def _link(slower: float) -> dict[str, Any]:
    return {**network.LINK, "rate": f"{round(PAPER['capacity_bps'] / slower)} bit/s"}


def _sources(slower: float, scale: Scale) -> dict[str, Any]:
    return long_range.SETTLED[scale].sources(slower)


def _on_off(slower: float, _: Scale) -> dict[str, Any]:
    return network.as_payload(slower)


def _ethernet(slower: float) -> dict[str, Any]:
    return network.ethernet(slower=slower)


def _ethernet_55(slower: float) -> dict[str, Any]:
    return network.ethernet(55, slower)


def _ethernet_45(slower: float) -> dict[str, Any]:
    return network.ethernet(45, slower)


_LOW, _HIGH = PAPER["constant_range"]
ARTEFACTS = (
    Artefact(
        "fig3",
        "reno",
        _constant_link,
        _constant_cross,
        (
            ("lowest", "lowest window, packets", _LOW),
            ("highest", "highest window, packets", _HIGH),
            ("window", "mean window, packets", PAPER["constant_mean"]),
        ),
    ),
    Artefact("fig5", "reno", _ethernet, _on_off),
    Artefact("fig6", "reno", _link, _sources, real_cross=True),
    *(
        Artefact(f"fig9{letter}", control, _ethernet, _on_off)
        for letter, control in (("a", "bic"), ("b", "highspeed"), ("c", "cubic"))
    ),
    *(
        Artefact(f"fig5-{words}", "reno", link, _on_off, paced=words == "paced")
        for words, link in (("buffer-55", _ethernet_55), ("buffer-45", _ethernet_45), ("paced", _ethernet))
    ),
)
"""The last three are factors of Fig. 5: how much of the buffer an arrival finds (`on_off`), and whether the host of the
flow sends bursts."""


@dataclass(frozen=True)
class Summary:
    """Of a flow: windows at the RTT rate, packets and loss events a round trip, extremes of averages over `AVERAGED`.

    `of_model`: losses over those of eq. (11); `later`: P(loss) in the round trip after a recovery, NaN where there was
    none. The record is kept of runs that are drawn.
    """

    lowest: float
    highest: float
    window: float
    mean: float
    losses: float
    of_model: float
    later: float
    range: tuple[float, float]
    record: Record | None


def summaries(run: Run, names: Sequence[str], warm_up_s: float, *, drawn: bool) -> dict[str, Summary]:
    """What is compared of the flows of some artefacts."""
    return {name: _summary(network.record_of(run, name, warm_up_s), drawn=drawn) for name in names}


def _summary(record: Record, *, drawn: bool) -> Summary:
    averages = interval_means(record.throughput, AVERAGED)
    return Summary(
        float(record.window.min()),
        float(record.window.max()),
        float(record.cwnd.mean()),
        record.mean,
        float(record.events.mean()),
        real_losses.of_model(record),
        real_losses.later(record),
        (float(averages.min()), float(averages.max())),
        record if drawn else None,
    )


def cases(scale: Scale) -> dict[Any, Case]:
    """Of each artefact: the source's network, the slower one with some seeds; and Linux, alone or at once."""
    declared: dict[Any, Case] = {}
    warm_up_s = WARM_UP_S[scale]
    for each in ARTEFACTS:
        label = f"{each.name}: {each.control}"
        source = each.scenario(1, scale, 1, stacks.PROFILE)
        declared[each.name, "source"] = _simulated(f"{label}, the source's network", source, each, warm_up_s / SLOWER)
        for seed in range(1, SEEDS + 1):
            scenario = each.scenario(SLOWER, scale, seed, stacks.PROFILE)
            declared[each.name, seed] = _simulated(
                f"{label}, slower network", scenario, each, warm_up_s, drawn=seed == 1
            )
    for bed in beds():
        names = tuple(each.name for each in bed)
        label = f"{', '.join(names)}: Linux"
        declared[names] = emulated(label, at_once(bed, SLOWER, scale, 1, {}), _drawn, names, warm_up_s)
    return declared


def beds() -> list[list[Artefact]]:
    """What is emulated at once: figures, the factors of Fig. 5, and, alone, what fills this machine."""
    possible = [each for each in ARTEFACTS if stacks.missing(each.control) is None]
    figures, factors = (
        [each for each in possible if not each.real_cross and (each.name in real_losses.PANELS) is drawn]
        for drawn in (True, False)
    )
    return [figures, factors, *([each] for each in possible if each.real_cross)]


def _simulated(label: str, scenario: Scenario, artefact: Artefact, warm_up_s: float, *, drawn: bool = False) -> Case:
    return simulated(label, scenario, _drawn if drawn else _plain, (artefact.name,), warm_up_s)


def _drawn(run: Run, names: Sequence[str], warm_up_s: float) -> dict[str, Summary]:
    return summaries(run, names, warm_up_s, drawn=True)


def _plain(run: Run, names: Sequence[str], warm_up_s: float) -> dict[str, Summary]:
    return summaries(run, names, warm_up_s, drawn=False)


@dataclass(frozen=True)
class Answered:
    """An artefact's answers: simulated in the source's network and in the slower one, a value a seed; and Linux."""

    artefact: Artefact
    source: Summary
    slower: list[Summary]
    linux: Emulated | None

    @classmethod
    def all(cls, answers: Mapping[Any, Any]) -> list[Answered]:
        """Of each artefact."""
        real = {
            name: Emulated(summary, emulation.validity)
            for emulation in answers.values()
            if isinstance(emulation, Emulated)
            for name, summary in emulation.answer.items()
        }
        return [
            cls(
                each,
                answers[each.name, "source"][each.name],
                [answers[each.name, seed][each.name] for seed in range(1, SEEDS + 1)],
                real.get(each.name),
            )
            for each in ARTEFACTS
        ]


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Three columns for each artefact, then what its flow loses and how its throughput varies."""
    checks: list[Claim] = []
    rows, remarks = [], []
    every = Answered.all(answers)
    for each in every:
        artefact, linux = each.artefact, each.linux
        if artefact.published:
            published = (f"{value:.0f}" for _, _, value in artefact.published)
            rows.append((f"{artefact.name}, {artefact.control}", "the source", *published, "", "", ""))
        rows.append(_row(artefact, "simulated, the source's network", each.source))
        rows.append(_row(artefact, f"simulated, {SLOWER} times slower", each.slower[0]))
        if linux is None:
            remarks.append(f"{artefact.name}: Linux is left out, since {stacks.missing(artefact.control)}.")
            continue
        rows.append(_row(artefact, stacks.column(linux), linux.answer))
        remarks += stacks.remarks([(artefact.name, linux)])
        if stacks.usable(linux):
            checks += _published(artefact, each.source, each.slower[0], linux)
            checks += _between(artefact, each.slower, linux)
    text = (
        f"The source's network, {SLOWER} times slower: rates are divided, times multiplied, so that windows, loads and "
        "the buffer in packets stay. Linux has its own TCP at both ends of the flow; BIC and HighSpeed, which it no "
        "longer brings, are loaded into it. The cross traffic is datagrams, which heed nobody, and is simulated in the "
        "same queue; but for Fig. 6, whose 45 ON/OFF sources have the TCP of Linux as well. "
        'The simulator has TCP as Linux has it, `tcp = "linux"`, in both networks.',
        "Factors of Fig. 5 are the buffer that an arrival finds, 55 and 45 packets instead of 96, and bursts of the "
        "host: the paced flow's packets are spaced over the round trip.",
        f"A run of Linux differs from the simulator where it is outside of the interval in which one more of {SEEDS} "
        f"simulated runs falls, by {100 * WITHIN:.0f} % at least.",
        *remarks,
    )
    header = (
        "figure",
        "where",
        "lowest window",
        "highest",
        "mean",
        "packets per RTT",
        "losses per RTT",
        "means of 100",
    )
    table = Table("Packets", header, rows, numbers=range(2, 8))
    sections = [Section("On real stacks", text, [table])]
    for each in every:
        simulated_record = each.slower[0].record
        if each.artefact.name not in real_losses.PANELS:
            continue
        if each.linux is not None and simulated_record is not None and stacks.usable(each.linux):
            record = Emulated(each.linux.answer.record, each.linux.validity)
            simulated_losses = real_losses.Simulated(
                simulated_record,
                [one.of_model for one in each.slower],
                [one.later for one in each.slower],
                PAPER["rtt_s"] * SLOWER,
            )
            own, section = real_losses.of_flow(each.artefact.name, each.artefact.control, simulated_losses, record)
            checks += own
            sections.append(section)
    return Findings(checks, sections)


def _row(artefact: Artefact, where: str, summary: Summary) -> tuple[str, ...]:
    low, high = summary.range
    return (
        f"{artefact.name}, {artefact.control}",
        where,
        *(f"{each:.0f}" for each in (summary.lowest, summary.highest, summary.window, summary.mean)),
        f"{summary.losses:.4f}",
        f"{low:.0f} .. {high:.0f}",
    )


def _published(artefact: Artefact, source: Summary, slower: Summary, linux: Emulated) -> list[Claim]:
    """Linux beside the source's own values."""
    checks: list[Claim] = []
    for key, quantity, published in artefact.published:
        here, there, ours = (float(getattr(each, key)) for each in (source, slower, linux.answer))
        note = f"simulated: {here:.0f} in the source's network, {there:.0f} in the slower one; {linux.validity.level}"
        reading = f"{kernel_name()}, {SLOWER} times slower"
        check = equal(
            artefact.name,
            quantity,
            published,
            single(ours),
            within=PAPER.within("window", published),
            note=note,
            reading=reading,
        )
        checks += stacks.by_one_instrument([check], [replace(check, value=single(there))])
    return checks


def _between(artefact: Artefact, slower: list[Summary], linux: Emulated) -> list[Claim]:
    """Linux beside the simulator: ours against ours, which counts as nothing published."""
    name, control = f"{artefact.name}-linux", artefact.control
    return [
        stacks.attribute_beside_simulated(name, f"{control} on Linux: {quantity}", linux, key, slower, share=WITHIN)
        for key, quantity in (("mean", "packets per RTT"), ("losses", "loss events per RTT"))
    ]


PART = Part("on real stacks", cases, findings, emulates=True)
