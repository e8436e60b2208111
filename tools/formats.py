"""What each format consists of, a line an element: ``python -m tools.formats`` writes `tests/formats`.

An element that is gone or changed breaks the promise of docs/project.md, so its format needs a new version
(`parshall.foundations.formats`) and a line in CHANGELOG.md; one that is new needs neither. ``--check`` compares, as
does tests/python/test_formats.py.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from typer.main import get_command

import parshall as ps
from parshall.analysis.models.answer import ThroughputModel
from parshall.cli.app import application
from parshall.foundations import formats, plugins
from parshall.report.plot import Figure
from parshall.scenario import catalogs
from parshall.studies.study import Study
from parshall.studies.suite import Suite

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "tests/formats"
HEADER = ROOT / "python/parshall/scenario/templates/control/parshall_control.h"
CAPTURE = ROOT / "fuzz/corpus/captures/ethernet.pcap"
_UNPROMISED = {"anyOf", "oneOf", "enum", "default", "description", "discriminator", "examples", "title"}
"""Words of JSON Schema that promise nothing, or whose alternatives are lines of their own."""
_OF_OTHERS = ("answers", "predicted", "scenario", "summary", "versions")
"""Keys of ``run.json`` with names of models, quantities, groups and packages in them."""
SCENARIO = {
    "name": "small",
    "duration": "2 s",
    "repetitions": 2,
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [{"name": "bulk", "rtt": "50 ms"}],
}


def abi() -> int:
    """Return the version of the C interface, as its header has it."""
    found = re.search(r"#define PARSHALL_CONTROL_ABI (\d+)", HEADER.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{HEADER}: PARSHALL_CONTROL_ABI is missing")
    return int(found[1])


def results() -> Iterator[str]:
    """Give the columns of all tables, and the keys of ``run.json`` of each instrument."""
    for table in catalogs.entries("records"):
        for column in table["columns"]:
            null = " or null" if column["nullable"] else ""
            yield f"{table['name']}.{column['name']}: {column['type']}{null}, {column['unit'] or 'no unit'}"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ps.run(SCENARIO, place / "run")
        ps.predict(SCENARIO).save(place / "predicted")
        ps.observe(CAPTURE, output=place / "observed")
        for name in ("run", "predicted", "observed"):
            content = json.loads((place / name / "run.json").read_text(encoding="utf-8"))
            yield from _keys(f"{name}/run.json", content, whole=_OF_OTHERS)


def store() -> Iterator[str]:
    """Give the files of a store, and the keys of those in JSON."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        ps.sweep(ps.Plan(name="small", scenario=SCENARIO, repetitions=2), place, workers=1)
        for path in sorted(place.rglob("*")):
            if path.is_file():
                name = re.sub(r"\b[0-9a-f]{32,}\b|(?<=runs/)[0-9a-f]{2}\b", "*", path.relative_to(place).as_posix())
                yield f"file {name}"
                if path.suffix == ".json" and "runs" not in path.parts:
                    content = json.loads(path.read_text(encoding="utf-8"))
                    yield from _keys(name, content, whole=("runs", "files", "failed", "parameters", "plan"))


def scenarios() -> Iterator[str]:
    """Give the keys of scenario and sweep files, and what each accepts; defaults may change."""
    for name, schema in (("scenario", ps.Scenario.json_schema()), ("sweep", ps.Plan.json_schema())):
        for part, described in {name: schema, **schema.get("$defs", {})}.items():
            for key, value in described.get("properties", {}).items():
                needed = ", required" if key in described.get("required", ()) else ""
                yield f"{name} {part}.{key}{needed}"
                yield from (f"{name} {part}.{key}: {each}" for each in _accepted(value))


def printed() -> Iterator[str]:
    """Give the keys of the JSON that verbs print."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        scenario = ps.Scenario.from_document(SCENARIO).toml()
        Path("small.toml").write_text(scenario, encoding="utf-8")
        Path("sweep.toml").write_text('name = "swept"\nscenario = "small.toml"\nrepetitions = 2\n', encoding="utf-8")
        for command in (
            "run small.toml -o run --no-page",
            "predict small.toml",
            f"observe {CAPTURE} --no-page --no-arrivals",
            "compare run run",
            "sweep sweep.toml --no-page --workers 1",
            "store list",
            "store verify",
            "validate small.toml",
            "list controls",
            "doctor",
        ):
            words = command.split()
            whole = ("scenario", "parameters", "versions", "measured", "code")
            yield from _keys(" ".join(word for word in words[:2] if "." not in word), _json(words), whole=whole)


def plug_ins() -> Iterator[str]:
    """Give the groups of entry points, and the fields and parameters of what they name."""
    yield from (f"group {each}" for each in re.findall(r"``(parshall\.\w+)``", plugins.__doc__ or ""))
    for kind in (ThroughputModel, Figure, Study, Suite):
        for each in fields(kind):
            given = each.default is not MISSING or each.default_factory is not MISSING
            yield f"{kind.__name__}.{each.name}: {each.type}{', optional' if given else ''}"
    yield from (f"quantity({each})" for each in inspect.signature(ps.quantity).parameters.values())


def controls() -> Iterator[str]:
    """Give the declarations of the C interface, without comments."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    for place, line in enumerate(filter(None, (" ".join(line.split()) for line in text.splitlines()))):
        yield f"{place:03}: {line}"  # in order, as structures are laid out


FORMATS: Mapping[str, tuple[int, Callable[[], Iterator[str]]]] = {
    "results": (formats.RESULTS, results),
    "store": (formats.STORE, store),
    "scenarios": (formats.SCENARIOS, scenarios),
    "json": (formats.JSON, printed),
    "plugins": (formats.PLUGINS, plug_ins),
    "controls": (abi(), controls),
}
"""Each format's version, and what lists its elements."""


def text(name: str) -> str:
    """Return the elements of a format, sorted, below its version."""
    version, elements = FORMATS[name]
    return "\n".join([f"version {version}", *sorted(set(elements())), ""])


def problem(name: str, written: str, now: str) -> str | None:
    r"""Return what is to be done where a format is not as it is written down; None: it is.

    Examples
    --------
    >>> problem("store", "version 1\na\nb\n", "version 1\na\n")
    'store: gone or changed without a new version: b'
    >>> problem("store", "version 1\na\n", "version 1\na\nb\n")
    'store: new: b; run `python -m tools.formats`'
    >>> problem("store", "version 1\na\n", "version 2\nb\n")
    'store: version 2 is not written down; run `python -m tools.formats`'
    """
    (before, *old), (version, *new) = written.splitlines(), now.splitlines()
    if before != version:
        return f"{name}: {version} is not written down; run `python -m tools.formats`"
    if gone := sorted(set(old) - set(new)):
        return f"{name}: gone or changed without a new version: {'; '.join(gone)}"
    added = sorted(set(new) - set(old))
    return f"{name}: new: {'; '.join(added)}; run `python -m tools.formats`" if added else None


def _keys(path: str, value: Any, *, whole: tuple[str, ...]) -> Iterator[str]:
    """Give the paths of a JSON value with their types; the content of the keys `whole` is left out."""
    match value:
        case dict():
            yield f"{path}: object"
            for key, each in value.items():
                if key in whole:
                    yield f"{path}.{key}: {_kind(each)}"
                else:
                    yield from _keys(f"{path}.{key}", each, whole=whole)
        case list():
            yield f"{path}: list"
            for each in value:
                yield from _keys(f"{path}[]", each, whole=whole)
        case _:
            yield f"{path}: {_kind(value)}"


def _kind(value: Any) -> str:
    kinds = {dict: "object", list: "list", bool: "bool", int: "number", float: "number", str: "text"}
    return "null" if value is None else kinds[type(value)]


def _accepted(schema: Mapping[str, Any]) -> Iterator[str]:
    """Give each alternative of a JSON Schema, so that a new one is a new line."""
    for each in schema.get("anyOf", schema.get("oneOf", ())):
        yield from _accepted(each)
    for each in schema.get("enum", ()):
        yield json.dumps(each)
    kept = {word: each for word, each in schema.items() if word not in _UNPROMISED}
    if kept:
        yield json.dumps(kept, sort_keys=True)


def _json(words: list[str]) -> Any:
    """Return what a verb prints with ``--json``."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        get_command(application([words[0]])).main([*words, "--json"], standalone_mode=False)
    return json.loads(output.getvalue())


def main(arguments: list[str]) -> int:
    """Write the elements of all formats, or compare them; the exit code is 1 if something is to be done."""
    problems = []
    for name in FORMATS:
        path, now = PLACE / f"{name}.txt", text(name)
        if "--check" in arguments:
            problems.append(problem(name, path.read_text(encoding="utf-8"), now))
        else:
            PLACE.mkdir(exist_ok=True)
            path.write_text(now, encoding="utf-8")
    found = [each for each in problems if each]
    sys.stderr.write("".join(f"{each}\n" for each in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
