"""The page of a scenario, and what all pages of the application share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from parshall.explore import knobs, preview
from parshall.explore.subject import Base, Subject
from parshall.foundations.version import __version__
from parshall.report.figures import figures
from parshall.report.html import template


def explorer(subject: Subject, base: Base, of: str, first: Mapping[str, Any]) -> str:
    """The page of a scenario.

    Parameters
    ----------
    of
        The result that it is the scenario of; '' for that of the command.
    first
        What `preview.shown` gives of it without changes: the first picture is there with the page.
    """
    scenario = base.scenario()
    return rendered(
        "explore.html.j2",
        subject,
        title=scenario.name,
        of=of,
        description=scenario.description,
        fields=knobs.fields(scenario),
        catalog=[(each.name, each.title, each.name in preview.FIRST_FIGURES) for each in figures()],
        first={key: Markup(text) if key == "simulated" else text for key, text in first.items()},  # noqa: S704 - ours
        save_in=subject.save_in,
    )


def rendered(page: str, subject: Subject, **content: Any) -> str:
    """A page of the application."""
    shared = {"version": __version__, "lists": subject.results is not None}
    shared["explores"] = subject.base is not None
    return template(page, "parshall.explore").render(**shared, **content)
