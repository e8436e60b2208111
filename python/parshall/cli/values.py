"""Texts of options as numbers and names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from parshall.cli.options import SCALES

if TYPE_CHECKING:
    from parshall.campaign.shard import Shard as ShardNumber


@overload
def duration_s(option: str, text: str) -> float: ...
@overload
def duration_s(option: str, text: str | None) -> float | None: ...
def duration_s(option: str, text: str | None) -> float | None:
    """A time with its unit as seconds; None stays None.

    Raises
    ------
    InputError
        It is no time above 0.

    Examples
    --------
    >>> duration_s("--rtt", "100 ms")
    0.1
    """
    if text is None:
        return None
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.quantities import PS_PER_S

    # Divided: a product with 1e-12 is 0.09999999999999999 for 100 ms.
    seconds = parsed(option, "duration", text) / PS_PER_S
    if seconds <= 0:
        raise InputError(f'{option}: found "{text}"; accepted: times above 0, e.g. "100 ms"')
    return seconds


def parsed(option: str, kind: str, text: str) -> float:
    """The quantity that an option was given, in the smallest unit of its kind (`parshall.scenario.schema.quantities`).

    Raises
    ------
    InputError
        The text is none of that kind.

    Examples
    --------
    >>> parsed("--rate", "rate", "10 Mbit/s")
    10000000.0
    """
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.quantities import parse

    try:
        return float(parse(kind, text.strip()))
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


Name = TypeVar("Name", bound=str)


def one_of(option: str, found: str, known: Sequence[Name]) -> Name:
    """Return the known name that was found; case does not matter.

    Raises
    ------
    InputError
        It is none; the message has those that it may have been meant to be.
    """
    for name in known:
        if name == found.casefold():
            return name
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.problems import did_you_mean, quoted

    raise InputError(f'{option}: found "{found}"; accepted: {quoted(known)}{did_you_mean(found, known)}')


def scale_named(name: str) -> Literal["quick", "paper"]:
    """The scale of a study.

    Raises
    ------
    InputError
        There is none of that name.
    """
    return one_of("--scale", name, SCALES)


def shard_of(text: str | None, output: Path | None, *, as_json: bool) -> ShardNumber | None:
    """The part of ``--shard``; all without any.

    Raises
    ------
    InputError
        It is none, or stands beside ``--output`` or ``--json``.
    """
    if text is None:
        return None
    from parshall.campaign import shard
    from parshall.foundations.errors import InputError

    if output is not None or as_json:
        raise InputError("--shard: found beside --output or --json; a shard has no page, the same without it collects")
    return shard.Shard.parse(text)


def share(text: str | None) -> float:
    """A share as it is given, ``2 %`` or ``0.02``; the default threshold without any.

    Raises
    ------
    InputError
        It is neither.

    Examples
    --------
    >>> share("2 %"), share("0.02"), share(None)
    (0.02, 0.02, 0.01)
    """
    from parshall.analysis.stats.verdict import AT_LEAST

    if text is None:
        return AT_LEAST
    return _share("--at-least", text, lambda value: 0 <= value < 1, 'a share such as "1 %" or 0.01')


def asked_share(option: str, text: str) -> float:
    """A share that is asked of something, ``98 %`` or ``0.98``: above 0, and possibly all.

    Raises
    ------
    InputError
        It is none.

    Examples
    --------
    >>> asked_share("--utilisation", "98 %"), asked_share("--utilisation", "1")
    (0.98, 1.0)
    """
    return _share(option, text, lambda value: 0 < value <= 1, 'above 0 and at most 1, such as "98 %" or 0.98')


def part(option: str, text: str) -> float:
    """A share that may be nothing: ``1 %`` or ``0.01``, from 0 to 1.

    Raises
    ------
    InputError
        It is none.

    Examples
    --------
    >>> part("--loss", "1 %"), part("--loss", "0")
    (0.01, 0.0)
    """
    return _share(option, text, lambda value: 0 <= value <= 1, 'a share from 0 to 1, such as "1 %" or 0.01')


def _share(option: str, text: str, fits: Callable[[float], bool], accepted: str) -> float:
    """The share that a text is, if it fits; `accepted` says which do."""
    from parshall.foundations.errors import InputError

    value = _as_share(text)
    if not fits(value):
        raise InputError(f'{option}: found "{text}"; accepted: {accepted}')
    return value


def _as_share(text: str) -> float:
    """The number of ``98 %`` or ``0.98``; NaN: it is neither."""
    stripped = text.strip()
    try:
        return float(stripped.removesuffix("%")) / (100 if stripped.endswith("%") else 1)
    except ValueError:
        return float("nan")
