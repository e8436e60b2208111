"""The options that several verbs have: each is declared here, once.

Groups of options are in `parshall.cli.groups`. A verb declares by itself what it alone has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

# --- what is read ---

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario in TOML.", show_default=False)]
RunDirectory = Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help='Change a value of the scenario, e.g. flows.0.count=10 or bottleneck.rate="10 Mbit/s"; repeatable.',
        show_default=False,
    ),
]
Controls = Annotated[
    list[str] | None,
    typer.Option(
        "--control",
        metavar="NAME=FILE.py:CLASS",
        help="A control of your own that scenarios may name; or NAME=LIBRARY.so, or, to emulate, NAME=FILE.bpf.o.",
        show_default=False,
    ),
]
Join = Annotated[bool, typer.Option("--join", help="The files are consecutive parts of one capture.")]

# --- how it is done ---

Seed = Annotated[int, typer.Option(help="Root of all random numbers.", min=0)]
Workers = Annotated[int | None, typer.Option(help="How many runs at a time.", show_default="one a core", min=1)]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Have the workers of a Dask scheduler do the runs.", show_default=False),
]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="K/N",
        help="Do only the K-th of N parts; the same command without --shard collects them.",
        show_default=False,
    ),
]
SCALES: tuple[Literal["quick", "paper"], ...] = ("quick", "paper")
Scale = Annotated[str, typer.Option(help="quick: minutes; paper: as published.", autocompletion=lambda: [*SCALES])]
INSTRUMENTS: tuple[Literal["simulate", "emulate", "both"], ...] = ("simulate", "emulate", "both")
Instrument = Annotated[
    str,
    typer.Option(
        help="simulate; emulate, with real Linux TCP where possible; or both.",
        autocompletion=lambda: [*INSTRUMENTS],
    ),
]
AcceptInvalid = Annotated[
    bool, typer.Option("--accept-invalid", help="Accept an emulation although its verdict is that it is invalid.")
]
AtOnce = Annotated[
    bool, typer.Option("--at-once", help="Do not wait for other emulations on this machine: they disturb each other.")
]
AtLeast = Annotated[
    str | None,
    typer.Option(
        "--at-least",
        metavar="SHARE",
        help="Differences below this share of A's value do not matter: 1 %, or 0.01.",
        show_default="1 %",
    ),
]

# --- where it goes ---

OUTPUT = "A new directory for the results."
STORE = "The store: a directory that keeps finished runs, so that they are not done again."


def output_option(default: str | bool) -> Any:
    """Return the option of a new directory of results; its verb has `Force` too."""
    return typer.Option("--output", "-o", help=OUTPUT, show_default=default)


def file_option(text: str, default: str | bool) -> Any:
    """Return the option of a file to write, with its help text."""
    return typer.Option("--output", "-o", metavar="FILE", help=text, show_default=default)


def store_option(default: str | bool) -> Any:
    """Return the option of a store that may be left out."""
    return typer.Option("--store", metavar="DIR", help=STORE, show_default=default)


Output = Annotated[Path | None, output_option("runs/NAME-N")]
PageOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the page to this new directory.", show_default=False)
]
Folder = Annotated[Path, typer.Option("--output", "-o", help="The directory of the new files.", show_default="here")]
Store = Annotated[Path, typer.Option("--store", metavar="DIR", help=STORE)]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier result or file of that name.")]
WithPage = Annotated[bool, typer.Option("--page/--no-page", help="Write the page, or leave it out.")]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT,...",
        help="Also write each figure of the page, to figures in --output, as csv, pdf, pgf, png or svg.",
        show_default=False,
    ),
]
Width = Annotated[str, typer.Option(help="Width of figures, e.g. 3.3in (a column of IEEE), 84mm or 240pt.")]
WIDTH = "6.3in"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value for other programs.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors, and an answer that is written to no file.")
]
