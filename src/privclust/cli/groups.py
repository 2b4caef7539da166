"""Groups of options: a dataclass whose fields are options, written once and taken by many commands.

A command decorated by :func:`takes_groups` names a parameter and annotates it with such a class; it
gets the options of the class, and receives them as one object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["takes_groups"]


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every group among its parameters."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    groups = {parameter.name: parameter.annotation for parameter in own if _is_group(parameter)}
    shown = [
        part for p in own for part in (_options_of(p.annotation) if p.name in groups else [_by(p)])
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    with_options.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {part.name: part.annotation for part in shown}
    del with_options.__wrapped__  # typer would look for the options there
    return with_options


def _is_group(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)


def _by(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
