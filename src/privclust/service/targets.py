"""Public points and numbers that come with a question: whom new centres should serve, and how."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from privclust.service.errors import ServiceError

Targets = tuple[tuple[float, ...], ...]

_MOST = 5000
_FARTHEST = 1e15
_WRONG = (
    "The points are rows of numbers, one for each chosen column and in their order, at most "
    f"{_MOST}; correct them."
)


def targets_of(given: Any, n_columns: int) -> Targets:
    """Return points that a request holds as lists of numbers, or refuse them in one sentence."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) > _MOST:
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
    listed = isinstance(given, Sequence) and not isinstance(given, str) and len(given) <= _MOST
    if not listed or not all(_counts(it, whole) for it in given):
        what = "whole numbers" if whole else "numbers"
        raise ServiceError(f"{label}: give a list of {what} of at least 0; correct it.")
    return tuple(int(float(it)) if whole else float(it) for it in given)


def _counts(given: Any, whole: bool) -> bool:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return False
    return _is_number(given) and float(given) >= 0 and not (whole and float(given) % 1)


def _point(given: Any, n_columns: int) -> tuple[float, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != n_columns:
        raise ServiceError(_WRONG)
    if not all(isinstance(it, str | int | float) and _is_number(it) for it in given):
        raise ServiceError(_WRONG)
    return tuple(float(it) for it in given)


def _is_number(given: Any) -> bool:
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return False
    return math.isfinite(number) and abs(number) <= _FARTHEST
