"""``parshall itb``: the transport benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli import completion
from parshall.cli.console import (
    AtLeast,
    Controls,
    Json,
    PageOutput,
    Quiet,
    Scale,
    Store,
    Workers,
    console,
    declare_controls,
    note,
    print_json,
    scale_named,
    share,
    table,
    verb,
)

if TYPE_CHECKING:
    from parshall.itb.benchmark import CaseResult, Result
    from parshall.itb.building import Case

Factors = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="SYMBOL=VALUE",
        help="Change a factor of all classes: RTT=100ms, C_a=1Gbit/s, K=10, M=12, C_g=1.7, N_s=5, R=0.8, B=WMI, "
        "interface_queue=1000.",
        show_default=False,
    ),
]


@verb
def itb(
    cc: Annotated[
        str,
        typer.Option(help="Congestion controls, with commas.", autocompletion=completion.each_of(completion.controls)),
    ] = "reno,bic,cubic,highspeed,htcp,scalable,vegas,bbr3",
    app: Annotated[str, typer.Option(help="Applications: TU, WM, PP, BU, PA.")] = "TU,WM,PP,BU,PA",
    class_: Annotated[str, typer.Option("--class", help="Classes, and ranges of them.")] = "A-L",
    scale: Scale = "quick",
    factors: Factors = None,
    controls: Controls = None,
    output: PageOutput = None,
    store: Store = Path("itb-store"),
    workers: Workers = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what it takes.")] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(help="Only write the scenarios to this directory, for `parshall run`.", show_default=False),
    ] = None,
    at_least: AtLeast = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare congestion controls by what their users get: applications, classes, a ranking with intervals."""
    from parshall.itb.building import controls as named
    from parshall.itb.estimate import check_memory
    from parshall.itb.estimate import estimate as estimated
    from parshall.records import about, storage

    declare_controls(controls)
    names = named(cc)
    cases = _cases(app, class_, scale_named(scale), factors or [])
    if scenarios is not None:
        from parshall.itb.benchmark import Entry
        from parshall.itb.writing import write_scenarios

        written = storage.guarded(lambda: write_scenarios(cases, [Entry(name) for name in names], scenarios))
        note(f"{len(written)} scenarios: {scenarios}")
        return
    at_a_time = workers or about.cores()
    expected = estimated(cases, names, at_a_time)
    if not quiet or estimate:
        note(expected.words())
    check_memory(cases, at_a_time)
    if estimate:
        return
    threshold = share(at_least)
    made = replace(
        _done(cases, names, store, at_a_time, (lambda _: None) if quiet or as_json else note), at_least=threshold
    )
    if output is not None:
        path = storage.guarded(lambda: _write(made, output))
        if not quiet:
            note(f"Page: {path}")
    if as_json:
        print_json(result(made))
    elif not quiet:
        _show(made)


def result(made: Result) -> dict[str, Any]:
    """What ``--json`` prints; docs/json.md describes it."""
    return {
        "scale": made.scale,
        "repetitions": made.repetitions,
        "controls": list(made.controls),
        "wall_s": round(made.wall_s, 3),
        "at_least": made.at_least,
        "cases": [_case_json(each, made) for each in made.cases],
    }


def _case_json(case: Any, result: Result) -> dict[str, Any]:
    from dataclasses import asdict

    from parshall.itb import score
    from parshall.itb.benchmark import RIVALS
    from parshall.itb.discrimination import discrimination

    told = discrimination(case, result.controls, result.at_least)

    def interval(found: dict[int, float], least: float = -inf) -> dict[str, Any] | None:
        made = score.interval(found, least=least)
        return None if made is None else asdict(made)

    return {
        "application": case.case.application.name,
        "class": case.case.itb_class.name,
        "not_standard": case.case.odd,
        "discrimination": {
            "verdict": told.verdict,
            "pairs": told.pairs,
            "differing": told.differing,
            "undecided": told.undecided,
            "slowest_over_fastest": told.span,
        },
        "ranking": [
            {
                "control": each.control,
                "rank": each.rank,
                "as_good_as_the_best": each.as_good,
                "to_the_best": None if each.to_best is None else asdict(each.to_best),
                "finished": interval(score.values(case, each.control, "finished"), 0.0),
                "measures": {m.key: interval(score.values(case, each.control, m.key), 0.0) for m in score.MEASURES},
                "harm": {
                    rival: {m.key: interval(score.harm_values(case, each.control, rival, m.key)) for m in score.HARMS}
                    for rival in RIVALS
                    if rival != each.control
                },
            }
            for each in score.ranking(case, result.controls, at_least=result.at_least)
        ],
    }


def _cases(app: str, class_: str, scale: str, factors: list[str]) -> list[Case]:
    from parshall.itb.applications import find
    from parshall.itb.building import case
    from parshall.itb.classes import classes
    from parshall.itb.scale import SCALES

    chosen, letters = find(app), classes(class_)
    return [case(each, letter, SCALES[scale], factors) for each in chosen for letter in letters]


def _done(cases: list[Case], names: list[str], store: Path, workers: int, progress: Callable[[str], None]) -> Result:
    import signal
    from types import FrameType

    from parshall.itb.benchmark import run

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(cases, names, store, workers=workers, progress=progress)
    finally:
        signal.signal(signal.SIGTERM, before)


def _write(made: Result, output: Path) -> Path:
    from parshall.itb.page import page
    from parshall.report.document import write_document

    output.mkdir(parents=True, exist_ok=True)
    return write_document(page(made), output / "itb.html")


def _told_apart(cases: Sequence[CaseResult], made: Result) -> str:
    """Which classes tell the controls apart, in words."""
    from parshall.itb.discrimination import discrimination

    letters: dict[str, list[str]] = {}
    for case in cases:
        verdict = discrimination(case, made.controls, made.at_least).verdict
        letters.setdefault(verdict, []).append(case.case.itb_class.name)
    said = {
        "tells apart": "{} tell the controls apart",
        "does not": "{} do not: no two controls differ by more than the noise",
        "undecided": "{} undecided: one repetition",
    }
    return "; ".join(words.format(", ".join(letters[key])) for key, words in said.items() if key in letters)


def _show(made: Result) -> None:
    from parshall.itb import score

    shown = table(
        "Mean completion time over the best one's; = where the paired comparison cannot tell", "", *made.controls
    )
    for case in made.cases:
        cells = {}
        for each in score.ranking(case, made.controls, at_least=made.at_least):
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
        words = ", ".join(f"{control} {index[control].mean:.2f}" for control in order)
        out.print(f"{application.name}, completion time over the average control's: {words}")
        out.print(f"{application.name}, classes: {_told_apart(cases, made)}")
    if any(case.case.odd for case in made.cases):
        out.print("* with factors that are not those of Table 5")
    note(f"{made.wall_s:.0f} s")
