"""The facts a schema declares about columns: Box, Bins, Categories, and Ball over all numbers.

Each fact is frozen, checked when made, and carries the rule for missing values. A rule that reads
``"error"`` makes reading fail when a row breaks it. Such a failure depends on private rows, so it
always comes before anything is released, and its message names the column and the remedy but never
a value or a row number. Whoever cannot show even the failure to others declares a constant or a
category instead: those rules never fail.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from typing import Literal

import numpy as np

from privclust.exceptions import SchemaError

__all__ = ["Ball", "Bins", "Box", "Categories", "Fact", "Kind", "valid_text"]

Kind = Literal["text", "integer", "boolean"]

# Squares and sums of squares of numbers up to here are finite and keep their digits.
_LARGEST = 1e150
_NARROWEST = 1e-150


class _Fact:
    """Shared by all facts: a short repr that leaves out rules at their default."""

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class Box(_Fact):
    """A numeric column and its bounds; numbers beyond them are clipped.

    Parameters
    ----------
    low, high : float
        Public bounds, ``low < high``.
    missing : "error" or float, default="error"
        Fail on a missing number, or put this public constant, within the bounds, in its place.
    """

    low: float
    high: float
    missing: float | Literal["error"] = "error"

    def __post_init__(self) -> None:
        self._set("low", _number(self.low, "low"))
        self._set("high", _number(self.high, "high"))
        if not self.low < self.high:
            raise SchemaError(
                f"A Box needs low below high, got low={self.low!r} and high={self.high!r}; "
                "swap or widen the bounds."
            )
        if self.high - self.low < _NARROWEST:
            raise SchemaError(f"A Box needs bounds at least {_NARROWEST} apart; widen the bounds.")
        if self.missing != "error":
            self._set("missing", self._constant())

    def _constant(self) -> float:
        if isinstance(self.missing, str):
            raise SchemaError(
                f'missing={self.missing!r} is not a rule for numbers; use "error" or a number '
                "within the bounds."
            )
        constant = _number(self.missing, "missing")
        if not self.low <= constant <= self.high:
            raise SchemaError(
                f"missing={constant!r} lies outside the bounds {self.low!r} to {self.high!r}; "
                'use "error" or a number within them.'
            )
        return constant


@dataclass(frozen=True, repr=False)
class Bins(_Fact):
    """A numeric column cut into declared bins, read as an ordered category.

    Bin ``i`` holds the numbers from ``edges[i]`` up to but not including ``edges[i + 1]``; the
    last bin includes its upper edge. Numbers beyond the edges belong to the outermost bins, as
    clipping would put them.

    Parameters
    ----------
    edges : sequence of float
        Two or more public numbers in rising order.
    missing : "error" or "category", default="error"
        Fail on a missing number, or count it in a category of its own after the bins.
    """

    edges: Sequence[float]
    missing: Literal["error", "category"] = "error"

    def __post_init__(self) -> None:
        edges = tuple(_number(edge, "an edge") for edge in _items(self.edges, "edges"))
        if len(edges) < 2:
            raise SchemaError("Bins need at least two edges; add the missing edges.")
        if any(not left < right for left, right in pairwise(edges)):
            raise SchemaError("Bins need edges in rising order without repeats; sort the edges.")
        self._set("edges", edges)
        _one_of(self.missing, "missing", ("error", "category"))

    @property
    def size(self) -> int:
        """Number of categories, the one for missing values included."""
        return len(self.edges) - 1 + (self.missing == "category")

    @property
    def missing_code(self) -> int | None:
        """Code of the category for missing values, after those of the bins."""
        return self.size - 1 if self.missing == "category" else None

    @property
    def labels(self) -> tuple[str, ...]:
        """What to print for each code."""
        bins = [f"{a!r} to {b!r}" for a, b in pairwise(self.edges)]
        return (*bins, "(missing)") if self.missing == "category" else tuple(bins)


@dataclass(frozen=True, repr=False)
class Categories(_Fact):
    """A column that holds one of the listed values.

    Codes follow the list: the listed values are 0, 1, ...; then come the category for missing
    values and the category for all other values, where declared.

    Parameters
    ----------
    values : sequence of str, of int or of bool
        The public list, without repeats and all of one type.
    missing : "error" or "category", default="error"
        Fail on a missing value, or count it in a category of its own.
    unknown : "error" or "other", default="error"
        Fail on a value that is not listed, or count all such values in one category of their own.
    """

    values: Sequence[str] | Sequence[int] | Sequence[bool]
    missing: Literal["error", "category"] = "error"
    unknown: Literal["error", "other"] = "error"

    def __post_init__(self) -> None:
        values = tuple(_category(value) for value in _items(self.values, "values"))
        if not values:
            raise SchemaError("Categories need at least one value; list the values.")
        if len({type(value) for value in values}) > 1:
            raise SchemaError("Categories need values of one type; write all of them as text.")
        if len(set(values)) < len(values):
            raise SchemaError("Categories list a value twice; remove the repeat.")
        self._set("values", values)
        _one_of(self.missing, "missing", ("error", "category"))
        _one_of(self.unknown, "unknown", ("error", "other"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        # In Python 1 equals True; in a column it does not.
        mine = (self.kind, self.values, self.missing, self.unknown)
        return mine == (other.kind, other.values, other.missing, other.unknown)

    @property
    def kind(self) -> Kind:
        """The type of the listed values: ``"text"``, ``"integer"`` or ``"boolean"``."""
        first = self.values[0]
        if isinstance(first, str):
            return "text"
        return "boolean" if isinstance(first, bool) else "integer"

    @property
    def size(self) -> int:
        """Number of categories, those for missing and other values included."""
        return len(self.labels)

    @property
    def missing_code(self) -> int | None:
        """Code of the category for missing values, or ``None`` when they are an error."""
        return len(self.values) if self.missing == "category" else None

    @property
    def unknown_code(self) -> int | None:
        """Code of the category for values not listed, or ``None`` when they are an error."""
        return self.size - 1 if self.unknown == "other" else None

    @property
    def labels(self) -> tuple[str, ...]:
        """What to print for each code."""
        labels = [str(value) for value in self.values]
        labels += ["(missing)"] * (self.missing == "category")
        labels += ["(other)"] * (self.unknown == "other")
        return tuple(labels)


@dataclass(frozen=True, repr=False)
class Ball(_Fact):
    """A joint bound over all numeric columns: the L2 distance of a row from ``center``.

    Parameters
    ----------
    radius : float
        Above zero.
    center : sequence of float
        One number per numeric column, in their order, each within the column's Box. Then pulling
        a clipped row towards the center until it lies in the ball cannot leave the boxes again.
    """

    radius: float
    center: Sequence[float]

    def __post_init__(self) -> None:
        self._set("radius", _number(self.radius, "radius"))
        if self.radius < _NARROWEST:
            raise SchemaError(
                f"A Ball needs a radius above zero, got radius={self.radius!r}; enlarge it."
            )
        center = tuple(_number(value, "center") for value in _items(self.center, "center"))
        self._set("center", center)


Fact = Box | Bins | Categories


def _number(value: object, name: str) -> float:
    """Return a Python float, whose repr round trips exactly."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise SchemaError(f"A schema needs a number as {name}, got {value!r}; write a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= _LARGEST:
        raise SchemaError(
            f"A schema needs a finite number of at most {_LARGEST} as {name}, got {number!r}; "
            "declare a finite number."
        )
    return number


def _items(values: object, name: str) -> list[object]:
    """Return the items of an ordered collection; a text is not one, nor is a set."""
    unordered = isinstance(values, (str, bytes, dict, set, frozenset))
    if unordered or not isinstance(values, Iterable):
        raise SchemaError(f"A schema needs a list as {name}, got {values!r}; write a list.")
    return list(values)


def _category(value: object) -> str | int | bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        if not -(2**63) <= int(value) < 2**63:
            raise SchemaError("Categories need integers of at most 64 bits; write them as text.")
        return int(value)
    if not isinstance(value, str):
        raise SchemaError(
            f"Categories need text, integers or booleans, got {value!r}; write it as text."
        )
    return valid_text(value, "a category")


def valid_text(value: str, name: str) -> str:
    """Return ``value`` as plain ``str``; half a surrogate pair could not be written to a file."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(
            f"A schema needs valid Unicode as {name}, got {value!r}; correct the text."
        ) from None
    return str(value)


def _one_of(value: object, name: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        options = " or ".join(f'"{option}"' for option in allowed)
        raise SchemaError(f"{name}={value!r} is not a rule for categories; use {options}.")
