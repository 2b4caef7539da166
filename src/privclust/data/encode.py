"""From rows to the public integer grid: clip, centre, scale, round; each row by itself.

The grid is fixed by the schema alone. The declared domain becomes a ball of radius one, and a row
becomes a vector of integers, multiples of 2^-20 of that radius. Everything that is computed from
grid rows afterwards is exact integer arithmetic, held in float64, where integers below 2^53 are
exact: the order of summation, the blocks and the threads do not change a single bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from privclust._typing import Floats
from privclust.data.columns.refusals import numbers_of
from privclust.data.public import PublicBox
from privclust.data.rows import Block
from privclust.exceptions import DataError, SchemaError
from privclust.schema.facts import Bins, Box
from privclust.schema.schema import Schema
from privclust.schema.writing import Writing

# How many coordinates a row may have: with more, sums of squares could be rounded.

# Up to this many, lengths are clipped and inner products exact; see ``proofs/points.md``.
MOST_COORDINATES = 2**16


def check_dimension(dimension: int) -> None:
    """Raise if rows of ``dimension`` coordinates could not be added up exactly."""
    if dimension > MOST_COORDINATES:
        raise SchemaError(
            f"Rows of {dimension} coordinates cannot be added up exactly, as the promise "
            f"requires; declare at most {MOST_COORDINATES} (a column of numbers is one, one of "
            "categories has one for each)."
        )


# The radius of the declared domain, in grid steps.
GRID_RADIUS = 2**20

# Rounding in the last digit must never let a clipped row leave the ball.
_INWARD = 1 - 2.0**-50

# Numbers clipped at a time: few enough that their memory is reused.
_AT_A_TIME = 2**13

# Coordinates further out than this, in grid steps, are moved in first: squares stay finite.
_FAR_OUT = 2.0**60


@dataclass(frozen=True)
class Domain(PublicBox):
    """The declared region of numeric rows, mapped to the ball of radius one around the origin."""

    names: tuple[str, ...]  # the numeric columns
    # (n_features,): declared bounds; rows are clipped to them.
    low: Floats
    high: Floats
    # (n_features,): the unit of each column: 1, or the declared width if distances are to be
    # rescaled; over its weight.
    widths: Floats
    center: Floats  # (n_features,): what becomes the origin
    radius: float  # the distance from the center, in the units above, that becomes one
    # (n_features,): the substitute for a value that is not a finite number; NaN if that is an
    # error.
    fill: Floats
    # Whether rows must also be clipped to the radius, because a Ball was declared; the corners of
    # the box alone lie at the radius by definition.
    within_ball: bool
    # How columns are written that are not stored as numbers.
    writings: Mapping[str, Writing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_dimension(len(self.names))

    @classmethod
    def from_schema(cls, schema: Schema, *, rescale: bool = False) -> Domain:
        """Return the domain of a schema of numeric columns."""
        boxes = [fact for fact in schema.columns.values() if isinstance(fact, Box)]
        if schema.categorical:
            raise SchemaError(
                f"Column {schema.categorical[0]!r} is declared as categorical, but points need "
                "numbers; drop it or declare a Box."
            )
        if rescale and schema.ball is not None:
            raise SchemaError("A schema with a Ball cannot be rescaled; drop one of the two.")
        weights = np.array([box.weight for box in boxes])
        if schema.ball is not None and (weights != 1).any():
            raise SchemaError("A schema with a Ball cannot have weights; drop one of the two.")
        low, high = schema.low, schema.high
        widths = (high - low if rescale else np.ones(len(boxes))) / weights
        if schema.ball is not None:
            center, radius = np.array(schema.ball.center), float(schema.ball.radius)
        else:
            center = low / 2 + high / 2
            # Measured from the rounded center, so that no corner lies beyond it.
            half = np.maximum(high - center, center - low)
            radius = float(np.linalg.norm(half / widths))
        fill = [np.nan if box.missing == "error" else box.missing for box in boxes]
        return cls(
            schema.numeric,
            low,
            high,
            widths,
            center,
            radius,
            np.array(fill, np.float64),
            schema.ball is not None,
            writings_of(schema),
        )

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def _steps_per_unit(self) -> Floats:
        return GRID_RADIUS / (self.widths * self.radius)

    def to_grid(self, rows: Floats) -> Floats:
        """Return rows as integers, ``GRID_RADIUS`` from the origin at most, up to rounding."""
        grid = np.clip(self.complete(rows), self.low, self.high)
        grid -= self.center
        grid *= self._steps_per_unit
        np.rint(grid, out=grid)
        if not self.within_ball:
            return grid
        return clip_to_ball(np.clip(grid, -_FAR_OUT, _FAR_OUT, out=grid), GRID_RADIUS)

    def numbers(self, block: Block) -> Floats:
        """Return the numbers of a block; where a constant is declared, no value is refused."""
        return numbers_of(block, self.names, self.writings, self.lenient)

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return 4 * self.dimension

    def pieces(self, block: Block, piece: int) -> list[Floats]:
        """Return the rows of a block on the grid, about ``piece`` numbers at a time."""
        rows = self.numbers(block)
        height = max(1, piece // self.dimension)
        return [self.to_grid(rows[start : start + height]) for start in range(0, len(rows), height)]

    def rows(self, block: Block) -> Floats:
        """Return the rows of a block, complete: all that a view ever sees of them."""
        return self.complete(self.numbers(block))

    @cached_property
    def lenient(self) -> frozenset[str]:
        """The columns in which a declared constant stands for what is not a number."""
        ruled = zip(self.names, self.fill, strict=True)
        return frozenset(name for name, fill in ruled if not np.isnan(fill))

    def complete(self, rows: Floats) -> Floats:
        """Replace what is not a finite number by a declared constant, or refuse it."""
        finite = np.isfinite(rows)
        if finite.all():
            return rows
        filled = np.where(finite | np.isnan(self.fill), rows, self.fill)
        infinite = np.isinf(filled).any(axis=0)
        if infinite.any():
            raise DataError(
                f"Column {self.names[int(infinite.argmax())]!r} holds infinite numbers "
                "(infinity); replace them by finite ones or leave those rows out."
            )
        missing = np.isnan(filled).any(axis=0)
        if missing.any():
            raise DataError(
                f"Column {self.names[int(missing.argmax())]!r} has missing numbers (NaN), for "
                "which the schema has no rule; declare missing = NUMBER or leave those rows out."
            )
        return filled


@dataclass(frozen=True)
class CompleteRows:
    """The encoder of numeric rows that are compared with public points: complete, unchanged."""

    domain: Domain

    def __call__(self, block: Block) -> list[Floats]:
        """Return the rows of a block, in one piece."""
        return [self.domain.rows(block)]

    def unpack(self, piece: Floats) -> Floats:
        """Return the rows as they are."""
        return piece

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return 8 * self.domain.dimension


def writings_of(schema: Schema) -> dict[str, Writing]:
    """Return how the columns of a schema are written that are not plain numbers."""
    numbers = [n for n, fact in schema.columns.items() if isinstance(fact, (Box, Bins))]
    return {n: schema.writing_rule(n) for n in numbers if schema.writing_rule(n) != Writing()}


def clip_to_ball(grid: Floats, radius: float, squares: Floats | None = None) -> Floats:
    """Shorten integer rows, in place, to at most ``radius``; the result is integer again.

    Coordinates are rounded towards zero, so no row becomes longer than the radius. ``squares`` are
    the squared lengths of the rows, if they are known already.
    """
    squares = np.einsum("ij,ij->i", grid, grid) if squares is None else squares
    (long,) = np.nonzero(squares > radius * radius)
    if len(long):
        factor = (radius * _INWARD) / np.sqrt(squares[long])
        height = max(1, _AT_A_TIME // grid.shape[1])
        for start in range(0, len(long), height):
            part = long[start : start + height]
            shorter = grid[part] * factor[start : start + height, None]
            grid[part] = np.trunc(shorter, out=shorter)
        # Squares beyond this are rounded; those of the result are not.
        if squares[long].max() > 2.0**53:
            grid[long] = clip_to_ball(grid[long], radius)
    return grid
