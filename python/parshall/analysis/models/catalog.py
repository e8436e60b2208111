"""The one list of analytic models: name, summary, reference, validity.

`parshall list`, the table of docs/models.md and the conformance tests come from here. A new model is a module, a
table in ``entries.toml`` and, if it gives a throughput, a line in `throughput.MODELS`.
"""

from __future__ import annotations

from dataclasses import asdict

from parshall.analysis.models.entry import Entry, entries
from parshall.foundations import plugins

CATALOG: tuple[Entry, ...] = tuple(entries().values())


def known() -> tuple[Entry, ...]:
    """Every entry that there is: Parshall's own, and those of installed packages."""
    if not plugins.exist("models"):
        return CATALOG
    from parshall.analysis.models.throughput import MODELS, models  # noqa: PLC0415 - the formulas need numpy

    return (*CATALOG, *(model.entry for model in models()[len(MODELS) :]))


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
    for entry in CATALOG:
        controls = ", ".join(entry.controls) or "-"
        formula = f"`{entry.formula}`"
        rows.append((f"`{entry.name}`", controls, formula, entry.validity, entry.reference))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
