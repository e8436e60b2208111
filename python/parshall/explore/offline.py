"""The explorer in one file: a page whose own simulator, as WebAssembly, answers the fields, without a server.

| what | explorer | this page |
| --- | --- | --- |
| fields, sliders, address that keeps the values, file to copy | as here | the same code |
| simulation | the installed simulator | the same simulator; it gives the same totals, to the byte |
| sentences | all | those on the limit, the shares and the cost, by the same rules and templates |
| figures | all of the catalog | goodput, queue, windows |
| models, warnings, controls of one's own, results, saving | yes | no: `parshall run` and `parshall explore` |
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from parshall.explore.form import form
from parshall.foundations.errors import InputError, OutputExistsError
from parshall.foundations.files import write_atomically
from parshall.foundations.version import __version__
from parshall.report.html import template
from parshall.report.sentences import TEMPLATES
from parshall.report.style import style_sheet
from parshall.scenario import Scenario

SIMULATOR = "simulator.wasm.gz"
"""The simulator, beside the page's scripts: `make simulator` builds it in a checkout, and a wheel has it."""

FIRST_EVENTS = 400_000
"""Handled for one picture, some 100 ms of a laptop's processor; a scenario that has more is shortened."""
MOST_EVENTS = 10 * FIRST_EVENTS
"""Handled of a scenario that was shortened: a second is longer than anybody drags a slider for."""

CONTROLS = ("reno", "cubic", "bbr", "bbr3", "vegas", "copa", "ledbat++", "westwood", "htcp")
QUEUES = ("drop_tail", "red", "pie", "codel", "fq_codel", "cake", "sfb")
"""The choices of the five scenarios; a scenario of one's own has all that it accepts."""

_SHARED = ("numbers.js", "form.js", "finding.js", "drawing.js", "worker.js")


def page(scenarios: Sequence[Scenario] = ()) -> str:
    """The page as HTML, some 1.2 MB; of the five scenarios that come with it unless others are given.

    Raises
    ------
    InputError
        A scenario has a value that follows from its fields in a way that the page cannot give, or the simulator was not
        built.
    """
    offered = [_offered(scenario, {}) for scenario in scenarios] or _own()
    content = {
        "scenarios": offered,
        "limits": {"firstEvents": FIRST_EVENTS, "mostEvents": MOST_EVENTS, "templates": dict(TEMPLATES)},
    }
    return template("offline.html.j2", "parshall.explore").render(
        version=__version__,
        style=_safe(style_sheet() + _asset("explore.css")),
        scenarios=[{**each, "fields": each["form"]["fields"]} for each in offered],
        content=_safe(json.dumps(content, ensure_ascii=False, separators=(",", ":"))),
        simulator=_safe(base64.b64encode(simulator()).decode()),
        worker=_safe("".join(_asset(f"offline/{name}") for name in (*_SHARED, "worker-begin.js"))),
        script=_safe(_asset("explore.js") + _asset("offline/page.js")),
    )


def write(file: Path, scenarios: Sequence[Scenario] = (), *, overwrite: bool = False) -> None:
    """Write the page.

    Raises
    ------
    OutputExistsError
        The file exists, and `overwrite` is not given.
    InputError
        As `page`.
    OSError
        It cannot be written.
    """
    if file.exists() and not overwrite:
        raise OutputExistsError(f"{file} exists already; write another name, or --force")
    write_atomically(file, page(scenarios))


def simulator() -> bytes:
    """The simulator as WebAssembly, by gzip.

    Raises
    ------
    InputError
        It was not built.
    """
    try:
        return (resources.files("parshall.explore") / "assets" / SIMULATOR).read_bytes()
    except FileNotFoundError:
        raise InputError(
            "--offline: this checkout has no simulator for a page; `make simulator` builds it (it needs "
            "`rustup target add wasm32-unknown-unknown`)"
        ) from None


def own_scenarios() -> list[tuple[str, Scenario]]:
    """The scenarios that come with the page, each with the question that it answers."""
    folder = resources.files("parshall.explore") / "playground"
    made = []
    for name in ("bbr-beside-cubic", "home-line", "incast", "satellite", "random-loss"):
        with resources.as_file(folder / f"{name}.toml") as path:
            question = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            made.append((question, Scenario.load(path)))
    return made


def _own() -> list[dict[str, Any]]:
    only = {"congestion_control": CONTROLS, "name": QUEUES}
    return [_offered(scenario, only) | {"title": title} for title, scenario in own_scenarios()]


def _offered(scenario: Scenario, only: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "title": scenario.name,
        "description": scenario.description,
        "form": form(scenario, only),
    }


def _asset(name: str) -> str:
    place = resources.files("parshall.explore") / "assets"
    return place.joinpath(*Path(name).parts).read_text(encoding="utf-8")


def _safe(text: str) -> Markup:
    """Text of ours as a part of a page; what would end the element that it is in is written otherwise."""
    return Markup(text.replace("</", "<\\/") if "</script" in text else text)  # noqa: S704 - ours, and escaped
