r"""Numbers as a reader wants them: sensible digits, units, uncertainty.

Nothing here ever prints ``nan``, ``inf`` or ``None``: a value that is not there becomes an em dash, `ABSENT`.

>>> quantity(47_312_000.0, "bit/s")
'47.3\xa0Mbit/s'
>>> quantity(0.01243, "s")
'12.4\xa0ms'
>>> quantity(0.00132, "ratio")
'0.132\xa0%'
>>> with_half_width(47.3124, 0.1234)
'47.31\u202f±\u202f0.12'
"""

from __future__ import annotations

import math
from dataclasses import dataclass

ABSENT = "—"
NO_BREAK = "\u00a0"
THIN = "\u202f"
MINUS = "\u2212"
_ROUNDING = 1e-11
"""Relative: far above the error of a sum of doubles, far below any difference that means something."""

_MOST_DIGITS = 5
"""Of a value with a confidence interval."""

_MOST_DECIMALS = 6
"""More are written as powers of ten."""


@dataclass(frozen=True)
class Scale:
    """A unit to print in: the value is multiplied by `factor`, then named `unit`."""

    factor: float
    unit: str


_SCALES: dict[str, tuple[Scale, ...]] = {
    "bit/s": (
        Scale(1.0, "bit/s"),
        Scale(1e-3, "kbit/s"),
        Scale(1e-6, "Mbit/s"),
        Scale(1e-9, "Gbit/s"),
        Scale(1e-12, "Tbit/s"),
    ),
    "s": (Scale(1e9, "ns"), Scale(1e6, "µs"), Scale(1e3, "ms"), Scale(1.0, "s")),
    "B": (Scale(1.0, "B"), Scale(1e-3, "kB"), Scale(1e-6, "MB"), Scale(1e-9, "GB"), Scale(1e-12, "TB")),
    "ratio": (Scale(100.0, "%"),),
}


def scale_for(magnitude: float, unit: str) -> Scale:
    """The scale in which `magnitude` (in `unit`) has one to three digits before the point.

    A unit without prefixes (``packets``, ``1``) keeps itself; ``ratio`` is printed in per cent.
    """
    scales = _SCALES.get(unit)
    if scales is None:
        return Scale(1.0, "" if unit == "1" else unit)
    size = abs(magnitude)
    if not math.isfinite(size) or size == 0.0:
        return next((scale for scale in scales if scale.factor == 1.0), scales[0])
    fitting = [scale for scale in scales if size * scale.factor >= 0.9995]
    return min(fitting, key=lambda scale: scale.factor) if fitting else max(scales, key=lambda s: s.factor)


def significant(value: float | None, digits: int = 3) -> str:
    """`value` to `digits` significant digits, thousands set apart, powers of ten for the very small and large."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if value == 0.0:
        return "0"
    exponent = _exponent(value, digits)
    if exponent < -3 or exponent > 8:
        return _powered(value, digits)
    return _fixed(value, max(0, digits - 1 - exponent))


def quantity(value: float | None, unit: str, digits: int = 3) -> str:
    """`value` in `unit`, with a prefix that suits its size."""
    if value is None or not math.isfinite(value):
        return ABSENT
    scale = scale_for(value, unit)
    return joined(significant(value * scale.factor, digits), scale.unit)


def given(value: float | None, unit: str, digits: int = 5) -> str:
    r"""A quantity that someone chose, without digits that he did not write.

    >>> given(0.04, "s"), given(48e6, "bit/s"), given(0.0123456, "s")
    ('40\xa0ms', '48\xa0Mbit/s', '12.346\xa0ms')
    """
    if value is None or not math.isfinite(value):
        return ABSENT
    scale = scale_for(value, unit)
    return joined(trimmed(value * scale.factor, digits), scale.unit)


def trimmed(value: float, digits: int = 5) -> str:
    """`value` to at most `digits` significant digits, without zeros at its end."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "×" not in text else text


def tick(value: float) -> str:
    """A label of an axis; millions and millionths, which would not fit, as multiples of a power of ten.

    >>> tick(0.30000000000000004), tick(40_000.0), tick(1.5e6), tick(1e-5)
    ('0.3', '40\u202f000', '1.5×10⁶', '1×10⁻⁵')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return trimmed(value, 8)
    mantissa, _, exponent = f"{value:.5e}".partition("e")
    return f"{float(mantissa):g}×10{_raised(int(exponent))}".replace("-", MINUS)


def joined(number: str, unit: str) -> str:
    """A number and its unit, which a line break may not part."""
    return f"{number}{NO_BREAK}{unit}" if unit else number


def count(value: float) -> str:
    """An exact count, thousands set apart."""
    return _grouped(f"{round(value):d}").replace("-", MINUS)


def counted(number: float, singular: str, plural: str | None = None) -> str:
    """A count and its noun: ``1 flow``, ``12 flows``."""
    return f"{count(number)}{NO_BREAK}{singular if number == 1 else plural or singular + 's'}"


def with_half_width(value: float, half_width: float) -> str:
    """``value ± half_width``, as `matching` and `half_width_text` print them."""
    if negligible(half_width, value) or not math.isfinite(half_width):
        return significant(value, 4)
    return f"{matching(value, half_width)}{THIN}{half_width_text(half_width, value)}"


def negligible(half_width: float, magnitude: float) -> bool:
    """True if `half_width` is nothing but the rounding of sums about `magnitude`.

    >>> negligible(5e-15, 1.0), negligible(5e-15, 1e-14), negligible(0.0, 0.0)
    (True, False, True)
    """
    return abs(half_width) <= _ROUNDING * abs(magnitude)


def half_width_text(half_width: float, value: float) -> str:
    """``± half_width`` alone, for a line of its own beneath a `value` that `matching` printed.

    >>> half_width_text(0.1234, 47.3124), half_width_text(2e-5, 19.46604)
    ('±\u202f0.12', '±\u202f<\u202f0.001')
    """
    decimals = _decimals(value, half_width)
    if decimals is None:
        return f"±{THIN}{significant(half_width, 2)}"
    least = 10.0**-decimals
    return (
        f"±{THIN}{_fixed(half_width, decimals)}"
        if half_width >= least / 2
        else f"±{THIN}<{THIN}{_fixed(least, decimals)}"
    )


def matching(value: float, half_width: float) -> str:
    """`value` to the second significant digit of its half width (without printing the latter).

    But at most to its own fifth digit: more are of no use to a reader.

    >>> matching(47.3124, 0.1234), matching(19.46604, 0.0034), matching(19.46604, 2e-5)
    ('47.31', '19.466', '19.466')
    """
    if negligible(half_width, value) or not math.isfinite(half_width):
        return significant(value)
    decimals = _decimals(value, half_width)
    if decimals is not None:
        return _fixed(value, decimals)
    known = 2 + _exponent(value, 2) - _exponent(half_width, 2)
    return significant(value, min(_MOST_DIGITS, max(2, known)))


def _decimals(value: float, half_width: float) -> int | None:
    """Return the number of decimals of a value with that half width; ``None`` if both need powers of ten."""
    decimals = max(0, 1 - _exponent(half_width, 2))
    if value:
        decimals = min(decimals, max(0, _MOST_DIGITS - 1 - _exponent(value, _MOST_DIGITS)))
    return decimals if decimals <= _MOST_DECIMALS else None


def _exponent(value: float, digits: int) -> int:
    """The power of ten of the leading digit once `value` is rounded to `digits` digits."""
    return int(f"{abs(value):.{digits - 1}e}".partition("e")[2])


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if float(text) == 0.0:
        text = text.lstrip("-")
    return _grouped(text).replace("-", MINUS)


def _powered(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa.replace('-', MINUS)}{THIN}×{THIN}10{_raised(int(exponent))}"


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _grouped(text: str) -> str:
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, point, fraction = digits.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return sign + whole + point + fraction
