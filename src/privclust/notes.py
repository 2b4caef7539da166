"""Notes on a fit: reasons to doubt it, found in its noisy answers, as codes and sentences.

A program reads the code, a person the sentence; no sentence is ever read back by a program. All of
it is post-processing, which costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget
from privclust.data.public import Noisy
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.unit import Unit
from privclust.unit.words import words_of

# Whether a release shows the rows; noise hides them, at least in part; or it never saw them.
Signal = Literal["seen", "hidden", "none"]
Code = Literal[
    "bound-reached",
    "bounds-loose",
    "clusters-hidden",
    "column-decides",
    "columns-hidden",
    "columns-independent",
    "components-hidden",
    "delta-large",
    "empty-clusters",
    "far-rows-missed",
    "few-rows",
    "few-sources",
    "k-unclear",
    "metric-doubtful",
    "mostly-missing",
    "one-centre-as-good",
    "rows-outside",
    "rows-unseen",
    "shapes-hidden",
    "spread-hidden",
    "tables-left-out",
]
_HIDDEN = {"clusters-hidden", "columns-hidden", "components-hidden"}

# If all centres of a column are this close to one bound, in widths, values seem to be clipped.
_AT_THE_BOUND = 0.002
# Up to this many columns are named one by one.
_NAMED = 3
# By how many standard errors a noisy number may be too large.
_CAUTION = 2


@dataclass(frozen=True)
class Note:
    """A reason not to trust a result, or part of it: a code, and a sentence with the remedy."""

    code: Code
    text: str


def signal_of(notes: Iterable[Note]) -> Signal:
    """Return whether a result with such notes shows the rows."""
    codes = {note.code for note in notes}
    if "rows-unseen" in codes:
        return "none"
    return "hidden" if codes & _HIDDEN else "seen"


def parameters_of(notes: tuple[Note, ...]) -> dict[str, Any]:
    """Return what a release says about the notes: its signal, and all notes if there are any."""
    parameters: dict[str, Any] = {"signal": signal_of(notes)}
    if notes:
        parameters["notes"] = [note.code for note in notes]
        parameters["warnings"] = [note.text for note in notes]
    return parameters


def bound_notes(centres: Floats, sizes: Noisy, schema: Schema) -> Iterator[Note]:
    """Yield a note for each column whose released centres all lie at one of its bounds.

    Many such columns share one note. A centre whose noisy size is not above the noise may have no
    rows, and says nothing about them.
    """
    centres = centres[sizes.value > _CAUTION * sizes.standard_error]
    if not len(centres):
        return
    centres = centres[:, Coordinates(schema).numbers]
    least, most = schema.low, schema.high
    slack = _AT_THE_BOUND * (most - least)
    low = centres.max(axis=0) <= least + slack
    high = centres.min(axis=0) >= most - slack
    names, doubted = schema.numeric, np.flatnonzero(low | high)
    places = [
        f"the {'lower' if low[number] else 'upper'} bound of the column {names[number]!r}"
        for number in doubted[:_NAMED]
    ]
    if len(doubted) > _NAMED:
        places = [f"a bound of each of {len(doubted)} columns, such as {names[doubted[0]]!r}"]
    for place in places:
        yield Note(
            "bound-reached",
            f"All centres lie at {place}: if values lie beyond the bound they were cut off there, "
            "and if they crowd near it the bounds are too wide; declare bounds that fit.",
        )


def missing_notes(names: Sequence[str], missing: Noisy, n_rows: float) -> Iterator[Note]:
    """Yield a note for each column of which most values are surely missing or unreadable."""
    for name, count in zip(names, missing.value.tolist(), strict=True):
        least = count - _CAUTION * missing.standard_error
        if least > n_rows / 2 > 0:
            yield Note(
                "mostly-missing",
                f"Most values of the column {name!r} (about {min(1.0, count / n_rows):.0%}) are "
                "missing or cannot be read as declared; run privclust check on the rows, or ignore "
                "the column.",
            )


def category_notes(schema: Schema, shares: Floats, errors: Floats, n_rows: float) -> Iterator[Note]:
    """Yield a note for each column that has mostly missing or unlisted values, where these count.

    ``shares``, ``errors``: (n_coordinates,), the share of each category among all rows.
    """
    for column in Coordinates(schema).categorical:
        fact = column.fact
        if isinstance(fact, Box):
            continue
        n_listed = len(fact.values) if isinstance(fact, Categories) else len(fact.edges) - 1
        beyond = slice(column.start + n_listed, column.places.stop)
        error = n_rows * float(np.linalg.norm(errors[beyond]))
        unread = Noisy(np.array([n_rows * float(shares[beyond].sum())]), error)
        yield from missing_notes([column.name], unread, n_rows)


def delta_notes(number: Noisy, budget: Budget, unit: Unit) -> Iterator[Note]:
    """Yield a note if δ is above one in the noisy number of what is protected, added up.

    A mechanism that publishes a random row satisfies such a δ and protects nobody.
    """
    error = number.standard_error * math.sqrt(len(number.value))
    least = float(number.value.sum()) - _CAUTION * error
    if least >= 1 and float(budget.delta) * least > 1:
        words = words_of(unit.name)
        yield Note(
            "delta-large",
            f"δ is above one in the number of {words.many}, judging by their noisy number, and "
            f"would allow {words.one} to be published; choose a delta far below one in this "
            "number.",
        )
