"""The one list of analytic models: name, summary, reference, validity.

`parshall list`, the table of docs/models.md and the conformance tests come from here. A model's module holds
its entry; a new module is a line in `throughput.MODELS` or below.
"""

from __future__ import annotations

from dataclasses import asdict

from parshall.models import competing, diffserv, fair_share, large_deviations, latency, queues, throughput, variants
from parshall.models.entry import Entry

CATALOG: tuple[Entry, ...] = (
    *(model.entry for model in throughput.MODELS),
    *large_deviations.ENTRIES,
    *variants.ENTRIES,
    *competing.ENTRIES,
    *latency.ENTRIES,
    *queues.ENTRIES,
    *diffserv.ENTRIES,
    *fair_share.ENTRIES,
)


def catalog() -> list[dict[str, object]]:
    """Every entry as JSON-able values.

    Examples
    --------
    >>> catalog()[0]["name"]
    'pftk'
    """
    return [{**asdict(entry), "controls": list(entry.controls)} for entry in CATALOG]


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
