"""Options of a question: the parameters of an estimator that an analyst may choose.

An option is text in a form and a plain value in a question. Its default is the estimator's own, and
an option at its default is left out, so that a question has one form and one digest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from privclust.service.errors import ServiceError

__all__ = ["Option", "choice", "chosen_options", "number", "part", "switch", "whole"]

_MOST = 1_000_000
_DECIMAL = re.compile(r"(\d{1,15}(\.\d{0,15})?|\.\d{1,15})([eE][+-]?\d)?")
_SWITCH = {"yes": True, "no": False}


@dataclass(frozen=True)
class Option:
    """One parameter that can be chosen.

    Attributes
    ----------
    name : str
        The estimator's own name of it, which requests use too.
    label : str
        What a reader calls it.
    kind : {"choice", "whole", "number", "switch"}
    default : str, int, float, bool or None
        The estimator's own.
    choices : tuple of str
        What can be chosen; empty if it is a number.
    """

    name: str
    label: str
    kind: Literal["choice", "whole", "number", "switch"]
    default: Any
    choices: tuple[str, ...] = ()

    def parsed(self, given: Any) -> Any:
        """Return the value that a request means, or refuse it in one sentence."""
        if given is None or given == "" or (given == self.default and type(given) is not bool):
            return self.default
        text = str(given).strip()
        if self.kind == "switch":
            text = {"true": "yes", "false": "no"}.get(text.lower(), text)
        if self.choices:
            if text not in self.choices:
                raise ServiceError(f"{self.label} is one of {', '.join(self.choices)}; choose one.")
            return _SWITCH[text] if self.kind == "switch" and text in _SWITCH else text
        return self._number(text)

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
        if self.kind == "switch":
            return "yes" if value is True else "no" if value is False else str(value)
        return str(value)


def choice(name: str, label: str, *choices: str) -> Option:
    """Return an option of listed texts, the first of which is the default."""
    return Option(name, label, "choice", choices[0], choices)


def switch(name: str, label: str, default: bool) -> Option:
    """Return an option that is yes or no."""
    return Option(name, label, "switch", default, ("yes", "no"))


def whole(name: str, label: str, default: int | None) -> Option:
    """Return an option that is a whole number of at least 1."""
    return Option(name, label, "whole", default)


def number(name: str, label: str, default: float | None) -> Option:
    """Return an option that is a number above 0."""
    return Option(name, label, "number", default)


def part(name: str, label: str, default: float | None) -> Option:
    """Return an option that is a share of the budget, above 0 and below 1."""
    return Option(name, f"{label} (share of the budget)", "number", default)


def chosen_options(options: tuple[Option, ...], given: Any) -> dict[str, Any]:
    """Return those options that a request sets to something else than their defaults."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ServiceError("The options are values by their names; compare the description.")
    known = {option.name: option for option in options}
    unknown = [str(name)[:40] for name in given if name not in known]
    if unknown:
        offered = f"it has {', '.join(known)}" if known else "it has none"
        raise ServiceError(f"This family has no option {unknown[0]!r}; {offered}.")
    values = {name: option.parsed(given.get(name)) for name, option in known.items()}
    return {name: value for name, value in values.items() if value != known[name].default}
