"""What a shell may complete: names of the catalogs (``parshall --install-completion``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def studies(incomplete: str) -> list[str]:
    """Names of studies."""
    from parshall.studies import catalog

    return _beginning(incomplete, (study.name for study in catalog.studies()))


def suites(incomplete: str) -> list[str]:
    """Names of suites."""
    from parshall.studies import catalog

    return _beginning(incomplete, (suite.name for suite in catalog.suites()))


def controls(incomplete: str) -> list[str]:
    """Names of congestion controls."""
    return _beginning(incomplete, _names("congestion_controls"))


def listed(incomplete: str) -> list[str]:
    """Families of the catalog, and names of entries."""
    from parshall.scenario.schema import catalog

    families = catalog.families()
    entries = (name for family in families for name in _names(family))
    return _beginning(
        incomplete, dict.fromkeys([*families, "models", "studies", "suites", "records", "scenarios", *entries])
    )


def each_of(complete: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The last of several names with commas between.

    >>> each_of(lambda incomplete: [incomplete + "!"])("reno,cu")
    ['reno,cu!']
    """

    def last(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in complete(begun)]

    return last


def _names(family: str) -> list[str]:
    from parshall.scenario.schema import catalog

    return [entry.name for entry in catalog.family(family)]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
