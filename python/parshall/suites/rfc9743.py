"""RFC 9743: what is asked of a new congestion control before it is used on the Internet.

The RFC asks that its criteria (§5) are considered on drop-tail queues (§6.1), on paths that lose packets (§6.4), under
queue management (§7.1) and elsewhere, over a range of rates, delays and queues (§6). It has no thresholds, but the one
packet a round trip of §5.1.1: the community judges. The bounds here are therefore ours, and wide: a control that misses
one has to be explained, and is not thereby refused. Most are ratios to the standard controls, Reno and CUBIC, in the
same place and with the same random numbers; of the two it is the one with the worse value that counts.

What of the RFC is asked here, with which bounds, and what is not: docs/suites.md.

References: M. Duke, G. Fairhurst (eds.), RFC 9743 (BCP 133), 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from parshall.analysis.stats import claim_rules
from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.estimates import Censored, Series
from parshall.analysis.stats.quantiles import pooled_quantile
from parshall.foundations.errors import InputError
from parshall.instruments.simulation import Run
from parshall.report.document import Section
from parshall.results.quantities.measuring import series_of
from parshall.scenario import Scenario
from parshall.scenario.properties import title
from parshall.studies.study import Case, Findings, Part, Scale, simulated

STANDARD = ("reno", "cubic")
"""RFC 5681 and RFC 9438, which §5.2.1 names."""
MANAGED = ("codel", "fq_codel", "pie")
"""§7.1 names FQ-CoDel and PIE; CoDel is what the former has in each queue."""

Values = Mapping[str, Sequence[float | None]]
"""Of quantities, one a repetition; None where there is none."""
Answers = Mapping[Any, Values]
OverStandard = Callable[..., list[float | None]]

_PACKET_BITS = 12_000


@dataclass(frozen=True)
class Path:
    """A bottleneck and the round trip over it."""

    rate_mbps: float
    rtt_ms: float

    def __str__(self) -> str:
        return f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms"

    def scenario(self, scale: Scale, flows: Sequence[Mapping[str, Any]], limit_bdp: float, **link: Any) -> Scenario:
        """Flows over it, with a drop-tail queue unless `link` says otherwise."""
        queue = {"name": "drop_tail", "limit": f"{limit_bdp:g} BDP"}
        duration_s, repetitions = {"quick": (40, 5), "paper": (120, 10)}[scale]
        return Scenario.from_document(
            {
                "duration": f"{duration_s} s",
                "warm_up": "10 s",
                "repetitions": repetitions,
                "bottleneck": {"rate": f"{self.rate_mbps:g} Mbit/s", "queue": queue, **link},
                "flows": [{"rtt": f"{self.rtt_ms:g} ms", "start": {"uniform": "1 s"}, **flow} for flow in flows],
                "probes": {"flow_samples": False, "link_samples": False, "latency": False},
            }
        )


PATHS: Mapping[Scale, Sequence[Path]] = {
    "quick": (Path(12, 50),),
    "paper": (Path(12, 50), Path(100, 20), Path(50, 200)),
}


def parts(subject: str) -> list[Part]:
    """The suite for a congestion control."""
    return [
        Part("alone and among its own", _cases(_alone, subject), _findings(_of_alone, subject)),
        Part("beside Reno and CUBIC", _cases(_mixed, subject), _findings(_of_mixed, subject)),
        Part("under queue management", _cases(_managed, subject), _findings(_of_managed, subject)),
    ]


def measured(run: Run, *keys: str) -> Values:
    """Values of quantities by repetition, and lower bounds of durations of which too few ended (`least`)."""
    bounds = {least(key): _least(series, run) for key, series in series_of(run.tables, keys).items()}
    return {key: _values(run, key) for key in keys} | {key: values for key, values in bounds.items() if values}


def least(key: str) -> str:
    """Under which name `measured` has what a quantile of durations is at least."""
    return f"least/{key}"


def _least(series: Series, run: Run) -> list[float | None]:
    """The quantile as if what was cut off had ended then, by repetition.

    The true one is not below it, whatever cut them off. Empty where all ended, and of quantities without durations.
    """
    if not isinstance(series, Censored) or series.probability is None:
        return []
    if all(each.all_ended for each in series.durations.values()):
        return []
    found = pooled_quantile({number: each.lasted for number, each in series.durations.items()}, series.probability)
    return [None if found is None else found.by_repetition.get(number) for number in run.repetitions]


def _values(run: Run, key: str) -> list[float | None]:
    try:
        values = run.quantity(key).values
    except InputError:  # nothing passed
        values = {}
    return [values.get(number) for number in run.repetitions]


def sent_a_round_trip(run: Run) -> Values:
    """Packets that the flow sends a round-trip time after the warm-up."""
    scenario = run.scenario.resolved
    round_trips = (scenario.duration_ps - scenario.warm_up_ps) / scenario.flows[0].rtt_ps["constant"]
    return {"sent": [packets / round_trips for packets in run.flows.sort("repetition")["packets_sent"]]}


GOODPUT, USED, DELAY, LOSS = (
    "goodput_bps",
    *(f"link/bottleneck/{key}" for key in ("utilisation", "queueing_delay_s", "loss_rate")),
)

TIMES = ("group/short/completion_p50_s", "group/short/completion_p95_s")
"""Of all short flows, those too that had not ended: the mean of those that ended would reward whoever starves some."""
STATISTICS = ("median", "95th percentile")

Declared = Iterator[tuple[Any, Case]]


def _alone(path: Path, scale: Scale, subject: str) -> Declared:
    for name in dict.fromkeys((subject, *STANDARD)):
        own = {"name": "own", "congestion_control": name}
        four, short = {**own, "count": 4}, _short(path, name)

        def case(
            what: str, flows: Sequence[Mapping[str, Any]], limit_bdp: float, *keys: str, name: str = name, **link: Any
        ) -> tuple[Any, Case]:
            scenario = path.scenario(scale, flows, limit_bdp, **link)
            return (what, name), simulated(f"{name}, {what}", scenario, measured, *keys)

        lossy = {"name": "bernoulli", "probability": 0.01}
        yield case("one flow at 4 BDP", [own], 4, DELAY)
        yield case("four flows at 0.5 BDP", [four], 0.5, LOSS)
        yield case("four flows at 1 BDP", [four], 1, USED, "jain")
        yield case("short flows", [own, short], 1, *TIMES)
        yield case("1 % lost", [own], 2, GOODPUT, loss=lossy)
    control = {"congestion_control": subject}
    quarter = {**control, "name": "near", "rtt": f"{path.rtt_ms / 4:g} ms"}
    both = path.scenario(scale, [quarter, {**control, "name": "far"}], 1)
    keys = ("group/near/flow_goodput_bps", "group/far/flow_goodput_bps")
    yield "two round-trip times", simulated(f"{subject}, two round-trip times", both, measured, *keys)
    half = path.scenario(scale, [control], 2, loss={"name": "bernoulli", "probability": 0.5})
    yield "half lost", simulated(f"{subject}, half of the packets lost", half, sent_a_round_trip)


def _short(path: Path, control: str) -> dict[str, Any]:
    """Transfers of 30 kB, which take a tenth of the link."""
    arrivals = 0.1 * path.rate_mbps * 1e6 / (30_000 * 8)
    load = {"name": "open_loop", "arrivals_per_s": arrivals, "size": {"name": "constant", "value": "30 kB"}}
    return {"name": "short", "congestion_control": control, "workload": load}


def _of_alone(answers: Answers, subject: str) -> Iterator[Claim]:
    yield _criterion("§5.1.1", "packets a round trip where half are lost", answers["half lost"]["sent"], 1.0)
    over_higher, over_lower = (_over_standard(answers, subject, which) for which in (max, min))
    yield _criterion("§5.1.2", "queueing delay over the standard ones'", over_higher("one flow at 4 BDP", DELAY), 1.1)
    yield _criterion("§5.1.3", "loss rate over the standard ones'", over_higher("four flows at 0.5 BDP", LOSS), 2.0)
    four = answers["four flows at 1 BDP", subject]
    yield _criterion("§5.1.4", "Jain's index of four flows", four["jain"], 0.8, at_least=True)
    near, far = answers["two round-trip times"].values()
    yield _criterion("§5.1.4", "goodput at a quarter of the round-trip time, over that at all of it", _over(near, far))
    for statistic, key in zip(STATISTICS, TIMES, strict=True):
        short, longer_than = over_higher("short flows", key), over_higher("short flows", key, least(key))
        quantity = f"{statistic} of short flows' time over the standard ones'"
        yield _criterion("§5.1.5", quantity, short, 1.5, longer_than=longer_than)
    yield _criterion("§6.1", "used share of the link, four flows", four[USED], 0.9, at_least=True)
    yield _criterion(
        "§6.4", "goodput over the standard ones', 1 % lost", over_lower("1 % lost", GOODPUT), 0.9, at_least=True
    )


def _mixed(path: Path, scale: Scale, subject: str) -> Declared:
    keys = ("group/rival/flow_goodput_bps", DELAY)
    for name in dict.fromkeys((subject, *STANDARD)):
        long = {"name": "long", "congestion_control": name}
        for rival in STANDARD:
            beside = path.scenario(scale, [long, {"name": "rival", "congestion_control": rival}], 1)
            yield (rival, name), simulated(f"{title(rival)} beside {name}", beside, measured, *keys)
        shorts = path.scenario(scale, [long, _short(path, "reno")], 1)
        yield ("short", name), simulated(f"Reno's short flows beside {name}", shorts, measured, *TIMES)


def _of_mixed(answers: Answers, subject: str) -> Iterator[Claim]:
    goodput = "group/rival/flow_goodput_bps"
    for rival in STANDARD:
        beside, own = answers[rival, subject], answers[rival, rival]
        name = title(rival)
        kept = _over(beside[goodput], own[goodput])
        yield _criterion("§5.2.1", f"goodput of {name}, over that beside its own kind", kept, 0.5, at_least=True)
        delay = _over(beside[DELAY], own[DELAY])
        yield _criterion("§5.2.1", f"queueing delay of {name}, over that beside its own kind", delay, 1.5)
    over_higher = _over_standard(answers, subject, max)
    for statistic, key in zip(STATISTICS, TIMES, strict=True):
        quantity = f"{statistic} of the time of Reno's short flows, over that beside the standard ones"
        longer_than = over_higher("short", key, least(key))
        yield _criterion("§5.2.3", quantity, over_higher("short", key), 1.5, longer_than=longer_than)


def _managed(path: Path, scale: Scale, subject: str) -> Declared:
    for queue in MANAGED:
        for name in dict.fromkeys((subject, *STANDARD)):
            four = path.scenario(scale, [{"count": 4, "congestion_control": name}], 1, queue=queue)
            yield (queue, name), simulated(f"{name}, {title(queue)}", four, measured, GOODPUT, DELAY)


def _of_managed(answers: Answers, subject: str) -> Iterator[Claim]:
    over_higher, over_lower = (_over_standard(answers, subject, which) for which in (max, min))
    for queue in MANAGED:
        under = f"under {title(queue)}, over the standard ones'"
        yield _criterion("§7.1", f"goodput {under}", over_lower(queue, GOODPUT), 0.9, at_least=True)
        yield _criterion("§7.1", f"queueing delay {under}", over_higher(queue, DELAY), 1.5)


# --- what all parts share ---


def _cases(declared: Callable[[Path, Scale, str], Declared], subject: str) -> Callable[[Scale], Mapping[Any, Case]]:
    return lambda scale: {(path, key): case for path in PATHS[scale] for key, case in declared(path, scale, subject)}


def _findings(
    criteria: Callable[[Answers, str], Iterator[Claim]], subject: str
) -> Callable[[Mapping[Any, Any], Scale], Findings]:
    def made(answers: Mapping[Any, Any], scale: Scale) -> Findings:
        every: list[Claim] = []
        for path in PATHS[scale]:
            own = {key: answer for (where, key), answer in answers.items() if where == path}
            every += [_at(path, each) for each in criteria(own, subject)]
        return Findings(every, [] if criteria is not _of_alone else [_about()])

    return made


def _at(path: Path, each: Claim) -> Claim:
    return replace(each, quantity=f"{each.quantity}; {path}")


def _about() -> Section:
    return Section(
        "What is asked, and by whom",
        (
            "The RFC has no thresholds but the one packet a round trip of §5.1.1; the other bounds are this suite's, "
            "and wide. A control that misses one has to be explained. The standard ones are Reno and CUBIC, in the "
            "same place with the same random numbers; of the two the worse value counts.",
            "Not asked here: real-time flows, tunnels, paths that change or reorder, misbehaving nodes, multipath. "
            "What must hold of a control without a network is asked by parshall check-control.",
        ),
    )


def _criterion(
    section: str,
    quantity: str,
    values: Sequence[float | None],
    bound: float | None = None,
    *,
    at_least: bool = False,
    longer_than: Sequence[float | None] = (),
) -> Claim:
    """The claim of a criterion; `longer_than`: what the values exceed, if they themselves are not known."""
    known = [value for value in values if value is not None]
    value = mean_interval(known) if known and len(known) == len(values) else None
    asked_by = f"RFC 9743 {section}"
    having = f"{len(known)} of {len(values)} repetitions have a value" if value is None else ""
    if bound is None:
        return reported(asked_by, quantity, value, having, basis="asked")
    note = "the RFC's bound" if section == "§5.1.1" else "bound of this suite"
    rule = claim_rules.at_least if at_least else claim_rules.at_most
    if value is None and (beyond := [each for each in longer_than if each is not None]):
        exceeded = rule(asked_by, quantity, bound, mean_interval(beyond), f"{note}; at least that: too few ended")
        if len(beyond) == len(values) and exceeded.outcome == "fails":
            return exceeded
        having = f"{having}: too few ended"
    return rule(asked_by, quantity, bound, value, f"{note}; {having}" if having else note)


def _over(values: Sequence[float | None], reference: Sequence[float | None]) -> list[float | None]:
    """Ratios, repetition by repetition."""
    pairs = zip(values, reference, strict=True)
    return [None if value is None or not other else value / other for value, other in pairs]


def _over_standard(answers: Answers, subject: str, worse: Callable[[Sequence[Any]], float]) -> OverStandard:
    """A function that gives, for a case and a quantity, the subject's values over the worse of the standard ones'.

    The subject's own may be those of a third name, as what its durations are at least.
    """

    def ratio(what: str, key: str, own: str = "") -> list[float | None]:
        standard = zip(*(answers[what, name][key] for name in STANDARD), strict=True)
        worst = [None if None in pair else worse(pair) for pair in standard]
        values = answers[what, subject].get(own or key)
        return [None] * len(worst) if values is None else _over(values, worst)

    return ratio
