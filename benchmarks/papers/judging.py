"""Verdicts on claims: a claim in words, and a function of the results that judges it.

A comparison is decided where a difference lies outside its 95 % interval, by Student's t with the
degrees of freedom of Welch, because runs are few; otherwise it is left open. Cases for and against
a claim count alike, and a claim of which most cases are open is called so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pivoting import Line, Rows, picked
from scipy.stats import norm, t

__all__ = [
    "FAILS",
    "HOLDS",
    "MOSTLY",
    "MOSTLY_FAILS",
    "MOSTLY_OPEN",
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
MOSTLY, MOSTLY_FAILS = "mostly holds", "**mostly does not hold**"
OPEN, MOSTLY_OPEN = "not decided", "mostly undecided"
# The chance that an interval misses.
MISSED = 0.05

Verdict = tuple[str, str]


class Claim(NamedTuple):
    """What a paper says, a function that judges it, and whether few runs suffice to do so."""

    words: str
    judged: Callable[[Rows], Verdict]
    sure: bool = False


class Figure(NamedTuple):
    """A mean, its standard error, and of how many runs; without runs the error is exact."""

    mean: float
    error: float = 0.0
    runs: int | None = None

    def __str__(self) -> str:
        """Return the mean as a claim tells it."""
        return f"{self.mean:.2f}"

    def times(self, factor: float) -> Figure:
        """Return a multiple."""
        return Figure(factor * self.mean, abs(factor) * self.error, self.runs)


def figure(row: Line) -> Figure:
    """Return the mean of a row and its error."""
    return Figure(float(row["mean"]), float(row["error"] or "nan"), int(row["runs"]))


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
    if math.isnan(error) or math.isnan(apart) or abs(apart) <= _critical(one, other) * error:
        return 0
    return (apart > 0) - (apart < 0)


def _critical(*both: Figure) -> float:
    """Return how many standard errors a 95 % interval reaches, by Welch's degrees of freedom."""
    parts = [(of.error**2, of.runs) for of in both if of.runs is not None and of.error > 0]
    if not parts or any(runs < 2 for _, runs in parts):
        return float("inf") if parts else float(norm.isf(MISSED / 2))
    whole = sum(of.error**2 for of in both) ** 2
    freedom = whole / sum(square**2 / (runs - 1) for square, runs in parts)
    return float(t.isf(MISSED / 2, freedom))


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
    decided = wins + losses
    if not decided:
        return OPEN
    if undecided > decided:
        return MOSTLY_OPEN
    if wins == losses:
        return PARTLY
    if wins > losses:
        return MOSTLY if losses or undecided else HOLDS
    return MOSTLY_FAILS if wins or undecided else FAILS
