"""The style sheet of all pages: the colours as variables, light and dark, and the rules that use them."""

from __future__ import annotations

from importlib import resources

from parshall.report.palette import DARK, LIGHT, Scheme

ASSETS = resources.files("parshall.report") / "assets"


def style_sheet() -> str:
    """The style sheet as text; on paper, the colours are the light ones."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"
    rules = (ASSETS / "page.css").read_text(encoding="utf-8")
    return f":root {{ {_variables(LIGHT)} }}\n{dark}\n{rules}"


def _variables(scheme: Scheme) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in scheme.variables().items())
