"""One convention of options over all verbs: a flag means the same everywhere, and says so in the same words.

CONTRIBUTING.md has it as a table; a new verb is held to it without a change here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import parshall as ps
from parshall.campaign import maintenance
from parshall.cli.added import OF_EXTRAS
from parshall.cli.app import VERBS, application
from parshall.cli.options import OUTPUT
from parshall.cli.panels import PANELS
from parshall.foundations.errors import OutputExistsError
from parshall.scenario.templates.shipped import shipped

SHARED = {
    "--output": "-o",
    "--force": "",
    "--json": "",
    "--quiet": "-q",
    "--page": "",
    "--store": "",
    "--workers": "",
    "--scheduler": "",
    "--shard": "",
    "--scale": "",
    "--instrument": "",
    "--control": "",
    "--at-least": "",
    "--accept-invalid": "",
    "--at-once": "",
    "--seed": "",
}
"""Flags of the convention, with their short form."""

OF_ANOTHER_KIND = {("replay", "--control")}
"""It drives one control, and one of the catalog too; in the words of others it would declare some."""

PAGE_OUTPUT = "Write the page to this new directory."
FOLDER = "The directory of the new files."
OTHER_OUTPUTS = {
    "compare": "Write a page, e.g. page.html.",
    "figure": "The file; its suffix names the format.",
    "card": "The file, .png or .svg.",
    "infer": "The scenario, in TOML; its page is written beside it.",
    "new control": FOLDER,
    **{f"new {each.name}": FOLDER for each in shipped()},
}
"""What is written there is no result, and no directory of pages."""


def verbs(name: str = "", command: Any = None) -> Iterator[tuple[str, list[Any]]]:
    """Each verb's name and options; those of `store` and the like one by one."""
    command = command or get_command(application(VERBS))
    for each, below in getattr(command, "commands", {}).items():
        yield from verbs(f"{name} {each}".strip(), below)
    if not hasattr(command, "commands"):
        yield name, [option for option in command.params if option.param_type_name == "option"]


def named() -> dict[str, dict[str, Any]]:
    """By flag, the option of each verb that has it."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for verb, options in verbs():
        for option in options:
            if (verb, option.opts[0]) not in OF_ANOTHER_KIND:
                found[option.opts[0]][verb] = option
    return found


def test_every_verb_is_looked_at() -> None:
    found = dict(verbs())
    assert {name.split()[0] for name in found} == {*VERBS, *(name for name in OF_EXTRAS if "." not in name)}
    assert {"design rio", "design time-scale"} <= found.keys()
    assert "--json" in {option.opts[0] for option in found["store export"]}


@pytest.mark.parametrize("flag", SHARED)
def test_a_flag_is_the_same_everywhere(flag: str) -> None:
    options = named()[flag]
    assert len(options) > 1, "else it is no part of the convention"
    assert {tuple(option.opts[1:]) for option in options.values()} == {(SHARED[flag],) if SHARED[flag] else ()}
    assert len({(option.is_flag, option.multiple) for option in options.values()}) == 1
    if flag != "--output":
        assert len({option.help for option in options.values()}) == 1


def test_no_other_flag_has_a_short_form() -> None:
    short = {option.opts[0] for _, options in verbs() for option in options if len(option.opts) > 1}
    assert short <= {flag for flag, letter in SHARED.items() if letter} | {"--help"}


def test_where_a_directory_must_be_new_an_earlier_result_can_be_replaced() -> None:
    texts = {verb: option.help for verb, option in named()["--output"].items()}
    assert {verb: text for verb, text in texts.items() if text not in {OUTPUT, PAGE_OUTPUT}} == OTHER_OUTPUTS
    assert {*texts} - {*OTHER_OUTPUTS} <= {*named()["--force"]}


def test_what_takes_long_can_be_silent() -> None:
    """A verb with workers, a store of work or a page says on the way what it does."""
    long = {verb for flag in ("--workers", "--scheduler", "--page") for verb in named()[flag]} - {"shell"}
    assert long <= {*named()["--quiet"]}
    assert long <= {*named()["--json"]}


def test_the_help_has_six_panels_with_a_line_for_each_verb() -> None:
    shown = CliRunner().invoke(application(VERBS), ["--help"], env={"COLUMNS": "120"}).stdout
    panels = [line.strip("╭─╮ ") for line in shown.splitlines() if line.startswith("╭─")]
    assert panels == ["Options", *PANELS]
    assert len(PANELS) == 6
    listed = [verb for lines in PANELS.values() for verb in lines]
    assert {*VERBS} <= {*listed}
    assert len(listed) == len(set(listed))
    for lines in PANELS.values():
        for verb, line in lines.items():
            assert verb not in VERBS or line in shown, f"{verb}: its line is whole at 120 columns"
            assert line.endswith(".")
            assert len(line) <= 80


SHARES = ("--loss", "--loss-in", "--utilisation", "--within", "--at-least")
"""Options that are shares of something."""


def test_a_share_may_be_a_percentage() -> None:
    for flag in SHARES:
        for verb, option in named()[flag].items():
            assert "%" in option.help, f"{verb} {flag}"
            assert "float" not in str(getattr(option, "param_type", "")), f"{verb} {flag}"


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("predict throughput --cc RENO --loss 1% --json", "0.01"),
        ("predict throughput --cc reno --loss 0.01 --json", "0.01"),
    ],
)
def test_percentages_and_capitals_are_accepted(command: str, found: str) -> None:
    done = CliRunner().invoke(application(["predict"]), command.split())
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["loss"] == float(found)


def test_catalogs_are_listed_by_short_names_in_any_case() -> None:
    listed = [CliRunner().invoke(application(["list"]), ["list", name, "--json"]) for name in CONTROLS]
    assert len({each.stdout for each in listed}) == 1
    assert "bbr3" in {entry["name"] for entry in json.loads(listed[0].stdout)}
    upper, lower = (CliRunner().invoke(application(["list"]), ["list", name]).stdout for name in ("CUBIC", "cubic"))
    assert upper == lower != ""


CONTROLS = ("controls", "Controls", "congestion_controls", "congestion-controls")


def test_an_export_is_replaced_if_that_is_said(tmp_path: Path) -> None:
    scenario = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]}
    swept = ps.sweep(ps.Plan(name="small", scenario=scenario, repetitions=1), tmp_path / "store")
    place = tmp_path / "exported"
    written = maintenance.export(swept.store, "small", place)
    with pytest.raises(OutputExistsError):
        maintenance.export(swept.store, "small", place)
    (place / "old.parquet").write_text("of an earlier export")
    assert maintenance.export(swept.store, "small", place, overwrite=True) == written
    (place / "mine.txt").write_text("not of an export")
    with pytest.raises(OutputExistsError, match=r"mine\.txt"):
        maintenance.export(swept.store, "small", place, overwrite=True)
