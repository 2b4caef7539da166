"""Verdicts on claims: a claim in words, and a function of the results that judges it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pivoting import Line, Rows, picked

__all__ = ["FAILS", "HOLDS", "PARTLY", "UNKNOWN", "Claim", "Verdict", "counted", "fixed", "means"]

HOLDS, FAILS, PARTLY, UNKNOWN = "holds", "**does not hold**", "holds in part", "cannot be tested"

Verdict = tuple[str, str]


class Claim(NamedTuple):
    """What a paper says, a function that judges it, and whether few runs suffice to do so."""

    words: str
    judged: Callable[[Rows], Verdict]
    sure: bool = False


def fixed(verdict: str, words: str) -> Callable[[Rows], Verdict]:
    """Return the verdict on a claim of theory."""
    return lambda rows: (verdict, words)


def means(rows: list[Line], **wanted: str) -> dict[str, float]:
    """Return the mean of each set; fail if there is none."""
    found = {row["set"]: float(row["mean"]) for row in picked(rows, **wanted)}
    if not found:
        raise KeyError(str(wanted))
    return found


def counted(wins: int, total: int, words: str) -> Verdict:
    """Return a verdict by how many cases a claim holds in."""
    if not total:
        raise KeyError(words)
    verdict = HOLDS if wins == total else FAILS if wins == 0 else PARTLY
    return verdict, f"{wins} of {total} {words}"
