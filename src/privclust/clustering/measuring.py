"""``scale="measured"``: a deviation counts the same in every number, found by a private question.

A small part of the budget pays, before all else, for a histogram of each number between its
declared bounds. Its mean and spread give a working range, within the declared one, and a weight.
The question is that of ``ask_cluster_histograms`` with one centre, which all rows are nearest to;
what follows from its noisy answer is public, and everything after it is asked within it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.exceptions import ParameterError, SchemaError
from privclust.notes import Note, missing_notes
from privclust.schema.coordinates import CATEGORY_PART, Coordinates
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

MEASURING = 0.06  # of the budget
# This many cells give about as much noise in the spread as noisy sums and squares would in pure ε,
# and still work in bounds ten times too wide.
_CELLS = 32
# The working range reaches this many deviations to each side of the mean.
_REACH = 3.0
# The error of a variance, in squared declared widths, up to which it is of use.
_USEFUL = 0.01
_NARROWEST = 1e-3  # of a working range, in declared widths
_NOTE = "working ranges and weights measured with noise within the declared bounds"
_HIDDEN = Note(
    "spread-hidden",
    "Noise hides how widely the numbers spread, so their declared widths were used; raise epsilon "
    'or leave scale="declared".',
)


@dataclass(frozen=True)
class Working:
    """What later questions are asked within."""

    schema: Schema  # with a working range and a weight for each number, if noise does not hide them
    gap: float | None  # the gap of categories among such numbers
    notes: tuple[Note, ...] = ()

    @property
    def used(self) -> tuple[Schema, dict[str, Any]]:
        """The schema, and how much its columns count; see ``Coordinates.scales``."""
        return self.schema, {"rescale": True, "gap": self.gap}


def check_measurable(schema: Schema, rescale: bool | None, metric: str) -> None:
    """Raise, before anything is paid, if numbers cannot be measured or would not be used."""
    if schema.ball is not None:
        raise SchemaError(
            'scale="measured" cannot be used with a Ball, which bounds all columns alike; drop one '
            "of the two."
        )
    if not schema.numeric:
        raise ParameterError(
            'scale="measured" measures how widely numbers spread, and no column is one; use '
            'scale="declared".'
        )
    if rescale is False:
        raise ParameterError(
            'scale="measured" scales numbers, which rescale=False forbids; drop one of the two.'
        )
    if metric == "dilca":
        raise ParameterError(
            'scale="measured" weighs columns by their spread, and metric="dilca" learns from their '
            'pairs; drop one of the two, or use metric="mismatch".'
        )


def ask_working_range(view: PointsView, share: Share, schema: Schema, gap: float | None) -> Working:
    """Ask how widely numbers spread; return declared widths if noise hides it."""
    places = Coordinates(schema).numbers
    low, high = view.domain.box_in_unit_ball()
    parts = np.arange(1, _CELLS) / _CELLS
    edges = low[places, None] * (1 - parts) + high[places, None] * parts
    centre = np.zeros((1, view.domain.dimension))
    counts = view.ask_cluster_histograms("spread of numbers", centre, places, edges, share)
    noisy = Noisy(counts.value[0], counts.standard_error)
    mean, variance, error = _moments(noisy)
    if error > _USEFUL:
        return Working(schema, gap, (_HIDDEN,))
    boxes = [(name, fact) for name, fact in schema.columns.items() if isinstance(fact, Box)]
    notes = tuple(_constant_notes(boxes, noisy))
    found = zip(boxes, mean.tolist(), variance.tolist(), strict=True)
    facts = {name: _working_range(box, m, math.sqrt(v)) for (name, box), m, v in found}
    measured_gap = None if gap is None else CATEGORY_PART * 2 / (2 * _REACH) ** 2
    return Working(schema.with_columns(facts, note=_NOTE), measured_gap, notes)


def _constant_notes(boxes: list[tuple[str, Box]], counts: Noisy) -> Iterator[Note]:
    """Yield a note for each column of which most rows lie where missing values are put."""
    ruled = [(i, n, box) for i, (n, box) in enumerate(boxes) if box.missing != "error"]
    n_rows = float(counts.value.sum(axis=1).mean())
    for column, name, box in ruled:
        place = (float(box.missing) - box.low) / (box.high - box.low)
        there = counts.value[column, min(int(place * _CELLS), _CELLS - 1)]
        yield from missing_notes([name], Noisy(np.array([there]), counts.standard_error), n_rows)


def _moments(counts: Noisy) -> tuple[Floats, Floats, float]:
    """Return mean and variance of each number, in declared widths, and a bound of its error.

    The variance is enlarged by its error: it must not be too small, or rows are cut off. What the
    cells hide is that of rows spread evenly over each of them.
    """
    middles = (np.arange(_CELLS) + 0.5) / _CELLS - 0.5
    n_rows = max(float(counts.value.sum(axis=1).mean()), 1.0)
    mean = np.clip(counts.value @ middles / n_rows, -0.5, 0.5)
    around = middles - mean[:, None]
    square = (counts.value * around**2).sum(axis=1) / n_rows
    errors = counts.standard_error * np.sqrt((around**4).sum(axis=1)) / n_rows
    hidden = 1 / (12 * _CELLS**2)
    variance = np.clip(square - hidden, 0, 0.25) + errors
    widest = float(np.sqrt((middles**4).sum())) * counts.standard_error / n_rows
    return mean, np.asarray(np.maximum(variance, 1e-6)), widest


def _working_range(fact: Box, mean: float, deviation: float) -> Box:
    """Return the Box of a working range, whose weight makes a deviation count as in the others."""
    width, middle = fact.high - fact.low, fact.low / 2 + fact.high / 2
    reach = max(_REACH * deviation, _NARROWEST)
    low = max(fact.low, middle + (mean - reach) * width)
    high = min(fact.high, middle + (mean + reach) * width)
    if fact.form in ("date", "time"):  # in whole days, as both are declared
        low, high = max(math.floor(low), fact.low), min(math.ceil(high), fact.high)
    weight = fact.weight * (high - low) / width / (2 * _REACH * deviation)
    missing: Any = fact.missing
    if missing != "error":
        missing = min(max(missing, low), high)
    return replace(fact, low=float(low), high=float(high), missing=missing, weight=weight)
