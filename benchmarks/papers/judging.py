"""Verdicts on claims: a claim in words, and a function of the results that judges it.

A comparison is decided where it differs by more than two standard errors; otherwise it is left
open, and so is a claim that no comparison decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pivoting import Line, Rows, picked

__all__ = [
    "FAILS",
    "HOLDS",
    "MOSTLY_FAILS",
    "OPEN",
    "PARTLY",
    "UNKNOWN",
    "Claim",
    "Figure",
    "Verdict",
    "ahead",
    "counted",
    "figure",
    "figures",
    "fixed",
    "means",
    "verdict_of",
]

HOLDS, FAILS, PARTLY, UNKNOWN = "holds", "**does not hold**", "holds in part", "cannot be tested"
MOSTLY_FAILS, OPEN = "**mostly does not hold**", "not decided"
# How many standard errors decide.
CLEAR = 2.0

Verdict = tuple[str, str]


class Claim(NamedTuple):
    """What a paper says, a function that judges it, and whether few runs suffice to do so."""

    words: str
    judged: Callable[[Rows], Verdict]
    sure: bool = False


class Figure(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float = 0.0

    def __str__(self) -> str:
        """Return the mean as a claim tells it."""
        return f"{self.mean:.2f}"

    def times(self, factor: float) -> Figure:
        """Return a multiple."""
        return Figure(factor * self.mean, abs(factor) * self.error)


def figure(row: Line) -> Figure:
    """Return the mean of a row and its error."""
    return Figure(float(row["mean"]), float(row["error"] or "nan"))


def figures(rows: list[Line], **wanted: str) -> dict[str, Figure]:
    """Return the figure of each set; fail if there is none."""
    found = {row["set"]: figure(row) for row in picked(rows, **wanted)}
    if not found:
        raise KeyError(str(wanted))
    return found


def means(rows: list[Line], **wanted: str) -> dict[str, float]:
    """Return the mean of each set; fail if there is none."""
    return {name: found.mean for name, found in figures(rows, **wanted).items()}


def ahead(one: Figure, other: Figure | float) -> int:
    """Return 1 where the first is larger, -1 where it is smaller, 0 where errors leave it open."""
    other = other if isinstance(other, Figure) else Figure(other)
    apart, error = one.mean - other.mean, math.hypot(one.error, other.error)
    if math.isnan(error) or math.isnan(apart) or abs(apart) <= CLEAR * error:
        return 0
    return (apart > 0) - (apart < 0)


def fixed(verdict: str, words: str) -> Callable[[Rows], Verdict]:
    """Return the verdict on a claim of theory."""
    return lambda rows: (verdict, words)


def counted(signs: Sequence[int], words: str) -> Verdict:
    """Return a verdict by how many cases speak for a claim (1), against it (-1), or not (0)."""
    if not signs:
        raise KeyError(words)
    wins, losses, undecided = (sum(sign == one for sign in signs) for one in (1, -1, 0))
    told = f"{wins} of {len(signs)} {words}"
    if undecided:
        told += f" (against it: {losses}, not decided: {undecided})"
    return verdict_of(wins, losses, undecided), told


def verdict_of(wins: int, losses: int, undecided: int = 0) -> str:
    """Return what cases for, cases against and open cases say together."""
    if wins and losses > wins:
        return MOSTLY_FAILS
    if wins:
        return PARTLY if losses or undecided else HOLDS
    return FAILS if losses else OPEN
