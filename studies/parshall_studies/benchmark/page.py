"""The page of the benchmark: the answer, what was run, then each application: its score, its classes, its pictures."""

from __future__ import annotations

from collections.abc import Sequence

from parshall.analysis.stats.confidence import Interval
from parshall.foundations.numbers import counted, with_half_width
from parshall.foundations.version import __version__
from parshall.report.comparing import family
from parshall.report.document import Document, Section, Table
from parshall_studies.benchmark import score
from parshall_studies.benchmark.benchmark import RIVALS, CaseResult, Result
from parshall_studies.benchmark.discrimination import Discrimination, discrimination, sufficient
from parshall_studies.benchmark.estimate import duration
from parshall_studies.benchmark.pictures import overview, pictures
from parshall_studies.benchmark.score import BY_KEY, Measure

_REFERENCE = ("Guillier, Hablot & Vicat-Blanc Primet 2007", "INRIA RR-6244")
_OVERALL = ("unpredictability", "jain", "start_up_s", "convergence_s", "queueing_delay_s", "loss_rate")
_RANKED = ("completion_sd_s", "completion_min_s", "completion_max_s", "unpredictability", "jain")
_GOODPUT = ("file_goodput_bps", "flow_goodput_sd_bps", "aggregate_bps", "efficiency", "start_up_s", "convergence_s")
_BOTTLENECK = ("queueing_delay_s", "queueing_delay_p99_s", "loss_rate")


def page(result: Result, before: Sequence[Section] = (), hosts: str = "simulated") -> Document:
    """The page of a result.

    Parameters
    ----------
    before
        Sections that come first.
    hosts
        Whose TCP it is.
    """
    differences = score.Differences.of_result(result)
    drawn = overview(result, _by_speed(result), differences)
    opening = [Section("Where controls are slower", figures=[drawn], name="glance", is_opening=True)] if drawn else []
    sections = [*opening, *before, _answer(result, differences), _about(result, differences)]
    sections.append(_calibration(result, differences))
    for _, cases in _by_application(result):
        sections += [_application(result, cases, differences), _classes(result, cases, differences)]
        sections.append(_further(result, cases, differences))
        sections.append(pictures(result, cases))
    byline = (
        hosts,
        f"scale {result.scale}",
        f"{result.repetitions} repetitions",
        duration(result.wall_s),
        f"Parshall {__version__}",
        *_REFERENCE,
    )
    about = f"Congestion controls compared: {', '.join(result.controls)}."
    return Document("itb", "ITB: transport benchmark", about, byline, sections, finding=finding(result, differences))


def finding(result: Result, differences: score.Differences) -> str:
    """Who is fastest over all, where that is so, and whether it can be told: in a few sentences."""
    order, overall = _by_speed(result), score.relative(result.cases, result.controls)
    if not overall:
        return ""
    count = len(result.cases)
    index = with_half_width(*_mean_and_half(overall[order[0]]))
    tied = score.tied(result.cases, order[0], order[1:], result.at_least)
    cases = counted(count, "case")
    sentences = [
        f"{order[0]} is fastest over {cases} on average, and not shown to differ from {_listed(tied)}."
        if tied
        else f"{order[0]} is the fastest over {cases}: completion times are {index} times the average control's."
    ]
    if len(order) > 1 and order[-1] not in tied:
        last = with_half_width(*_mean_and_half(overall[order[-1]]))
        sentences.append(f"The slowest is {order[-1]}, with {last} times the average.")
    shared = score.best_or_as_good(result.cases, result.controls, differences)
    most = max(shared.values())
    best = [each for each in order if shared[each] == most]
    sentences.append(f"Best, or not shown to differ from the best, most often: {_listed(best)} ({most} of {cases}).")
    verdicts = [discrimination(each, result.controls, differences, result.at_least).verdict for each in result.cases]
    if alike := verdicts.count("not shown"):
        sentences.append(f"In {alike} of {count} no two controls are shown to differ.")
    return " ".join(sentences)


def _by_speed(result: Result) -> list[str]:
    """The controls, the fastest over all cases first; those that have no completion time last."""
    overall = score.relative(result.cases, result.controls)
    return sorted(result.controls, key=lambda each: overall[each].mean if each in overall else float("inf"))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _by_application(result: Result) -> list[tuple[str, list[CaseResult]]]:
    names = dict.fromkeys(each.case.application.name for each in result.cases)
    return [(name, [each for each in result.cases if each.case.application.name == name]) for name in names]


def _answer(result: Result, differences: score.Differences) -> Section:
    """Who is fastest where, and how sure that is."""
    groups = _by_application(result)
    indices = {name: score.relative(cases, result.controls) for name, cases in groups}
    overall = score.relative(result.cases, result.controls)
    shared = score.best_or_as_good(result.cases, result.controls, differences)
    order = sorted(overall, key=lambda control: overall[control].mean)
    count = len(result.cases)
    sentences = []
    for name, cases in groups:
        index = indices[name]
        first = min(index, key=lambda control: index[control].mean)
        equal = score.tied(cases, first, [each for each in index if each != first], result.at_least)
        tied = f"; not shown to differ from it: {', '.join(f'`{each}`' for each in equal)}" if equal else ""
        title = cases[0].case.application.title.lower()
        sentences.append(f"{name} ({title}): `{first}`, {with_half_width(*_mean_and_half(index[first]))}{tied}.")
    header = ["control", "all", *(name for name, _ in groups), f"best or as good, of {count} cases"]
    rows = [
        [
            f"`{control}`",
            _cell(overall[control]),
            *(_cell(indices[name].get(control)) for name, _ in groups),
            str(shared[control]),
        ]
        for control in order
    ]
    table = Table("Completion time over that of the average control", header, rows, numbers=range(1, len(header)))
    text = (
        "Shortest mean completion time over the classes, relative to the mean of all controls (1 is average), by "
        "application:",
        *sentences,
        "Speed is not all: what it costs competing Reno and CUBIC, predictability, fairness and delay are in the score "
        "of each application below.",
    )
    odd = any(each.case.odd for each in result.cases)
    marked = ("Cases with factors that are not standard are marked; what that means stands in the next section.",)
    return Section("The answer", (*text, *(marked if odd else ())), [table])


def _about(result: Result, differences: score.Differences) -> Section:
    scale = result.cases[0].case.scale
    k, access = scale.aggregation, scale.access_bps
    size = (
        f"Scale {scale.name}: K = 10 with C_a = {access[10.0] / 1e6:g} Mbit/s; for the source's K = 1000, "
        f"K = {k[1000.0]:g} with C_a = {access[1000.0] / 1e6:g} Mbit/s. A bulk file takes {scale.bulk_s:g} s at C_a, "
        f"PA sends {scale.messages} messages, of WM and PP the first {scale.rounds} files of each source are timed."
    )
    small = (
        "Quick sizes are scaled down: windows are a hundredth of those at 10 Gbit/s, so what only shows at high "
        "bandwidth-delay products (Reno's slow growth) is weaker here than at paper scale. C_g, R and the RTTs are "
        "those of the source."
    )
    paired = (
        "Every comparison is paired: all controls had the same random numbers in each repetition. A control has the "
        "rank of the best (=) where it is not shown to differ from it."
    )
    if differences.tested:
        paired += f" Of completion times {family(differences.tested)}"
    lower = (
        "Files that were not complete at the end count with the time they had: where less than 100 % finished, "
        "completion times are lower bounds and goodputs upper ones, and spread and fairness have no value. Nor have "
        "start-up and convergence that were not seen in every repetition."
    )
    paragraphs = [size, *([small] if scale.name == "quick" else []), paired, lower]
    tables = []
    listed: dict[str, dict[str, list[str]]] = {}
    for each in result.cases:
        if each.case.odd:
            letters = listed.setdefault(", ".join(each.case.odd), {})
            letters.setdefault(each.case.application.name, []).append(each.case.itb_class.name)
    if listed:
        paragraphs.append(
            "Not standard: these factors are outside Table 5 of the source, and results with them cannot be held "
            "against those of others."
        )
        rows = [(factors, _cases_of(letters)) for factors, letters in listed.items()]
        tables.append(Table("Factors that are not standard", ("factors", "cases"), rows))
    return Section("What was run", paragraphs, tables)


def _calibration(result: Result, differences: score.Differences) -> Section:
    """Which classes say something about the controls, TU first: it is the source's calibration."""
    discriminations = [discrimination(each, result.controls, differences, result.at_least) for each in result.cases]
    discriminations.sort(key=lambda each: each.case.case.application.name != "TU")
    rows = [_calibrated(each) for each in discriminations]
    header = (
        "application",
        "class",
        "tells controls apart",
        "pairs that differ",
        "slowest over fastest",
        "goodput over C_a, lowest to highest control",
    )
    text = [
        "A class in which no two controls are shown to differ says nothing about the controls. Where repetitions are "
        f"copies of each other, there is no noise, and differences of more than {100 * result.at_least:g} % count.",
    ]
    enough = sufficient(result.cases, result.controls, differences, result.at_least)
    if enough.cases:
        text.append(
            f"Of {enough.pairs} pairs of controls {enough.told} are told apart by some case. As many are by "
            f"{counted(len(enough.cases), 'case')}: {', '.join(enough.cases)}."
        )
    alike = [each for each in discriminations if each.verdict == "not shown"]
    if alike and all(each.case.case.factors.interface_queue is None for each in alike):
        text.append(
            "Hosts lose nothing here. Where the bottleneck is not congested, nothing is lost at all, and no control "
            f"has anything to do: `--factor interface_queue={_usual_queue(alike[0])}` gives hosts a network interface "
            "that loses what does not fit into so many packets (12 ms, as 1000 packets at 1 Gbit/s)."
        )
    return Section("Calibration: which classes tell controls apart", text, [Table("", header, rows, numbers=(3, 4, 5))])


def _usual_queue(discrimination: Discrimination) -> int:
    """Packets that take a source as long as Linux's 1000 do at 1 Gbit/s."""
    return max(2, round(1000 * discrimination.case.case.factors.access_bps / 1e9))


_TOLD = {"tells apart": "yes", "not shown": "not shown", "undecided": "undecided"}


def _calibrated(discrimination: Discrimination) -> tuple[str, ...]:
    case = discrimination.case.case
    used = "" if discrimination.used is None else f"{discrimination.used[0]:.3f} to {discrimination.used[1]:.3f}"
    return (
        case.application.name,
        case.itb_class.name,
        _TOLD[discrimination.verdict],
        f"{discrimination.differing} of {discrimination.pairs}",
        "" if discrimination.span is None else f"{discrimination.span:.3f}",
        used,
    )


def _cases_of(letters: dict[str, list[str]]) -> str:
    """Applications with the same classes together: ``TU, BU: A, C``."""
    groups: dict[str, list[str]] = {}
    for name, verdict in letters.items():
        groups.setdefault(", ".join(verdict), []).append(name)
    return "; ".join(f"{', '.join(names)}: {verdict}" for verdict, names in groups.items())


def _application(result: Result, cases: Sequence[CaseResult], differences: score.Differences) -> Section:
    application = cases[0].case.application
    index = score.relative(cases, result.controls)
    order = sorted(index, key=lambda control: index[control].mean)
    measures = [BY_KEY[key] for key in _OVERALL]
    overall = _table(
        "Score",
        ["control", "completion time", *(_title(measure) for measure in measures), "finished"],
        [
            [
                f"`{control}`",
                _cell(index[control]),
                *(_cell(score.average(cases, control, measure)) for measure in measures),
                _finished(cases, control),
            ]
            for control in order
        ],
    )
    harm = [
        _table(
            f"Harm to competing {rival}",
            ["control", *(measure.label for measure in score.HARMS)],
            [
                [f"`{control}`", *(_share(score.average(cases, control, measure, rival)) for measure in score.HARMS)]
                for control in order
                if control != rival
            ],
        )
        for rival in RIVALS
    ]
    won = score.wins(cases, result.controls, differences)
    faster = Table(
        "In how many classes the control of the row is shown to be faster than that of the column",
        ("", *result.controls),
        [[f"`{a}`", *("" if a == b else str(won[a, b]) for b in result.controls)] for a in result.controls],
        numbers=range(1, len(result.controls) + 1),
    )
    text = (
        f"{len(cases)} classes together. Completion time is relative to the mean of all controls: 1 is average. "
        "Harm to throughput is the share of its goodput that a competing flow loses beside this control, compared with "
        "its own kind; for delay and loss, the share that the neighbour causes; negative values are gains. The "
        "completion time of the rival is over that among its own kind.",
    )
    return Section(f"{application.name}: {application.title}", text, [overall, *harm, faster])


def _classes(result: Result, cases: Sequence[CaseResult], differences: score.Differences) -> Section:
    """The ranking of each class."""
    measures = [BY_KEY[key] for key in _RANKED]
    header = ["control", "rank", "completion time (s)", "to the best", *(_title(each) for each in measures), "finished"]
    tables = []
    for case in cases:
        standings = score.ranking(case, result.controls, differences)
        rows = [
            [
                f"`{each.control}`",
                _rank(each, standings),
                _cell(each.value),
                "" if each.to_best is None else _cell(each.to_best),
                *_values(case, each.control, measures),
                _finished([case], each.control),
            ]
            for each in standings
        ]
        tables.append(_table(_caption(case), header, rows))
    name = cases[0].case.application.name
    text = "Means with half the width of their 95 % intervals. Rank 1= is not shown to differ from the best."
    return Section(f"{name}, class by class", [text], tables)


def _further(result: Result, cases: Sequence[CaseResult], differences: score.Differences) -> Section:
    """All other metrics of each class, in two tables."""
    goodput, bottleneck = ([BY_KEY[key] for key in keys] for keys in (_GOODPUT, _BOTTLENECK))
    ratio = BY_KEY["completion_ratio"].key
    tables = []
    for case in cases:
        order = [each.control for each in score.ranking(case, result.controls, differences)]
        first = [[f"`{control}`", *_values(case, control, goodput)] for control in order]
        second = [
            [
                f"`{control}`",
                *_values(case, control, bottleneck),
                *(_share(score.interval(score.harm_values(case, control, rival, ratio))) for rival in RIVALS),
            ]
            for control in order
        ]
        caption = _caption(case)
        tables.append(_table(f"{caption} Goodput", ["control", *map(_title, goodput)], first))
        header = ["control", *map(_title, bottleneck), *(f"time of {rival}, ratio" for rival in RIVALS)]
        tables.append(_table(f"{caption} Bottleneck and competing TCP", header, second))
    name = cases[0].case.application.name
    text = (
        "Goodput, start-up and convergence; the bottleneck's packets in the whole run, which goes on after the last "
        "timed file; and the completion time of competing Reno and CUBIC over what they have among their own kind."
    )
    return Section(f"{name}, further metrics", [text], tables)


def _caption(case: CaseResult) -> str:
    odd = f" Not standard: {', '.join(case.case.odd)}." if case.case.odd else ""
    return f"Class {case.case.itb_class.name}: {case.case.itb_class.meaning}.{odd}"


def _table(caption: str, header: list[str], rows: list[list[str]]) -> Table:
    """A table without the columns that nobody has a value in."""
    kept = [at for at in range(len(header)) if at == 0 or any(row[at] for row in rows)]
    shown = [[row[at] for at in kept] for row in rows]
    return Table(caption, [header[at] for at in kept], shown, numbers=range(1, len(kept)))


def _rank(standing: score.Standing, standings: Sequence[score.Standing]) -> str:
    shared = [each for each in standings if each.as_good]
    return "1=" if standing.as_good and len(shared) > 1 else str(standing.rank)


def _values(case: CaseResult, control: str, measures: Sequence[Measure]) -> list[str]:
    values = (score.values(case, control, each.key) for each in measures)
    return [_cell(score.interval(each, measure.factor)) for each, measure in zip(values, measures, strict=True)]


def _finished(cases: Sequence[CaseResult], control: str) -> str:
    shares = [value for case in cases for value in score.values(case, control, "finished").values()]
    return f"{100 * sum(shares) / len(shares):.4g} %" if shares else ""


def _title(measure: Measure) -> str:
    return f"{measure.label} ({measure.unit})" if measure.unit else measure.label


def _mean_and_half(value: Interval) -> tuple[float, float]:
    return value.mean, value.half_width or 0.0


def _cell(value: Interval | None) -> str:
    return "" if value is None else with_half_width(*_mean_and_half(value))


def _share(value: Interval | None) -> str:
    """A share or a ratio, to the third decimal."""
    if value is None:
        return ""
    mean, half = _mean_and_half(value)
    return with_half_width(round(mean, 3) + 0.0, round(half, 3))
