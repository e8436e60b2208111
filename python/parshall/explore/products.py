"""Tables that follow from numbers: each number in them as a product of powers, learnt from tables at several settings.

    value = rounded(factor * n_1 ** e_1 * n_2 ** e_2 ...),   e_i in {-1, 0, 1}, factor a fraction

A part of the tables is a constant, ``{"$text": i}`` for the text of field i, or ``{"$product": [numerator, denominator,
exponents by field, rounding, least]}``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

ROUNDINGS = ("nearest", "down", "up")


class UnlikeError(Exception):
    """A part of the tables, whose path is the message, is no product of powers of the fields' numbers."""


@dataclass(frozen=True)
class ProductTrial:
    """The texts and numbers of the fields, and the tables that they give."""

    texts: Sequence[str]
    numbers: Sequence[float]
    tables: Any


def learnt(trials: Sequence[ProductTrial]) -> Any:
    """The tables as rules that give those of each trial; the first trial's numbers, each doubled, are among the others.

    Raises
    ------
    UnlikeError
        A part of the tables follows from the numbers in another way.
    """
    return _part(trials, [trial.tables for trial in trials], "")


def evaluated(part: Any, texts: Sequence[str], numbers: Sequence[float]) -> Any:
    """The tables that rules give for texts and numbers.

    Examples
    --------
    >>> evaluated({"x": {"$product": [3, 2, {"0": 1}, "down", 1]}}, ["5 ms"], [5.0])
    {'x': 7}
    """
    if isinstance(part, list):
        return [evaluated(each, texts, numbers) for each in part]
    if not isinstance(part, dict):
        return part
    if "$text" in part:
        return texts[part["$text"]]
    if "$product" in part:
        return _value(part["$product"], numbers)
    return {key: evaluated(each, texts, numbers) for key, each in part.items()}


def is_rule(part: Any) -> bool:
    """True if a part of rules stands for a value that follows from the fields."""
    return isinstance(part, dict) and any(key.startswith("$") for key in part)


def _part(trials: Sequence[ProductTrial], found: Sequence[Any], path: str) -> Any:
    """The rule of a part of the tables, from what it was in each trial."""
    first = found[0]
    if all(each == first and isinstance(each, bool) == isinstance(first, bool) for each in found):
        return first
    if isinstance(first, dict) and all(isinstance(each, dict) and each.keys() == first.keys() for each in found):
        return {key: _part(trials, [each[key] for each in found], f"{path}.{key}") for key in first}
    if isinstance(first, list) and all(isinstance(each, list) and len(each) == len(first) for each in found):
        return [_part(trials, [each[at] for each in found], f"{path}.{at}") for at in range(len(first))]
    if all(isinstance(each, str) for each in found):
        for at in range(len(trials[0].texts)):
            if all(each == trial.texts[at] for each, trial in zip(found, trials, strict=True)):
                return {"$text": at}
    if all(isinstance(each, int | float) for each in found):
        return _product(trials, found, path)
    raise UnlikeError(path.lstrip("."))


def _product(trials: Sequence[ProductTrial], found: Sequence[float], path: str) -> Any:
    """The product of powers of the fields' numbers that a number is."""
    exponents = _exponents(trials, found)
    if exponents is None:
        raise UnlikeError(path.lstrip("."))
    powers = [math.prod(number**e for number, e in zip(trial.numbers, exponents, strict=True)) for trial in trials]
    is_whole = all(isinstance(each, int) for each in found)
    slack = 1.0 if is_whole else 0.0
    rests = [(each, power) for each, power in zip(found, powers, strict=True) if each > slack]
    low = max(((each - slack) / power * (1 - 1e-12) for each, power in rests), default=0.0)
    high = min(((each + slack) / power * (1 + 1e-12) for each, power in rests), default=0.0)
    if not 0 < low <= high:
        raise UnlikeError(path.lstrip("."))
    for rounding in ROUNDINGS if is_whole else ("none",):
        for factor in _factors(found[0] / powers[0], low, high):
            product = [
                factor.numerator,
                factor.denominator,
                {str(at): e for at, e in enumerate(exponents) if e},
                rounding,
                1 if is_whole else 0,
            ]
            if all(_value(product, trial.numbers) == each for trial, each in zip(trials, found, strict=True)):
                return {"$product": product}
    raise UnlikeError(path.lstrip("."))


def _exponents(trials: Sequence[ProductTrial], found: Sequence[float]) -> list[int] | None:
    """The power of each field's number, from what its double does; None where that is none of -1, 0 and 1."""
    own = trials[0].numbers
    powers = [0] * len(own)
    for trial, each in zip(trials[1:], found[1:], strict=True):
        doubled = [at for at, number in enumerate(trial.numbers) if number != own[at]]
        if len(doubled) == 1 and found[0] > 0 and each > 0:
            ratio = each / found[0]
            expected = trial.numbers[doubled[0]] / own[doubled[0]]
            powers[doubled[0]] = round(math.log(ratio) / math.log(expected))
    return powers if all(abs(power) <= 1 for power in powers) else None


def _factors(measured: float, low: float, high: float) -> Iterator[Fraction]:
    """Fractions between two bounds, the simplest first."""
    yield _simplest(Fraction(low), Fraction(high))
    for digits in (6, 9, 12):
        near = Fraction(measured).limit_denominator(10**digits)
        if low <= near <= high:
            yield near


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator between two bounds (continued fractions)."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = math.floor(low)
    return below + 1 / _simplest(1 / (high - below), 1 / (low - below))


def _value(product: Sequence[Any], numbers: Sequence[float]) -> float:
    """The value of a product; what a rounding of doubles takes from a whole number is given back first."""
    numerator, denominator, exponents, rounding, least = product
    value = float(numerator)
    for at, exponent in exponents.items():
        value = value * numbers[int(at)] if exponent > 0 else value / numbers[int(at)]
    value /= float(denominator)
    if rounding == "none":
        return value
    nearest = math.floor(value + 0.5)
    if rounding == "nearest" or abs(value - nearest) < 1e-9 * max(1.0, abs(value)):
        return max(int(least), nearest)
    return max(int(least), math.floor(value) if rounding == "down" else math.ceil(value))
