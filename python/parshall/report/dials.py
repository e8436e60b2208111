"""A dial: what was asked of a quantity, what a model says, and what was simulated, on one scale.

The scale is straight. The side of the bound that is allowed is shaded; a diamond is the model, a disc the simulation,
with its interval as a bar. The same numbers stand below it as text, and the drawing is described in words: on paper
without colours, and to who cannot see it, it says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from parshall.analysis.stats.confidence import Interval
from parshall.foundations.numbers import given, quantity
from parshall.report.document import Block
from parshall.report.uncertainty import interval_text
from parshall.scenario.schema.printing import printable

_LEFT, _RIGHT, _Y = 14.0, 306.0, 34.0
"""Of the scale, in a drawing of 320 by 64."""

_ROOM = 0.2
"""Of the scale, beside the outermost value."""


@dataclass(frozen=True)
class Dial:
    """One quantity.

    Parameters
    ----------
    label, unit
        Of the quantity.
    bound
        What is asked: at most that, or at least.
    model
        What a model says, and what the model is in a few words; None: none holds.
    simulated
        None: it was not simulated.
    verdict
        In a word.
    """

    label: str
    unit: str
    bound: float
    at_least: bool
    model: float | None
    model_name: str
    simulated: Interval | None
    verdict: str

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What stands below the drawing: what a number is, and the number."""
        asked = f"at {'least' if self.at_least else 'most'} {given(self.bound, self.unit)}"
        model = "no model holds" if self.model is None else quantity(self.model, self.unit)
        simulated = "not simulated" if self.simulated is None else interval_text(self.simulated, self.unit)
        return [("Asked", asked), (self.model_name, model), ("Simulated", simulated)]

    @property
    def image(self) -> Markup:
        """The drawing."""
        sentence = "; ".join(f"{what.lower()}: {text}" for what, text in self.rows)
        label = escape(printable(f"{self.label}. {sentence}. {self.verdict.capitalize()}."))
        return Markup(  # noqa: S704 - the words are escaped, all else are numbers
            f'<svg role="img" aria-label="{label}" viewBox="0 0 320 64">{"".join(self._marks())}</svg>'
        )

    @property
    def ends(self) -> tuple[float, float]:
        """Of the scale: what is shown and some room, but no share beyond 0 and 1, and nothing below 0."""
        marks = [self.bound]
        marks += [] if self.model is None else [self.model]
        if self.simulated is not None:
            marks += [
                value for value in (self.simulated.mean, self.simulated.low, self.simulated.high) if value is not None
            ]
        least, most = min(marks), max(marks)
        room = (most - least or abs(most) or 1.0) * _ROOM
        low, high = least - room, most + room
        if least >= 0:
            low = max(0.0, low) if least > room else 0.0
        return low, min(1.0, high) if self.unit == "ratio" and most <= 1 else high

    def _place(self, value: float) -> float:
        low, high = self.ends
        return _LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low)

    def _marks(self) -> list[str]:
        low, high = self.ends
        bound = self._place(self.bound)
        allowed = (bound, _RIGHT) if self.at_least else (_LEFT, bound)
        number = '<text x="{:g}" y="60" text-anchor="{}" class="small">{}</text>'
        marks = [
            f'<path d="M{_LEFT} {_Y}H{_RIGHT}" stroke="var(--grid)" stroke-width="12"/>',
            f'<path d="M{allowed[0]:.1f} {_Y}H{allowed[1]:.1f}" stroke="var(--allowed)" stroke-width="12"/>',
            f'<path d="M{bound:.1f} {_Y - 16}V{_Y + 12}" stroke="var(--ink)" stroke-width="2"/>',
            f'<text x="{bound:.1f}" y="12" text-anchor="{_anchor(bound)}">{given(self.bound, self.unit)}</text>',
            number.format(_LEFT, "start", quantity(low, self.unit)),
            number.format(_RIGHT, "end", quantity(high, self.unit)),
        ]
        if self.simulated is not None:
            at = self._place(self.simulated.mean)
            if self.simulated.low is not None and self.simulated.high is not None:
                ends = (self._place(self.simulated.low), self._place(self.simulated.high))
                marks.append(f'<path d="M{ends[0]:.1f} {_Y}H{ends[1]:.1f}" stroke="var(--series-0)" stroke-width="4"/>')
            marks.append(f'<circle cx="{at:.1f}" cy="{_Y}" r="6" fill="var(--series-0)" stroke="var(--paper)"/>')
        if self.model is not None:
            at = self._place(self.model)
            marks.append(
                f'<path d="M{at - 7:.1f} {_Y}l7 -7l7 7l-7 7z" fill="var(--paper)" stroke="var(--ink)" '
                f'stroke-width="2"/>'
            )
        return marks


def dials(shown: Sequence[Dial]) -> Block:
    """Dials beside each other, as a block of a page."""
    return Block("dials", shown)


def _anchor(x: float) -> str:
    return "start" if x < 60 else "end" if x > 260 else "middle"
