"""Errors of pydantic in the words of a person: where, what was found, what is accepted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.model import dotted
from parshall.scenario.schema.printing import cut


def messages(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """One message a problem, each starting with its key path."""
    found = [_message(details, model) for details in error.errors(include_url=False)]
    return list(dict.fromkeys(found))


def did_you_mean(found: object, known: Iterable[str]) -> str:
    """A hint at the known name that looks most like what was found, or nothing."""
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(str(found).lower(), names, n=1, cutoff=0.6)
    return f'. Did you mean "{names[close[0]]}"?' if close else ""


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, separated by commas."""
    return ", ".join(f'"{name}"' for name in names)


def shown(value: object) -> str:
    """A value as TOML has it, cut if long."""
    match value:
        case bool():
            text = "true" if value else "false"
        case int():
            text = str(value) if value.bit_length() < _LONG_BITS else hex(value)
        case str():
            text = f'"{value}"'
        case dict():
            text = "{" + ", ".join(f"{key} = {shown(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            text = "[" + ", ".join(shown(item) for item in value) + "]"
        case _:
            text = str(value)
    return cut(text)


_LONG_BITS = 10_000
"""Python refuses to write integers of more than 4300 decimal digits."""


def _message(details: ErrorDetails, model: type[BaseModel]) -> str:
    location = details["loc"]
    if details["type"] == "extra_forbidden":  # its last part is a key, whatever it looks like
        key = (*(part for part in location[:-1] if not _is_tag(part)), location[-1])
    else:
        key = tuple(part for part in location if not _is_tag(part))
    text = _text(details, model)
    return f"{dotted(key)}: {text}" if key else text


def _text(details: ErrorDetails, model: type[BaseModel]) -> str:  # noqa: C901, PLR0912 - one line a type
    found, context = details["input"], details.get("ctx", {})
    match details["type"]:
        case "value_error":
            return str(context["error"])
        case "extra_forbidden":
            return _unknown_key(details, model)
        case "missing":
            return "missing; it has no default"
        case "unknown_name":
            return _unknown_name(found, context)
        case "unknown_form":
            return f"found {shown(found)}; accepted: {context['accepted']}"
        case "literal_error":
            return _not_one_of(found, context["expected"].replace("'", '"'))
        case "greater_than_equal":
            return f"found {shown(found)}; accepted: {context['ge']:.15g} or more{_meaning(details, model)}"
        case "less_than_equal":
            return f"found {shown(found)}; accepted: {context['le']:.15g} or less{_meaning(details, model)}"
        case "too_short":
            return f"found {shown(found)}; accepted: {context['min_length']} or more of them"
        case "float_type" | "float_parsing" | "finite_number":
            return f"found {shown(found)}; accepted: a number without a unit, e.g. 0.1{_share(found)}"
        case "int_type" | "int_from_float" | "int_parsing":
            return f"found {shown(found)}; accepted: a whole number, e.g. 10{_meaning(details, model)}"
        case "bool_type" | "bool_parsing":
            return f"found {shown(found)}; accepted: true or false{_truth(found)}"
        case "string_type":
            return f"found {shown(found)}; accepted: text in quotes{_meaning(details, model)}"
        case "list_type" | "tuple_type":
            return f"found {shown(found)}; accepted: a list{_list_form(details, found)}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"found {shown(found)}; accepted: a table, e.g. {{key = value}}{_meaning(details, model)}"
        case "string_pattern_mismatch":
            return f"found {shown(found)}; accepted: letters, digits, _ and -, starting with a letter or digit"
        case _:
            return f"found {shown(found)}; {_lower(details['msg'])}"


def _unknown_key(details: ErrorDetails, model: type[BaseModel]) -> str:
    *before, unknown = details["loc"]
    known = sorted(set(_keys(model, before)))
    return f"unknown key; accepted: {quoted(known)}{did_you_mean(unknown, known)}"


def _not_one_of(found: object, names: str) -> str:
    known = names.split('"')[1::2]
    return f"found {shown(found)}; accepted: {names}{did_you_mean(found, known)}"


def _unknown_name(found: object, context: dict[str, Any]) -> str:
    names = context["names"].split()
    if isinstance(found, dict) and "name" not in found:
        return f"found {shown(found)}, without a name; accepted names: {quoted(names)}"
    name = found.get("name") if isinstance(found, dict) else found
    if context["what"] == "a loss model" and isinstance(name, int | float) and not isinstance(name, bool):
        meant = f'. Did you mean {{name = "bernoulli", probability = {name}}}?'
        return f"found {name}, which is not the name of {context['what']}; accepted: {quoted(names)}{meant}"
    meant = did_you_mean(name, names)
    in_catalog = any(name == entry.name for entry in family("congestion_controls"))
    if context["what"].startswith("a congestion control") and not meant and not in_catalog:
        meant = f"; or say what makes your own: --control {name}=FILE.py:CLASS, controls={{...}} in Python"
    no_name = f"found {shown(name)}, which is not the name of {context['what']}"
    if meant.startswith(". Did"):  # before a list that may be long
        return f"{no_name}{meant} Accepted: {quoted(names)}"
    return f"{no_name}; accepted: {quoted(names)}{meant}"


def _share(found: object) -> str:
    """Return the share that a percentage was meant to be, as a question."""
    text = found.strip() if isinstance(found, str) else ""
    if not text.endswith("%"):
        return ""
    try:
        return f". Did you mean {float(text[:-1]) / 100:g}?"
    except ValueError:
        return ""


def _truth(found: object) -> str:
    words = {"yes": "true", "on": "true", "true": "true", "1": "true", "no": "false", "off": "false", "false": "false"}
    meant = words.get(str(found).lower(), "false" if str(found) == "0" else "")
    return f". Did you mean {meant}?" if meant else ""


def _list_form(details: ErrorDetails, found: object) -> str:
    if details["loc"] in {("flows",), ("links",)}:
        return f" of tables, each under [[{details['loc'][0]}]]"
    return f". Did you mean [{shown(found)}]?" if isinstance(found, str | int | float) else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _is_tag(part: object) -> bool:
    """True if a part of a location is not a key but a form of a value that was tried."""
    return isinstance(part, str) and part.startswith("<") and part.endswith(">")


def _meaning(details: ErrorDetails, model: type[BaseModel]) -> str:
    """Return the purpose of the field, in brackets."""
    *before, last = details["loc"]
    for each in _models_at(model, before):
        field = each.model_fields.get(str(last))
        if field is not None and field.description:
            return f" ({field.description.rstrip('.')})"
    return ""


def _keys(model: type[BaseModel], location: Iterable[str | int]) -> Iterator[str]:
    """The keys that are accepted at a location."""
    for each in _models_at(model, location):
        for name, field in each.model_fields.items():
            yield field.alias or name


def _models_at(model: type[BaseModel], location: Iterable[str | int]) -> list[type[BaseModel]]:
    """The models that a location may hold."""
    candidates: list[Any] = [model]
    for part in location:
        if isinstance(part, int):
            continue
        if _is_tag(part):
            candidates = [each for each in candidates if part in _tags(each)] or candidates
            continue
        fields = [m.model_fields[part] for m in _models(candidates) if part in m.model_fields]
        # Pydantic takes the outermost annotation of a field apart.
        candidates = [option for field in fields for option in (*_choices(field.metadata), *_options(field.annotation))]
    return list(_models(candidates))


def _models(candidates: Iterable[Any]) -> Iterator[type[BaseModel]]:
    for candidate in candidates:
        bare = candidate
        while hasattr(bare, "__metadata__"):
            bare = get_args(bare)[0]
        if isinstance(bare, type) and issubclass(bare, BaseModel):
            yield bare


def _options(annotation: Any) -> Iterator[Any]:
    """The alternatives of an annotation, each with the tag it may carry."""
    if hasattr(annotation, "__metadata__"):
        yield from _choices(annotation.__metadata__)
        inner = get_args(annotation)[0]
        if isinstance(inner, type):
            yield annotation
        else:
            yield from _options(inner)
    elif get_args(annotation):
        for argument in get_args(annotation):
            yield from _options(argument)
    else:
        yield annotation


def _choices(metadata: Iterable[Any]) -> Iterator[Any]:
    """The models of a field that `families.choice` made."""
    return (option for item in metadata if hasattr(item, "options") for option in item.options())


def _tags(candidate: Any) -> list[str]:
    return [getattr(item, "tag", "") for item in getattr(candidate, "__metadata__", ())]
