"""What notebooks show of results: a heading and tables, as an HTML fragment without script or style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LEFT = "text-align: left; padding: .2em .8em .2em 0"
MOST_ROWS = 50


def fragment(heading: str, remark: str = "", *tables: str) -> str:
    """A heading, a remark beside it, and tables as `table` makes them.

    >>> fragment("Store", "2 sweeps")
    '<div style="font-family: system-ui, sans-serif"><p><strong>Store</strong> 2 sweeps</p></div>'
    """
    title = f"<strong>{escape(heading)}</strong> {escape(remark)}".strip()
    return f'<div style="font-family: system-ui, sans-serif"><p>{title}</p>{"".join(tables)}</div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """A table; of many rows the first `MOST_ROWS`, and how many more there are."""
    given = [list(row) for row in rows]
    head = "".join(f'<th style="{LEFT}">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in given[:MOST_ROWS])
    caption = f'<caption style="text-align: left">{escape(title)}</caption>' if title else ""
    more = f"<p>and {len(given) - MOST_ROWS} more</p>" if len(given) > MOST_ROWS else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def sentences(texts: Iterable[str]) -> str:
    """Sentences, each on a line of its own.

    >>> sentences(["p < 1 %."])
    '<p>p &lt; 1 %.</p>'
    """
    return "".join(f"<p>{escape(each)}</p>" for each in texts)


def text(written: str) -> str:
    """Text as it is written, in a fixed width."""
    return f"<pre>{escape(written)}</pre>"


def _cell(value: object) -> str:
    shown = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return f'<td style="{LEFT}">{escape(shown)}</td>'
