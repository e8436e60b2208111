"""The generated sections of the guides; `SECTIONS` is the list of them."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from parshall.analysis.models.catalog import known
from parshall.foundations import debian
from parshall.foundations.files import READERS
from parshall.results.quantities.catalog import OURS
from parshall.results.records.schema import tables
from parshall.scenario.schema.catalog import Entry, Parameter, deviations, family, policies
from parshall.scenario.schema.profiles import PROFILES
from parshall.suites.control_check import check
from tools.documentation import keys
from tools.documentation.markdown import table
from tools.documentation.scripts import packetdrill

ROOT = Path(__file__).parents[2]
"""The checkout: the guides are no part of an installed package."""

_KINDS = {
    "number": "number",
    "integer": "whole number",
    "boolean": "`true`, `false`",
    "duration": "duration",
    "rate": "rate",
    "bytes": "size",
    "packets": "packets or size",
    "size": "size or packets",
    "choice": "name",
    "rules": "name, or table",
    "numbers": "list of numbers",
    "control": "[congestion control](#congestion-controls)",
    "queue": "[queue](#queues)",
    "queues": "list of [queues](#queues)",
    "weight": 'number, or `"instantaneous"`',
    "buffer": "queue limit",
    "size_distribution": "[distribution](#distributions) of sizes",
    "time_distribution": "[distribution](#distributions) of times",
    "sizes": "a size, or a list of sizes",
    "recovery": "[recovery](#recoveries)",
    "value": "size or duration",
    "cdf_points": "file or points",
}
_RANGED = frozenset({"number", "integer", "weight"})


def entries(name: str) -> str:
    """A family: its entries, then the parameters of each."""
    listed = family(name)
    parts = [
        table(
            ("name", "what", "source"),
            [(f"`{entry.name}`", _summary(entry), entry.reference or "-") for entry in listed],
        )
    ]
    parts += [f"Parameters of `{each.name}`:\n\n{parameters(each.parameters)}" for each in listed if each.parameters]
    return "\n\n".join(parts)


def _summary(entry: Entry) -> str:
    others = ", ".join(f"`{key} = {json.dumps(default)}`" for key, default in entry.defaults)
    return f"{entry.summary}; default with it: {others}" if others else entry.summary


def parameters(listed: tuple[Parameter, ...]) -> str:
    """The parameters of an entry."""
    rows = [
        (
            f"`{each.name}`",
            _KINDS[each.kind],
            "required" if each.default is None else f"`{each.default}`",
            _range(each),
            each.description,
        )
        for each in listed
    ]
    return table(("parameter", "value", "default", "range", "what"), rows)


def _range(parameter: Parameter) -> str:
    """The bounds of a plain number; those of quantities are in units that scenarios do not show."""
    if parameter.choices:
        return ", ".join(f'`"{choice}"`' for choice in parameter.choices)
    if parameter.kind not in _RANGED:
        return ""
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"{low:g} or more"
    return "" if high is None else f"{high:g} or less"


def models() -> str:
    """The analytic models."""
    rows = [(f"`{each.name}`", each.summary, ", ".join(each.controls) or "-", each.validity) for each in known()]
    return table(("name", "what", "congestion controls", "valid for"), rows)


def conformance_checks() -> str:
    """Return the table of checks that a congestion control must pass."""
    rows = [
        (f"`{each.name}`", each.sentence, each.source, "fails" if each.required else "advice")
        for each in check("reno", measured=False).findings
    ]
    return table(("check", "what must hold", "asked by", "one that violates it"), rows)


def records() -> str:
    """Every table of the records, with its columns."""
    parts = []
    for each in tables():
        rows = [
            (
                f"`{column['name']}`",
                column["type"] + (" or null" if column["nullable"] else ""),
                column["unit"] or "-",
                column["description"],
            )
            for column in each["columns"]
        ]
        parts.append(
            f"### {each['name']}\n\n{each['description']}\n\n" + table(("column", "type", "unit", "what"), rows)
        )
    return "\n\n".join(parts)


def quantities() -> str:
    """The catalogue of quantities, by what they are of."""
    titles = {"run": "Of a run", "link": "Of a link", "group": "Of a group of flows", "flow": "Of a flow"}
    parts = []
    for per, title in titles.items():
        rows = [
            (f"`{each.key}`", each.unit, each.better or "-", f"{each.label}{': ' if each.what else ''}{each.what}")
            for each in OURS.values()
            if each.per == per
        ]
        parts.append(f"**{title}**\n\n" + table(("key", "unit", "better", "what"), rows))
    return "\n\n".join(parts)


def references() -> str:
    """The bibliography, docs/references.toml."""
    listed = tomllib.loads((ROOT / "docs" / "references.toml").read_text(encoding="utf-8"))
    rfcs = [(f"[RFC {each['rfc']}](https://www.rfc-editor.org/rfc/rfc{each['rfc']})", each) for each in listed["rfc"]]
    works = [(f"{each['authors']} {each['year']}", each) for each in listed["work"]]
    return (
        table(("RFC", "title", "year"), [(link, each["title"], str(each["year"])) for link, each in rfcs])
        + "\n\n"
        + table(("work", "title", "where"), [(name, each["title"], each["where"]) for name, each in works])
    )


def debian_packages() -> str:
    """Debian's packages that parts of Parshall need."""
    rows = [(f"`{each.name}`", ", ".join(each.purposes), each.reason) for each in debian.packages()]
    return table(("package", "for", "what needs it"), rows)


def debian_build() -> str:
    """The command that installs what a build needs."""
    return f"```sh\n{debian.install(each for each in debian.packages() if 'build' in each.purposes)}\n```"


def tcp_profiles() -> str:
    """Return the table of a group's keys with a profile."""
    parts = []
    sources = {entry.name: entry.reference for entry in family("congestion_controls")}
    for profile in {each.name: each for each in PROFILES.values()}.values():
        rows = [(f"`{each.key} = {json.dumps(each.value)}`", each.functions, each.what) for each in profile.settings]
        rows += [
            (
                f'`congestion_control = "{name}"`',
                f"those of {sources[ours].partition(', ')[2]}",
                f"[`{ours}`](catalogs.md#congestion-controls)",
            )
            for name, ours in profile.controls.items()
        ]
        parts.append(table(("key", "functions of the kernel", "what"), rows))
    return "\n\n".join(parts)


def tcp_rules() -> str:
    """The policies of the key ``rules``, and what differs in each of them."""
    rows = [
        (f"`{policy.name}`" if number == 0 else "", rule.what, rule.rfc, rule.linux)
        for policy in policies()
        for number, rule in enumerate(policy.differences)
    ]
    listed = [(f"`{policy.name}`", policy.summary, policy.rfc, policy.linux) for policy in policies()]
    return "\n\n".join(
        (
            table(("policy", "what it says", '`"rfc"`', '`"linux"`'), listed),
            "Rule by rule:",
            table(("policy", "rule", "the RFCs", "Linux, with the functions of the kernel"), rows),
        )
    )


def declared_deviations() -> str:
    """Where the simulator does otherwise than RFCs, papers and Linux, on purpose."""
    rows = [
        (each.source, each.there, each.here, each.why, f"`{each.id}` in `crates/{each.crate}/{each.file}`")
        for each in deviations()
    ]
    return table(("source", "there", "here", "why", "test, file"), rows)


FAMILIES = ("congestion_controls", "recoveries", "queues", "markers", "losses", "workloads", "distributions")


def layers() -> str:
    """The layers of the Python package, the highest first, with what each holds: the first line of its docstring."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    names = next(each["layers"] for each in settings["contracts"] if each["type"] == "layers")
    package = ROOT / "python" / "parshall"
    files = [(name, package / name / "__init__.py") for name in names if (package / name).is_dir()]
    rows = [(f"`{name}`", _first_line(file)) for name, file in files]
    return table(("layer", "what it holds"), rows)


def _first_line(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".")


def readers() -> str:
    """Readers of files that others made, with their limits."""
    rows = [
        (
            f"`{reader.name}`",
            reader.what.removesuffix("."),
            _bytes(reader.document) if reader.document else "any size",
            _bytes(reader.line) if reader.line else "-",
            "gzip, zstd" if reader.compressed else "-",
            _bytes(reader.memory),
        )
        for reader in READERS.values()
    ]
    return table(("reader", "reads", "a file, decompressed", "a line", "compression", "memory"), rows)


def _bytes(number: int) -> str:
    """A number of bytes in the largest unit that divides it."""
    units = {1 << 30: "GiB", 1 << 20: "MiB", 1_000_000: "MB"}
    return next(
        (f"{number // unit:,} {name}" for unit, name in units.items() if number % unit == 0), f"{number:,} bytes"
    )


def exercises_of(lab: str) -> str:
    """The exercises of a lab, with answers that are simulated now."""
    from tools.documentation import labs  # noqa: PLC0415 - it needs the simulator, and this module's ROOT

    return labs.section(lab)


def verdicts_of_studies() -> str:
    """How many claims of each source are reproduced, as stored in docs/verdicts."""
    from tools.documentation import verdicts  # noqa: PLC0415 - it needs this module's ROOT

    return verdicts.verdicts()


SECTIONS: Mapping[str, Callable[[], str]] = {
    "layers": layers,
    **{f"lab-{lab}": partial(exercises_of, lab) for lab in ("aimd", "buffers", "bbr")},
    **{name: partial(entries, name) for name in FAMILIES},
    "models": models,
    "quantities": quantities,
    "records": records,
    "readers": readers,
    "references": references,
    "conformance-checks": conformance_checks,
    "scenario-keys": keys.scenario_keys,
    "link-keys": keys.link_keys,
    "jitter-keys": keys.jitter_keys,
    "flow-keys": keys.flow_keys,
    "tcp-keys": keys.tcp_keys,
    "tcp-profiles": tcp_profiles,
    "tcp-rules": tcp_rules,
    "deviations": declared_deviations,
    "packetdrill": packetdrill,
    "debian-packages": debian_packages,
    "debian-build": debian_build,
    "kernel-keys": keys.kernel_keys,
    "probe-keys": keys.probe_keys,
    "verdicts": verdicts_of_studies,
}
"""Every generated section, by the name that its comment gives."""
