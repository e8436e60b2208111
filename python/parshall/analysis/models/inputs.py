"""Checks that every model makes of its arguments.

A model that is handed a loss probability of -1 or a round-trip time of NaN has nothing to say: it raises
`ModelInputError` rather than returning NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.foundations.errors import InputError

FloatArray = NDArray[np.float64]


class ModelInputError(InputError):
    """An argument for which no model has a value; the message names it and what is accepted."""


def probability(name: str, value: ArrayLike) -> FloatArray:
    """`value` as an array of numbers strictly between 0 and 1.

    Raises
    ------
    ModelInputError
        If a value is 0, 1, outside or not a number.

    Examples
    --------
    >>> float(probability("loss", 0.25))
    0.25
    """
    return _checked(name, value, lambda x: (x > 0) & (x < 1), "a number between 0 and 1 (both excluded)")


def probability_or_zero(name: str, value: ArrayLike) -> FloatArray:
    """`value` as an array of numbers from 0, which is included, to below 1.

    Raises
    ------
    ModelInputError
        If a value is negative, 1, above or not a number.

    Examples
    --------
    >>> float(probability_or_zero("loss", 0))
    0.0
    """
    return _checked(name, value, lambda x: (x >= 0) & (x < 1), "a number from 0 to below 1")


def positive(name: str, value: ArrayLike) -> FloatArray:
    """`value` as an array of finite numbers above 0.

    Raises
    ------
    ModelInputError
        If a value is 0, negative, infinite or not a number.

    Examples
    --------
    >>> positive("rtt_s", [0.1, 0.2]).tolist()
    [0.1, 0.2]
    """
    return _checked(name, value, lambda x: (x > 0) & (x < inf), "a finite number above 0")


def limit(name: str, value: ArrayLike) -> FloatArray:
    """`value` as an array of numbers above 0, infinity (no limit) included.

    Raises
    ------
    ModelInputError
        If a value is 0, negative or not a number.

    Examples
    --------
    >>> float(limit("window_limit_packets", float("inf")))
    inf
    """
    return _checked(name, value, lambda x: x > 0, "a number above 0, or infinity for no limit")


def _checked(name: str, value: ArrayLike, good: Callable[[Any], Any], accepted: str) -> FloatArray:
    """`value` as an array, every number of which is `good`: a comparison that takes an array or one number alike.

    One number is compared as Python's own, since NumPy takes some ten times as long for it, and predictions make
    thousands of such checks.
    """
    array = np.asarray(value, dtype=np.float64)
    if array.size == 0:
        raise ModelInputError(f"{name}: found nothing, accepted is {accepted}")
    compared = good(array if array.ndim else array.item())
    if not (compared.all() if array.ndim else compared):
        bad = float(array[~compared].flat[0]) if array.ndim else float(array)
        raise ModelInputError(f"{name}: found {bad}, accepted is {accepted}")
    return array
