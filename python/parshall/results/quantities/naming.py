"""The meaning of names of quantities.

| name | of |
| --- | --- |
| ``KEY`` | a run; a link's quantity is that of the link that matters |
| ``link/NAME/KEY`` | a link |
| ``group/NAME/KEY`` | a group of flows |
| ``flow/NUMBER/KEY`` | a flow |
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parshall.foundations.errors import InputError
from parshall.results.quantities import own
from parshall.results.quantities.catalog import OURS, SUMMARY
from parshall.results.quantities.definition import Better, Quantity
from parshall.results.quantities.tables import Per


@dataclass(frozen=True)
class Named:
    """The meaning of a name.

    Parameters
    ----------
    name
        As it was written.
    place
        The group, flow or link; empty: the run, or the link that matters.
    """

    name: str
    quantity: Quantity
    place: str = ""

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.quantity.unit

    @property
    def better(self) -> Better | None:
        """The better direction."""
        return self.quantity.better

    @property
    def of_busiest(self) -> bool:
        """True if it is of the busiest link, which only all runs together determine."""
        return self.quantity.per == "link" and not self.place

    def label(self, link: str | None = None) -> str:
        """For people; with the link that it speaks of, if that is given."""
        place = self.place or (link if self.of_busiest else "")
        return f"{self.quantity.label}, {place}" if place else self.quantity.label


def known(per: Per) -> dict[str, Quantity]:
    """By key, in the order of pages: ours, then those of users."""
    listed = [*OURS.values(), *own.defined()]
    return {each.key: each for each in listed if each.per == per}


def find(name: str) -> Named | None:
    """Return the meaning of a name; None: it has none."""
    kind, _, rest = name.partition("/")
    place, _, key = rest.rpartition("/")
    if not place:
        quantity = _get("run", name) or _get("link", name)
        return None if quantity is None else Named(name, quantity)
    for per in _PLACES:
        if kind == per and (quantity := _get(per, key)) is not None:
            return Named(name, quantity, place) if per != "flow" or place.isdecimal() else None
    return None


def named(name: str) -> Named:
    """Return the meaning of a name.

    Raises
    ------
    InputError
        Nothing: a quantity of a user that this process has not defined, or a slip.
    """
    known_as = find(name)
    if known_as is None:
        raise InputError(f"metrics: {_unknown(name, _names([], []))}; one of your own is to be defined first")
    return known_as


def problem_with(name: str, groups: Sequence[str], links: Sequence[str]) -> str | None:
    """Return the reason why a name means nothing in a network of these groups and links; None: it has a meaning."""
    known_as = find(name)
    there = {
        "": True,
        "group": known_as and known_as.place in groups,
        "link": known_as and known_as.place in links,
        "flow": True,
    }
    if known_as is not None and there[known_as.quantity.per if known_as.place else ""]:
        return None
    return _unknown(name, _names(groups, links))


def undecided(name: str, links: Sequence[str]) -> str | None:
    """Return the reason why a quantity cannot end repetitions, or None: its link must be known before any run is."""
    known_as = find(name)
    if known_as is None or not known_as.of_busiest or len(links) < 2:
        return None
    accepted = ", ".join(f"link/{link}/{known_as.quantity.key}" for link in links)
    return f'found "{name}", of the busiest link, which is known only when all runs are done; accepted: {accepted}'


_PLACES: tuple[Per, ...] = ("group", "link", "flow")


def _get(per: Per, key: str) -> Quantity | None:
    return OURS.get((per, key)) or known(per).get(key)


def _names(groups: Iterable[str], links: Iterable[str]) -> list[str]:
    placed = [("group", name) for name in groups] + [("link", name) for name in links]
    of_places = [f"{per}/{name}/{key}" for per, name in placed for key in known(per)]  # type: ignore[arg-type]
    return [*SUMMARY, *known("run"), *known("link"), *of_places]


def _unknown(name: str, names: Sequence[str]) -> str:
    yours = [each.key for each in own.defined() if each.per == "run"]
    listed = ", ".join((*SUMMARY, *yours, "group/NAME/...", "link/NAME/...", "flow/NUMBER/..."))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f'found "{name}"; accepted: {listed}' + (f'. Did you mean "{close[0]}"?' if close else "")
