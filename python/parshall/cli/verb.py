"""Functions as verbs: options from their parameters, and errors as exit codes."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature
from typing import Any, get_type_hints

import typer
from typer.core import TyperGroup

from parshall.cli.console import BAD_INPUT, FAILURE, INTERRUPTED, INVALID, fail


def verb(command: Callable[..., None]) -> Callable[..., None]:
    """Return the function with the options of its groups one by one, and errors as one message and an exit code."""
    signature, groups = _expanded(command)

    @functools.wraps(command)
    def guarded(**given: Any) -> None:
        from parshall.foundations.errors import InputError, InvalidEmulationError, ParshallError

        try:
            command(**_grouped(signature, groups, given))
            sys.stdout.flush()
        except InputError as error:
            fail(str(error), BAD_INPUT)
        except InvalidEmulationError as error:
            fail(str(error), INVALID)
        except ParshallError as error:
            fail(str(error), FAILURE)
        except KeyboardInterrupt:
            fail("interrupted", INTERRUPTED)
        except BrokenPipeError:
            # Whoever read our output has stopped: nothing is left to say, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILURE) from None

    guarded.__signature__ = signature  # type: ignore[attr-defined]
    return guarded


def _expanded(command: Callable[..., None]) -> tuple[Signature, dict[str, Any]]:
    """Return the signature with the fields of each group in its place, and the groups by their parameters."""
    given = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        each.name: each.annotation for each in given.parameters.values() if is_dataclass(each.annotation)
    }
    single = [
        option
        for each in given.parameters.values()
        for option in (_options(groups[each.name]) if each.name in groups else [each])
    ]
    return Signature([each.replace(kind=Parameter.KEYWORD_ONLY) for each in single]), groups


def _options(group: Any) -> Iterator[Parameter]:
    """Return the options of a group, as parameters."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


def _grouped(signature: Signature, groups: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a verb, those of a group as one."""
    bound = signature.bind(**given)
    bound.apply_defaults()
    values = dict(bound.arguments)
    made = {
        name: group(**{field.name: values.pop(field.name) for field in fields(group)}) for name, group in groups.items()
    }
    return values | made


class Commands(TyperGroup):
    """Verbs that answer an unknown verb with the known ones."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that a command line begins with."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            from parshall.scenario.schema.problems import did_you_mean, quoted

            meant = did_you_mean(args[0], known)
            where = f"{ctx.info_name}: " if ctx.parent is not None else ""
            accepted = f"{' Accepted' if meant else '; accepted'}: {quoted(known)}"
            fail(f'{where}found "{args[0]}"{meant}{accepted}', BAD_INPUT)
        return super().resolve_command(ctx, args)
