"""The one list of analytic models: name, summary, reference, validity.

`parshall list`, the table of docs/models.md and the conformance tests come from here. A new model is a module, a
table in ``entries.toml`` and, if it gives a throughput, a line in `throughput.MODELS`.
"""

from __future__ import annotations

from dataclasses import asdict

from parshall.analysis.models.entry import ModelEntry, entries
from parshall.foundations import plugins
from parshall.foundations.errors import InputError

CATALOG: tuple[ModelEntry, ...] = tuple(entries().values())


def known() -> tuple[ModelEntry, ...]:
    """Every entry that there is: Parshall's own, and those of installed packages.

    Raises
    ------
    InputError
        A package cannot be loaded, what it names is no model, or its name is taken.
    """
    entries = list(CATALOG)
    for where, _, content in plugins.loaded("models", "model"):
        entry = getattr(content, "entry", content)
        if not isinstance(entry, ModelEntry):
            accepted = "a parshall.analysis.models.answer.ThroughputModel, or the ModelEntry of another model"
            raise InputError(f"{where}: found {content!r}; accepted: {accepted}")
        if any(each.name == entry.name for each in entries):
            raise InputError(f'{where}: there is a model "{entry.name}" already; choose another name')
        entries.append(entry)
    return tuple(entries)


def catalog() -> list[dict[str, object]]:
    """Every entry as JSON-able values.

    Examples
    --------
    >>> catalog()[0]["name"]
    'pftk'
    """
    return [{**asdict(entry), "controls": list(entry.controls)} for entry in known()]


def markdown_table() -> str:
    """Render the catalog as the Markdown table of docs/models.md.

    Examples
    --------
    >>> markdown_table().splitlines()[0]
    '| model | controls | formula | validity | reference |'
    """
    head = ("model", "controls", "formula", "validity", "reference")
    rows = [head, ("---",) * len(head)]
    for entry in known():
        controls = ", ".join(entry.controls) or "-"
        formula = f"`{entry.formula}`"
        rows.append((f"`{entry.name}`", controls, formula, entry.validity, entry.reference))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
