"""The fields of a part of a scenario as the section *Parameters* of its docstring: what ``help`` shows.

The fields, with their defaults, units and descriptions, are those that are validated.
"""

from __future__ import annotations

import textwrap
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

_WIDTH = 100
_MANY = 8
"""So many choices are listed."""


def parameters(model: type[BaseModel]) -> str:
    """Return one entry a field: its name, what it accepts, its default, and its description."""
    lines = ["Parameters", "----------"]
    for name, field in model.model_fields.items():
        lines.append(f"{field.alias or name} : {_accepted(field)}{_default(field)}")
        lines += textwrap.wrap(
            f"{(field.description or '').rstrip('.')}.", _WIDTH, initial_indent="    ", subsequent_indent="    "
        )
    return "\n".join(lines)


def with_parameters(docstring: str, model: type[BaseModel]) -> str:
    """Return a docstring with the parameters behind its summary, before its other sections."""
    summary, separator, rest = docstring.partition("\n\nRaises\n")
    return f"{summary}\n\n{parameters(model)}{separator}{rest}"


def summary(docstring: str) -> str:
    """Return a docstring without its parameters."""
    before, separator, rest = docstring.partition("\n\nParameters\n")
    _, raises, errors = rest.partition("\n\nRaises\n")
    return f"{before}{raises}{errors}" if separator else docstring


def _accepted(field: FieldInfo) -> str:
    outer = [text for each in field.metadata if (text := getattr(each, "what", None))]
    found = outer or list(dict.fromkeys(_types(field.annotation)))
    return " or ".join(found) or "value"


def _types(annotation: Any) -> list[str]:
    """Return the alternatives of an annotation in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        named = [text for each in annotation.__metadata__ if (text := getattr(each, "what", None))]
        return named or _types(arguments[0])
    if origin in (Union, UnionType):
        return [text for each in arguments if each is not NoneType for text in _types(each)]
    if origin is Literal:
        shown = [_literal(each) for each in arguments[:_MANY]]
        return [*shown, "..."] if len(arguments) > _MANY else shown
    if origin in (list, tuple):
        return [f"list of {' or '.join(_types(arguments[0])) or 'values'}"]
    if origin is dict:
        return ["table"]
    if not isinstance(annotation, type):
        return []
    if in_words := getattr(
        annotation, "in_words", None
    ):  # a quantity; `parshall.scenario.schema.quantities` needs this module
        return [str(in_words())]
    return [annotation.__name__]


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    default = None if field.default_factory is not None else field.default
    return ", optional" if default is None else f", default {_literal(default)}"
