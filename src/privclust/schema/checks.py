"""Checks that all facts share: finite numbers, ordered lists, valid text, known words."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable

import numpy as np

from privclust.exceptions import SchemaError

__all__ = ["category", "items", "number", "one_of", "valid_text", "weight"]

# Squares and sums of squares of numbers up to here are finite and keep their digits.
_LARGEST = 1e150

# Beyond these a column would decide all distances, or none.
_LIGHTEST, _HEAVIEST = 1e-6, 1e6


def number(value: object, name: str) -> float:
    """Return a Python float, whose repr round trips exactly."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise SchemaError(f"A schema needs a number as {name}, got {value!r}; write a number.")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not abs(found) <= _LARGEST:
        raise SchemaError(
            f"A schema needs a finite number of at most {_LARGEST} as {name}, got {found!r}; "
            "declare a finite number."
        )
    return found


def weight(value: object) -> float:
    """Return how much a column counts in distances, as a Python float."""
    found = number(value, "weight")
    if not _LIGHTEST <= found <= _HEAVIEST:
        raise SchemaError(
            f"A weight must lie between {_LIGHTEST:g} and {_HEAVIEST:,.0f}, got weight={found!r}; "
            "to leave out the column, ignore it."
        )
    return found


def items(values: object, name: str) -> list[object]:
    """Return the items of an ordered collection; a text is not one, nor is a set."""
    unordered = isinstance(values, (str, bytes, dict, set, frozenset))
    if unordered or not isinstance(values, Iterable):
        raise SchemaError(f"A schema needs a list as {name}, got {values!r}; write a list.")
    return list(values)


def category(value: object) -> str | int | bool:
    """Return a category as a plain Python value."""
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


def one_of(value: object, name: str, allowed: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the words that a rule for categories may be."""
    if value not in allowed:
        options = " or ".join(f'"{option}"' for option in allowed)
        raise SchemaError(f"{name}={value!r} is not a rule for categories; use {options}.")
