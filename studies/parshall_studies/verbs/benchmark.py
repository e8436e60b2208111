"""``parshall itb``: the transport benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from parshall.cli import completion
from parshall.cli.console import console, declare_controls, note, print_json, table, termination_interrupts
from parshall.cli.groups import PageOptions, Printed, StudyWork
from parshall.cli.options import INSTRUMENTS, AtLeast, AtOnce, Controls, Instrument, Scale, Store
from parshall.cli.pages import Files
from parshall.cli.values import one_of, scale_named, shard_of, share
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.campaign import Execution
    from parshall.report.document import Document
    from parshall_studies.benchmark import benchmark
    from parshall_studies.benchmark.benchmark import CaseResult, Result
    from parshall_studies.benchmark.building import Case
    from parshall_studies.benchmark.over_mpi import OverMpi
    from parshall_studies.benchmark.score import Differences

Done = TypeVar("Done")

Factors = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="SYMBOL=VALUE",
        help="Change a factor of all classes: RTT=100ms, C_a=1Gbit/s, K=10, M=12, C_g=1.7, N_s=5, R=0.8, B=WMI, "
        "interface_queue=1000, socket_buffer=128kB, tcp_no_metrics_save=0, tcp_slow_start_after_idle=0, hystart=0.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ItbWork(StudyWork):
    """The store and the workers of the benchmark, which always has a store."""

    store: Store = Path("itb-store")


@verb
def itb(
    *,
    cc: Annotated[
        str,
        typer.Option(help="Congestion controls, with commas.", autocompletion=completion.each_of(completion.controls)),
    ] = "reno,bic,cubic,highspeed,htcp,scalable,vegas,bbr3",
    app: Annotated[str, typer.Option(help="Applications: TU, WM, PP, BU, PA.")] = "TU,WM,PP,BU,PA",
    class_: Annotated[str, typer.Option("--class", help="Classes, and ranges of them.")] = "A-L",
    scale: Scale = "quick",
    instrument: Instrument = "simulate",
    factors: Factors = None,
    controls: Controls = None,
    page: PageOptions,
    work: ItbWork,
    at_once: AtOnce = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only print the time that it takes.")] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(help="Only write the scenarios to this directory, for `parshall run`.", show_default=False),
    ] = None,
    at_least: AtLeast = None,
    printed: Printed,
) -> None:
    """Rank congestion controls by the completion times of five applications in twelve classes of networks."""
    from parshall.campaign import Execution
    from parshall.results.records import about
    from parshall_studies.benchmark.benchmark import run, run_shard
    from parshall_studies.benchmark.building import controls as named
    from parshall_studies.benchmark.estimate import check_memory
    from parshall_studies.benchmark.instruments import check_hosts

    drawn = page.files()
    declare_controls(controls)
    part = shard_of(work.shard, page.output, as_json=printed.as_json)
    names = named(cc)
    wanted = _instruments(instrument)
    cases = _cases(app, class_, scale_named(scale), factors or [], linux="emulate" in wanted)
    check_hosts(cases, simulated="simulate" in wanted)
    if scenarios is not None:
        _write_scenarios(cases, names, scenarios)
        return
    if "emulate" in wanted:
        names = _on_hosts(names)
    at_a_time = work.workers or about.cores()
    if not printed.quiet or estimate:
        note("; ".join(_takes(cases, names, at_a_time, kind, at_once=at_once) for kind in wanted))
    if work.scheduler is None:
        check_memory(cases, at_a_time)
    if estimate:
        return
    threshold = share(at_least)
    by = Execution(work.store, work.workers, work.scheduler, part, at_once)
    if work.shard is None:
        made = [replace(each, at_least=threshold) for each in _each(run, cases, names, by, wanted, printed.note)]
        mpi = _over_mpi(cases, names, by, printed.note) if "emulate" in wanted else []
        _tell(made, mpi, page, drawn, printed)
    else:
        _each(run_shard, cases, names, by, wanted, printed.note)
        if not printed.quiet:
            note(f"shard {work.shard} is done; the same command without --shard collects")


def _each(
    does: Callable[..., Done],
    cases: list[Case],
    names: list[str],
    by: Execution,
    wanted: Sequence[benchmark.Instrument],
    progress: Callable[[str], None],
) -> list[Done]:
    """Return the results of `does` with each instrument."""
    with termination_interrupts():
        return [does(cases, names, by, progress=progress, instrument=each) for each in wanted]


def _over_mpi(cases: list[Case], names: list[str], by: Execution, progress: Callable[[str], None]) -> list[OverMpi]:
    """PA over MPI, where it was asked for and there is a library; says why not."""
    from parshall_studies.benchmark import mpi
    from parshall_studies.benchmark.over_mpi import over_mpi

    if not any(case.application.replies for case in cases):
        return []
    if absent := mpi.missing():
        note(f"PA over MPI is left out: {absent}")
        return []
    with termination_interrupts():
        return over_mpi(cases, names, by, progress)


def _tell(made: list[Result], mpi: list[OverMpi], page: PageOptions, drawn: Files, printed: Printed) -> None:
    """Write the page, and print the results."""
    from parshall_studies.benchmark.as_json import printed as values

    page.write(lambda: _page(made, mpi), "itb.html", drawn, printed)
    if printed.as_json:
        print_json({**values(*made), **({"over_mpi": [asdict(each) for each in mpi]} if mpi else {})})
    elif not printed.quiet:
        for each in made:
            _show(each)
        for pair in mpi:
            text = f"{pair.case}, {pair.control}: {len(pair.times_s)} exchanges over MPI took {pair.total_s:.3g} s"
            console().print(f"{text} ({pair.level})")


def _write_scenarios(cases: list[Case], names: list[str], directory: Path) -> None:
    from parshall.results.records import storage
    from parshall_studies.benchmark.benchmark import Entry
    from parshall_studies.benchmark.writing import write_scenarios

    written = storage.guarded(lambda: write_scenarios(cases, [Entry(name) for name in names], directory))
    note(f"{len(written)} scenarios: {directory}")


def _instruments(named: str) -> list[benchmark.Instrument]:
    """Return the instruments that are asked for, without emulations where this machine cannot."""
    wanted = one_of("--instrument", named, INSTRUMENTS)
    if wanted == "simulate":
        return [wanted]
    from parshall.instruments.emulation import abilities, left_out

    why = left_out(abilities().problem, wanted)
    if why is None:
        return ["emulate"] if wanted == "emulate" else ["simulate", "emulate"]
    note(f"Emulations are left out: {why}")
    return ["simulate"]


def _on_hosts(names: list[str]) -> list[str]:
    """The controls that this kernel can have; says which are left out."""
    from parshall.instruments.emulation import abilities
    from parshall_studies.benchmark.instruments import on_hosts

    kept, left_out = on_hosts(names, abilities().controls)
    if left_out:
        note(f"Left out, as this kernel cannot have them: {', '.join(left_out)}")
    return kept


def _takes(cases: list[Case], names: list[str], at_a_time: int, instrument: str, *, at_once: bool) -> str:
    from parshall_studies.benchmark.estimate import estimate, real_time

    if instrument == "simulate":
        return estimate(cases, names, at_a_time).text()
    if at_once:
        return f"in real time, {at_a_time} at once: {real_time(cases, names, at_a_time).text()}"
    return f"in real time, one after another: {real_time(cases, names).text()}"


def _cases(app: str, class_: str, scale: str, factors: list[str], *, linux: bool) -> list[Case]:
    from parshall_studies.benchmark.applications import find
    from parshall_studies.benchmark.building import case
    from parshall_studies.benchmark.classes import classes
    from parshall_studies.benchmark.scale import SCALES

    chosen, letters = find(app), classes(class_)
    made = [case(each, letter, SCALES[scale], factors) for each in chosen for letter in letters]
    return [replace(each, linux=linux) for each in made]


def _page(made: Sequence[Result], mpi: Sequence[OverMpi]) -> Document:
    """The page of what was done, of Linux where it was emulated, then with the comparison before the rest."""
    from parshall.instruments.emulation import kernel_name
    from parshall_studies.benchmark.instruments import section
    from parshall_studies.benchmark.over_mpi import section as of_mpi
    from parshall_studies.benchmark.page import page

    kernel = kernel_name()
    compared = [section(made[0], made[1], kernel)] if len(made) > 1 else []
    compared += [of_mpi(mpi, made[-1])] if mpi else []
    return page(made[-1], compared, "simulated" if made[-1].instrument == "simulate" else kernel)


def _told_apart(cases: Sequence[CaseResult], made: Result, differences: Differences) -> str:
    """Which classes tell the controls apart, in words."""
    from parshall_studies.benchmark.discrimination import discrimination

    letters: dict[str, list[str]] = {}
    for case in cases:
        verdict = discrimination(case, made.controls, differences, made.at_least).verdict
        letters.setdefault(verdict, []).append(case.case.itb_class.name)
    phrases = {
        "tells apart": "{} tell the controls apart",
        "not shown": "{} do not show any two controls to differ",
        "undecided": "{} undecided: one repetition",
    }
    return "; ".join(phrase.format(", ".join(letters[key])) for key, phrase in phrases.items() if key in letters)


def _show(made: Result) -> None:
    from parshall.report.comparing import family
    from parshall_studies.benchmark import score

    differences = score.Differences.of_result(made)
    shown = table(
        f"Mean completion time over the best one's, {made.instrument}d; = where no difference to it is shown",
        "",
        *made.controls,
    )
    for case in made.cases:
        cells = {}
        for each in score.ranking(case, made.controls, differences):
            times = "1" if each.to_best is None else f"{each.to_best.mean:.2f}"
            cells[each.control] = f"{times}{'=' if each.as_good and each.rank > 1 else ''} (#{each.rank})"
        mark = "*" if case.case.odd else ""
        shown.add_row(case.case.name + mark, *(cells.get(control, "-") for control in made.controls))
    out = console()
    out.print(shown)
    for application in dict.fromkeys(each.case.application for each in made.cases):
        cases = [each for each in made.cases if each.case.application is application]
        index = score.relative(cases, made.controls)
        order = sorted(index, key=lambda control: index[control].mean)
        text = ", ".join(f"{control} {index[control].mean:.2f}" for control in order)
        out.print(f"{application.name}, completion time over the average control's: {text}")
        out.print(f"{application.name}, classes: {_told_apart(cases, made, differences)}")
    if any(case.case.odd for case in made.cases):
        out.print("* with factors that are not those of Table 5")
    if differences.tested:
        note(family(differences.tested))
    note(f"{made.wall_s:.0f} s")
