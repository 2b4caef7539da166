"""Options of a question: the parameters of an estimator that an analyst may choose.

An option is text in a form and a plain value in a question. Its default is the estimator's own, and
an option at its default is left out, so that a question has one form and one digest. Some are lists
of public things, such as columns or points, and some are given to the estimator's ``fit``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from privclust.parameters import Flag, Items, OneOf, Parameter, Whole
from privclust.service.errors import ServiceError
from privclust.service.targets import numbers_in, numbers_of, targets_in, targets_of

_MOST = 1_000_000
_DECIMAL = re.compile(r"(\d{1,15}(\.\d{0,15})?|\.\d{1,15})([eE][+-]?\d)?")
_SWITCH = {"yes": True, "no": False}
_NOT_ASKED = ("precomputed",)  # a table of distances cannot come with a question


@dataclass(frozen=True)
class Option:
    """One parameter that can be chosen."""

    name: str  # the estimator's own name of it, which requests use too
    label: str  # what a reader calls it
    # The last four are lists: of columns asked about, of points, of numbers, one for each target,
    # and of places in a list, counted from 0.
    kind: Literal["choice", "whole", "number", "switch", "columns", "points", "numbers", "places"]
    default: Any  # the estimator's own
    choices: tuple[str, ...] = ()  # what can be chosen; empty if it is a number or a list
    of_fit: bool = False  # whether it is an argument of the estimator's ``fit``

    @classmethod
    def of(cls, parameter: Parameter) -> Option:
        """Return the option of a parameter."""
        label, kind = parameter.label or parameter.words.rstrip("."), parameter.kind
        made = partial(cls, parameter.name, label, default=parameter.default)
        if isinstance(kind, OneOf):
            choices = tuple(choice for choice in kind.choices if choice not in _NOT_ASKED)
            return made(kind="choice", choices=choices)
        if isinstance(kind, Flag) or True in parameter.also:
            return made(kind="switch", choices=("yes", "no"))
        if isinstance(kind, Items):
            return made(kind=kind.of, of_fit=parameter.of_fit)  # type: ignore[arg-type]
        return made(kind="whole" if isinstance(kind, Whole) else "number")

    @property
    def is_long(self) -> bool:
        """Whether a form has lines for it, which are too much for an address."""
        return self.kind in ("points", "numbers", "places")

    def parsed(self, given: Any, columns: Sequence[str] = ()) -> Any:
        """Return the value that a request means, or refuse it in one sentence."""
        if given is None or given == "" or (given == self.default and type(given) is not bool):
            return self.default
        if self.is_long or self.kind == "columns":
            return self._list(given, columns) or self.default
        if not isinstance(given, str | int | float):
            raise ServiceError(f"{self.label} is one value, not a list; change it.")
        text = str(given).strip()
        if self.kind == "switch":
            text = {"true": "yes", "false": "no"}.get(text.lower(), text)
        if self.choices:
            if text not in self.choices:
                raise ServiceError(f"{self.label} is one of {', '.join(self.choices)}; choose one.")
            return _SWITCH[text] if self.kind == "switch" and text in _SWITCH else text
        return self._number(text)

    def _list(self, given: Any, columns: Sequence[str]) -> tuple[Any, ...]:
        if self.kind == "points":
            return targets_of(targets_in(given) if isinstance(given, str) else given, len(columns))
        if self.kind != "columns":
            listed = numbers_in(given) if isinstance(given, str) else given
            return numbers_of(self.label, listed, whole=self.kind == "places")
        names = [it.strip() for it in given.split(",")] if isinstance(given, str) else given
        if not isinstance(names, Sequence) or any(name not in columns for name in names):
            raise ServiceError(f"{self.label}: name columns that are asked about; change it.")
        return tuple(name for name in columns if name in names)

    def _number(self, text: str) -> int | float:
        value = float(text) if _DECIMAL.fullmatch(text) else math.nan
        if not 0 < value <= _MOST or (self.kind == "whole" and value != int(value)):
            what = "a whole number" if self.kind == "whole" else "a number above 0"
            raise ServiceError(f"{self.label} is {what}; change it.")
        return int(value) if self.kind == "whole" else value

    def shown(self, value: Any) -> str:
        """Return a value as the form has it."""
        if value is None:
            return ""
        if self.kind == "points":
            return "\n".join(", ".join(map(str, point)) for point in value)
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        if self.kind == "switch":
            return "yes" if value is True else "no" if value is False else str(value)
        return str(value)


def method_option(methods: Sequence[str]) -> Option:
    """Return the option of the algorithm, whose first choice is the default."""
    return Option("method", "Algorithm", "choice", methods[0], tuple(methods))


def chosen_options(
    options: tuple[Option, ...], given: Any, columns: Sequence[str] = ()
) -> dict[str, Any]:
    """Return those options that a request sets to something other than their defaults."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ServiceError("The options are values by their names; compare the description.")
    known = {option.name: option for option in options}
    unknown = [str(name)[:40] for name in given if name not in known]
    if unknown:
        offered = f"it has {', '.join(known)}" if known else "it has none"
        raise ServiceError(f"This family has no option {unknown[0]!r}; {offered}.")
    values = {name: option.parsed(given.get(name), columns) for name, option in known.items()}
    return {name: value for name, value in values.items() if value != known[name].default}
