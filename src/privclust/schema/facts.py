"""The facts a schema declares about columns: Box, Bins, Categories, and Ball over all numbers.

Each fact is frozen, checked when made, and carries the rule for missing values. A rule that reads
``"error"`` makes reading fail when a row breaks it. Such a failure depends on private rows, so it
always comes before anything is released, and its message names the column and the remedy but never
a value or a row number. If even the failure must not be seen by others, declare a constant or a
category instead: those rules never fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from privclust.exceptions import SchemaError
from privclust.schema.categories import MISSING_CATEGORY, Categories, Kind, PlainFact
from privclust.schema.checks import items, number, one_of, weight
from privclust.schema.forms import Form, bound, form_of, plain_bound, shown

__all__ = ["Ball", "Bins", "Box", "Categories", "Fact", "Kind"]

_NARROWEST = 1e-150

Bound = float | date | timedelta | str  # as it may be given; kept as a number


class _Measured(PlainFact):
    """Shared by facts about numbers: how they are written."""

    form: Form

    def shown(self, value: float) -> str:
        """Return a number of this column as a reader expects it: a date as a date."""
        return shown(value, self.form)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [*map(self._plain, value)]
        return value if isinstance(value, str) else plain_bound(value, self.form)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values that make the fact again, as they stand in a file."""
        document = super().to_dict()
        form = document.pop("form")
        # Dates and times show what they are; older files have no form at all.
        return document if form in ("number", "date", "time") else {**document, "form": form}


@dataclass(frozen=True, repr=False)
class Box(_Measured):
    """A numeric column and its bounds; numbers beyond them are clipped.

    Parameters
    ----------
    low, high : float, date or str
        Public bounds, ``low < high``. Dates (``"2024-12-31"``) and times
        (``"2024-12-31T18:30"``) declare a column of dates or times, which are kept as days since
        1970-01-01.
    missing : "error", float, date or str, default="error"
        Fail on a missing number, or put this public constant, within the bounds, in its place.
    form : str, default="number"
        How the column is written: ``"number"``; ``"text"``, numbers as text; ``"date"``, of which
        the time of day is dropped; ``"time"``, in UTC where a zone is given; or a duration,
        counted in ``"seconds"``, ``"minutes"``, ``"hours"`` or ``"days"``.
    weight : float, default=1
        How much the column counts: differences in it are multiplied by the weight before they are
        squared and added up. It applies to the distances of k-means and of summaries.

    Examples
    --------
    >>> Box("2020-01-01", "2024-12-31")
    Box(low='2020-01-01', high='2024-12-31', form='date')
    """

    low: float
    high: float
    missing: float | Literal["error"] = "error"
    form: Form = "number"
    weight: float = 1.0

    if TYPE_CHECKING:

        def __init__(
            self,
            low: Bound,
            high: Bound,
            missing: Bound = "error",
            form: Form = "number",
            weight: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        self._set("form", form_of(self.form, (self.low, self.high)))
        self._set("low", bound(self.low, "low", self.form))
        self._set("high", bound(self.high, "high", self.form))
        if not self.low < self.high:
            raise SchemaError(
                f"A Box needs low below high, got low={self._plain(self.low)!r} and "
                f"high={self._plain(self.high)!r}; swap or widen the bounds."
            )
        if self.high - self.low < _NARROWEST:
            raise SchemaError(f"A Box needs bounds at least {_NARROWEST} apart; widen the bounds.")
        if self.missing != "error":
            self._set("missing", self._constant())
        self._set("weight", weight(self.weight))

    def describe(self) -> str:
        """Say in a few words what is declared."""
        return f"{self.shown(self.low)} to {self.shown(self.high)}"

    def _constant(self) -> float:
        if isinstance(self.missing, str) and self.form not in ("date", "time"):
            raise SchemaError(
                f'missing={self.missing!r} is not a rule for numbers; use "error" or a number '
                "within the bounds."
            )
        constant = bound(self.missing, "missing", self.form)
        if not self.low <= constant <= self.high:
            low, high, at = map(self._plain, (self.low, self.high, constant))
            raise SchemaError(
                f"missing={at!r} lies outside the bounds {low!r} to {high!r}; "
                'use "error" or a constant within them.'
            )
        return constant


@dataclass(frozen=True, repr=False)
class Bins(_Measured):
    """A numeric column cut into declared bins, read as an ordered category.

    Bin ``i`` holds the numbers from ``edges[i]`` up to but not including ``edges[i + 1]``; the
    last bin includes its upper edge. Numbers beyond the edges belong to the outermost bins, as
    clipping would put them.

    Parameters
    ----------
    edges : sequence of float, of dates or of str
        Two or more public numbers, dates or times in rising order.
    missing : "error", "category" or "omit", default="error"
        Fail on a missing number, count it in a category of its own after the bins, or leave it out
        of distances.
    form : str, default="number"
        How the column is written, see :class:`Box`.
    weight : float, default=1
        How much the column counts in distances, see :class:`Box`.
    """

    edges: Sequence[float]
    missing: Literal["error", "category", "omit"] = "error"
    form: Form = "number"
    weight: float = 1.0

    if TYPE_CHECKING:

        def __init__(
            self,
            edges: Sequence[Bound],
            missing: Literal["error", "category", "omit"] = "error",
            form: Form = "number",
            weight: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        given = items(self.edges, "edges")
        self._set("form", form_of(self.form, given))
        edges = tuple(bound(edge, "an edge", self.form) for edge in given)
        if len(edges) < 2:
            raise SchemaError("Bins need at least two edges; add the missing edges.")
        if any(not left < right for left, right in pairwise(edges)):
            raise SchemaError("Bins need edges in rising order without repeats; sort the edges.")
        self._set("edges", edges)
        one_of(self.missing, "missing", MISSING_CATEGORY)
        self._set("weight", weight(self.weight))

    def describe(self) -> str:
        """Say in a few words what is declared."""
        first, last = self.shown(self.edges[0]), self.shown(self.edges[-1])
        return f"{len(self.edges) - 1} bins from {first} to {last}"

    @property
    def size(self) -> int:
        """Number of categories, the one for missing values included."""
        return len(self.edges) - 1 + (self.missing == "category")

    @property
    def missing_code(self) -> int | None:
        """Code of missing numbers: after the bins, whether they are a category or omitted."""
        return None if self.missing == "error" else len(self.edges) - 1

    @property
    def labels(self) -> tuple[str, ...]:
        """What to print for each code."""
        written = [edge if self.form == "number" else self.shown(edge) for edge in self.edges]
        bins = [f"{a} to {b}" for a, b in pairwise(written)]
        return (*bins, "(missing)") if self.missing == "category" else tuple(bins)


@dataclass(frozen=True, repr=False)
class Ball(PlainFact):
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
        self._set("radius", number(self.radius, "radius"))
        if self.radius < _NARROWEST:
            raise SchemaError(
                f"A Ball needs a radius above zero, got radius={self.radius!r}; enlarge it."
            )
        center = tuple(number(value, "center") for value in items(self.center, "center"))
        self._set("center", center)


Fact = Box | Bins | Categories
