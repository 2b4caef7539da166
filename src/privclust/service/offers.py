"""What can be asked: the tasks on offer, the options of each, and values that come with a question.

Words and options come from the records of the families, so that nothing else in the service tells
one family from another. An option is text in a form and a plain value in a question. Its default is
the estimator's own, and an option at its default is left out, so that a question has one form and
one digest. Some are lists of public things, such as columns or points, and some are given to the
estimator's ``fit``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

from privclust.categories.task import DISTANCES
from privclust.clustering.task import AUTO, KMEANS, SUMMARISE
from privclust.coclustering.task import COCLUSTER
from privclust.density.task import DENSITY
from privclust.mixture.task import MIXTURE
from privclust.parameters import SERVICE, Flag, Items, OneOf, Parameter, Whole
from privclust.service.declared import (
    Counts,
    Declared,
    clumps,
    even_rows,
    planned_counts,
    planned_places,
    planned_rows,
    planted_counts,
)
from privclust.service.errors import ServiceError
from privclust.source_target.task import SOURCE_TARGET
from privclust.tasks import Task

Targets = tuple[tuple[float, ...], ...]

_MOST_POINTS = 5000
_LARGEST = 1_000_000
_DECIMAL = re.compile(r"(\d{1,15}(\.\d{0,15})?|\.\d{1,15})([eE][+-]?\d)?", re.A)
_SWITCH = {"yes": True, "no": False}
_NOT_ASKED = ("precomputed",)  # a table of distances cannot come with a question
_FARTHEST = 1e15
_WRONG = (
    "The points are rows of numbers, one for each chosen column and in their order, at most "
    f"{_MOST_POINTS}; correct them."
)


def targets_of(given: Any, n_columns: int) -> Targets:
    """Return points that a request holds as lists of numbers, or refuse them in one sentence."""
    if not _is_list(given):
        raise ServiceError(_WRONG)
    return tuple(_point(it, n_columns) for it in given)


def targets_in(text: str) -> list[list[str]]:
    """Return the points in a text: one per line, separated by commas, semicolons or blanks.

    A first line of names is skipped; the order is that of the columns.
    """
    lines = [re.split(r"[,;\s]+", line.strip().strip(",;")) for line in text.splitlines()]
    lines = [line for line in lines if line != [""]]
    return lines[1:] if lines and not all(map(_is_number, lines[0])) else lines


def numbers_in(text: str) -> list[str]:
    """Return the numbers in a text, separated by commas, semicolons, blanks or lines."""
    return [it for it in re.split(r"[,;\s]+", text.strip()) if it]


def numbers_of(label: str, given: Any, *, whole: bool = False) -> tuple[Any, ...]:
    """Return numbers of at least 0 that a request holds, or refuse them in one sentence."""
    if not _is_list(given) or not all(_counts(it, whole) for it in given):
        what = "whole numbers" if whole else "numbers"
        raise ServiceError(f"{label}: give a list of {what} of at least 0; correct it.")
    return tuple(int(float(it)) if whole else float(it) for it in given)


def _counts(given: Any, whole: bool) -> bool:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return False
    return _is_number(given) and float(given) >= 0 and not (whole and float(given) % 1)


def _point(given: Any, n_columns: int) -> tuple[float, ...]:
    if not _is_list(given) or len(given) != n_columns:
        raise ServiceError(_WRONG)
    if not all(isinstance(it, str | int | float) and _is_number(it) for it in given):
        raise ServiceError(_WRONG)
    return tuple(float(it) for it in given)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and len(given) <= _MOST_POINTS


def _is_number(given: Any) -> bool:
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return False
    return math.isfinite(number) and abs(number) <= _FARTHEST


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

    def parse(self, given: Any, columns: Sequence[str] = ()) -> Any:
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
            raise ServiceError(f"{self.label}: list columns of the question; correct it.")
        return tuple(name for name in columns if name in names)

    def _number(self, text: str) -> int | float:
        value = float(text) if _DECIMAL.fullmatch(text) else math.nan
        if not 0 < value <= _LARGEST or (self.kind == "whole" and value != int(value)):
            what = "a whole number" if self.kind == "whole" else "a number above 0"
            raise ServiceError(f"{self.label} is {what}; change it.")
        return int(value) if self.kind == "whole" else value

    def show(self, value: Any) -> str:
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


def chosen_options(
    options: tuple[Option, ...], given: Any, columns: Sequence[str] = ()
) -> dict[str, Any]:
    """Return those options that a request sets to something other than their defaults."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ServiceError("Options are given as names and values; see the description.")
    known = {option.name: option for option in options}
    unknown = [str(name)[:40] for name in given if name not in known]
    if unknown:
        offered = f"it has {', '.join(known)}" if known else "it has none"
        raise ServiceError(f"This family has no option {unknown[0]!r}; {offered}.")
    values = {name: option.parse(given.get(name), columns) for name, option in known.items()}
    return {name: value for name, value in values.items() if value != known[name].default}


@dataclass(frozen=True)
class Offer:
    """One task that can be asked for."""

    task: Task  # its words, estimators and parameters
    # ``rows(declared, clusters, n_rows, unit)`` makes up data for a dry run.
    rows: Callable[..., Any]
    clusters: int | None = None  # the usual number of clusters; None if it takes none
    # ``plan(model, declared, most_rows, targets)`` returns the plan.
    plan: Callable[..., Any] = planned_rows

    @property
    def name(self) -> str:
        """What a request calls it."""
        return self.task.name

    @property
    def takes_auto(self) -> bool:
        """Whether ``"auto"`` is a number of clusters."""
        own = self.task.parameters().get(self.task.clusters)
        return own is not None and AUTO in own.also

    @property
    def takes_targets(self) -> bool:
        """Whether public points come with the question."""
        return self.task.takes == "targets"

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen, with the defaults of the estimator."""
        offered = [variant for variant in self.task.variants if variant.in_service]
        methods = [method for variant in offered for method in variant.methods]
        found = [
            Option.of(parameter)
            for parameter in self.task.parameters(in_service=True).values()
            if SERVICE in parameter.seen and parameter.name not in ("method", self.task.clusters)
        ]
        if len(methods) > 1:
            algorithm = Option("method", "Algorithm", "choice", methods[0], tuple(methods))
            found.insert(0, algorithm)
        return tuple(found)

    def columns(self, declared: Declared) -> tuple[str, ...]:
        """Return the columns that can be asked about."""
        if isinstance(declared, Counts):
            return ()
        if self.task.takes == "rows":
            return declared.names
        return declared.categorical if self.task.takes == "categories" else declared.numeric

    def is_for(self, declared: Declared) -> bool:
        """Return whether data with this declaration can be asked this way."""
        if isinstance(declared, Counts):
            return not self.task.fewest
        return 0 < self.task.fewest <= len(self.columns(declared))


OFFERS = {
    offer.name: offer
    for offer in (
        Offer(KMEANS, clumps, 8),
        Offer(SUMMARISE, clumps),
        Offer(DENSITY, clumps),
        Offer(MIXTURE, clumps, 4),
        Offer(DISTANCES, even_rows),
        Offer(SOURCE_TARGET, clumps, 8, planned_places),
        Offer(COCLUSTER, planted_counts, 5, planned_counts),
    )
}


def offers_for(declared: Declared) -> list[Offer]:
    """Return what can be asked about data with this declaration."""
    return [offer for offer in OFFERS.values() if offer.is_for(declared)]
