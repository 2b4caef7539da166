"""The facts a schema declares about columns: Box, Bins and Categories.

Each fact is frozen, checked when made, and carries the rule for missing values. A rule that reads
``"error"`` makes reading fail when a row breaks it. Such a failure depends on private rows, so it
always comes before anything is released, and its message names the column and the remedy but never
a value or a row number. If even the failure must not be seen by others, declare a constant or a
category instead: those rules never fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from privclust.exceptions import SchemaError
from privclust.schema.dialect import Csv
from privclust.schema.forms import (
    Form,
    category,
    form_of,
    format_number,
    is_iso,
    items,
    one_of,
    parse_bound,
    plain_bound,
    valid_text,
    weight,
)
from privclust.schema.writing import (
    Writing,
    check_decimal,
    check_format,
    check_thousands,
    check_words,
    parse_format,
    writes_moments,
    writes_numbers,
)

# The fact about columns that hold one of a list of values, and what all facts share.

Kind = Literal["text", "integer", "boolean"]

# The rules for missing values of columns that have categories.
MISSING_CATEGORY = ("error", "category", "omit")


# How a column is written, where that differs from the rest of its file.
_WRITTEN = ("format", "decimal", "thousands")


class FactBase:
    """Shared by all facts: plain data, and a short repr that leaves out rules at their default."""

    def __repr__(self) -> str:
        parts = []
        for part in fields(self):  # type: ignore[arg-type]
            value = getattr(self, part.name)
            if part.default is MISSING or value != part.default:
                plain = self._file_value(part.name)
                plain = tuple(plain) if isinstance(plain, list) else plain
                parts.append(f"{part.name}={plain!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _plain(self, value: Any) -> Any:
        """Return a value of a field as written in a file."""
        return list(value) if isinstance(value, tuple) else value

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values that make the fact again, as written in a file."""
        names = [part.name for part in fields(self)]  # type: ignore[arg-type]
        document = {name: self._file_value(name) for name in names}
        # Older files have none of these.
        usual: dict[str, Any] = {
            "weight": 1,
            **dict.fromkeys(_WRITTEN),
            "unit": "",
            "true": [],
            "false": [],
            "label": "",
            "description": "",
        }
        return {k: v for k, v in document.items() if k not in usual or v != usual[k]}

    def _file_value(self, name: str) -> Any:
        """Return a field as written in a file; a weight is a plain number whatever the form."""
        value = getattr(self, name)
        return value if name == "weight" else self._plain(value)


@dataclass(frozen=True, repr=False)
class ColumnFact(FactBase):
    """Shared by facts about one column: what readers of a release are told about it."""

    label: str = field(default="", kw_only=True)
    description: str = field(default="", kw_only=True)

    def _check_told(self) -> None:
        for name in ("label", "description"):
            text = getattr(self, name)
            if not isinstance(text, str):
                raise SchemaError(f"The {name} of a column must be text; write it in quotes.")
            self._set(name, valid_text(" ".join(text.split()), name))


@dataclass(frozen=True, repr=False)
class Categories(ColumnFact):
    """A column that holds one of the listed values.

    Codes follow the list: the listed values are 0, 1, ...; then come the category for missing
    values and the category for all other values, where declared.

    Parameters
    ----------
    values : sequence of str, of int or of bool
        The public list, without repeats and all of one type.
    missing : "error", "category" or "omit", default="error"
        Fail on a missing value, count it in a category of its own, or leave it out of distances:
        it is then as far from every category as from any other.
    unknown : "error" or "other", default="error"
        Fail on a value that is not listed, or count all such values in one category of their own.
    weight : float, default=1
        How much the column counts in distances, see :class:`Box`.
    true, false : sequence of str, default=()
        Words for yes and no in a text file, such as ``["ja"]`` and ``["nein"]``, if the values are
        booleans; those of the file's :class:`Csv` if not given.
    label, description : str, default=""
        What readers of a release are told about the column, see :class:`Box`.
    """

    values: Sequence[str] | Sequence[int] | Sequence[bool]
    missing: Literal["error", "category", "omit"] = "error"
    unknown: Literal["error", "other"] = "error"
    weight: float = 1.0
    true: Sequence[str] = field(default=(), kw_only=True)
    false: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        values = tuple(category(value) for value in items(self.values, "values"))
        if not values:
            raise SchemaError("Categories need at least one value; list the values.")
        if len({type(value) for value in values}) > 1:
            raise SchemaError("Categories need values of one type; write all of them as text.")
        if len(set(values)) < len(values):
            raise SchemaError("Categories list a value twice; remove the repeat.")
        self._set("values", values)
        self._check_told()
        one_of(self.missing, "missing", MISSING_CATEGORY)
        one_of(self.unknown, "unknown", ("error", "other"))
        self._set("weight", weight(self.weight))
        for name in ("true", "false"):
            self._set(name, check_words(getattr(self, name), name))
        if (self.true or self.false) and self.kind != "boolean":
            raise SchemaError(
                "Words for true and false belong to values = [false, true]; list the words "
                "themselves as values, or declare booleans."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        # In Python 1 equals True; in a column it does not.
        return self.kind == other.kind and all(
            getattr(self, part.name) == getattr(other, part.name) for part in fields(self)
        )

    def writing_rule(self, file: Csv) -> Writing:
        """Return how its texts are written, in a file with these defaults."""
        return Writing(true=tuple(self.true or file.true), false=tuple(self.false or file.false))

    def describe(self) -> str:
        """Say in a few words what is declared."""
        return f"{len(self.values)} categor{'y' if len(self.values) == 1 else 'ies'}"

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
        """Code of missing values: their category, ``size`` if omitted, ``None`` for an error."""
        if self.missing == "omit":
            return self.size
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


NARROWEST = 1e-150
# Means of whole numbers over a range at least this wide are shown as whole numbers.
_WIDE = 20

Bound = float | date | timedelta | str  # as it may be given; kept as a number


class _NumericFact(ColumnFact):
    """Shared by facts about numbers: how they are written."""

    form: Form
    format: str | None
    decimal: str | None
    thousands: str | None
    unit: str

    def shown(self, value: float) -> str:
        """Return a number of this column as a reader expects it: a date as a date.

        Of whole numbers over a wide range no fraction is shown.
        """
        text = format_number(value, self.form)
        if self.form == "integer" and (self._width() >= _WIDE or value == round(value)):
            text = f"{value:.0f}"
        return f"{text} {self.unit}" if self.unit else text

    def _width(self) -> float:
        raise NotImplementedError

    def writing_rule(self, file: Csv) -> Writing:
        """Return how its texts are written, in a file with these defaults."""
        if writes_moments(self.form):
            return Writing(self.form, self.format or file.format)
        if not writes_numbers(self.form):
            return Writing(self.form)
        return Writing(
            self.form,
            decimal=self.decimal or file.decimal,
            thousands=file.thousands if self.thousands is None else self.thousands,
            unit=self.unit,
            true=tuple(file.true),
            false=tuple(file.false),
        )

    def _check_written(self) -> None:
        """Check what is told of the column and how it is written, once its form is known."""
        self._check_told()
        if self.format is not None:
            check_format(self.format)
            if not writes_moments(self.form):
                raise SchemaError(
                    "A format is for dates and times; give bounds that are dates, such as "
                    '"2024-12-31", or drop it.'
                )
        if self.decimal is not None:
            check_decimal(self.decimal)
        if self.thousands is not None:
            check_thousands(self.thousands)
        if not isinstance(self.unit, str):
            raise SchemaError('The unit of a column must be text, such as "%"; correct it.')
        self._set("unit", valid_text(self.unit.strip(), "unit"))
        marks = self.decimal is not None or self.thousands is not None or self.unit
        if marks and not writes_numbers(self.form):
            raise SchemaError(
                "A decimal mark, thousands and a unit are for numbers, not for "
                f'form = "{self.form}"; drop them.'
            )

    def _given(self, value: Any) -> Any:
        """Return a bound as it is meant: ISO 8601, or in the column's own format."""
        if not isinstance(value, str) or not isinstance(self.format, str) or is_iso(value):
            return value
        return parse_format(value, self.format) or value

    def _plain(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [*map(self._plain, value)]
        return plain_bound(value, self.form) if isinstance(value, float) else value

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values that make the fact again, as written in a file."""
        document = super().to_dict()
        form = document.pop("form")
        # Dates and times show what they are; older files have no form at all.
        return document if form in ("number", "date", "time") else {**document, "form": form}


@dataclass(frozen=True, repr=False)
class Box(_NumericFact):
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
        How the column is written: ``"number"``; ``"integer"``, of which synthetic rows have
        whole numbers only; ``"text"``, numbers as text; ``"date"``, of which
        the time of day is dropped; ``"time"``, in UTC where a zone is given; or a duration,
        counted in ``"seconds"``, ``"minutes"``, ``"hours"`` or ``"days"``.
    weight : float, default=1
        How much the column counts: differences in it are multiplied by the weight before they are
        squared and added up. It applies to the distances of k-means and of summaries.
    format : str or None, default=None
        How dates and times are written as text, such as ``"%d.%m.%Y"``, in the letters of Python's
        ``strptime``; that of the file's :class:`Csv`, or ISO 8601, if not given.
    decimal, thousands : str or None, default=None
        The marks within numbers that are written as text, such as ``","`` and ``"."`` in
        ``1.200,50``; those of the file's :class:`Csv` if not given.
    unit : str, default=""
        What the numbers count, such as ``"%"`` or ``"kg"``: it may stand next to a number that is
        written as text, and is shown behind numbers of a release.
    label, description : str, default=""
        What the column is called in a report, its name if not given, and what it means.

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
    format: str | None = field(default=None, kw_only=True)
    decimal: str | None = field(default=None, kw_only=True)
    thousands: str | None = field(default=None, kw_only=True)
    unit: str = field(default="", kw_only=True)

    if TYPE_CHECKING:

        def __init__(
            self,
            low: Bound,
            high: Bound,
            missing: Bound = "error",
            form: Form = "number",
            weight: float = 1.0,
            *,
            format: str | None = None,
            decimal: str | None = None,
            thousands: str | None = None,
            unit: str = "",
            label: str = "",
            description: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("low", "high", "missing"):
            self._set(name, self._given(getattr(self, name)))
        self._set("form", form_of(self.form, (self.low, self.high)))
        self._check_written()
        self._set("low", parse_bound(self.low, "low", self.form))
        self._set("high", parse_bound(self.high, "high", self.form))
        if not self.low < self.high:
            raise SchemaError(
                f"A Box needs low below high, got low={self._plain(self.low)!r} and "
                f"high={self._plain(self.high)!r}; swap or widen the bounds."
            )
        if self.high - self.low < NARROWEST:
            raise SchemaError(f"A Box needs bounds at least {NARROWEST} apart; widen the bounds.")
        if self.missing != "error":
            self._set("missing", self._constant())
        self._set("weight", weight(self.weight))

    def describe(self) -> str:
        """Say in a few words what is declared."""
        return f"{self.shown(self.low)} to {self.shown(self.high)}"

    def _width(self) -> float:
        return self.high - self.low

    def _constant(self) -> float:
        if isinstance(self.missing, str) and self.form not in ("date", "time"):
            raise SchemaError(
                f'missing={self.missing!r} is not a rule for numbers; use "error" or a number '
                'within the bounds, or cut the column into edges, which take "category" and '
                '"omit".'
            )
        constant = parse_bound(self.missing, "missing", self.form)
        if not self.low <= constant <= self.high:
            low, high, at = map(self._plain, (self.low, self.high, constant))
            raise SchemaError(
                f"missing={at!r} lies outside the bounds {low!r} to {high!r}; "
                'use "error" or a constant within them.'
            )
        return constant


@dataclass(frozen=True, repr=False)
class Bins(_NumericFact):
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
        What the numbers are, see :class:`Box`.
    weight : float, default=1
        How much the column counts in distances, see :class:`Box`.
    format, decimal, thousands, unit, label, description : str
        How the column is written and what readers are told about it, see :class:`Box`.
    """

    edges: Sequence[float]
    missing: Literal["error", "category", "omit"] = "error"
    form: Form = "number"
    weight: float = 1.0
    format: str | None = field(default=None, kw_only=True)
    decimal: str | None = field(default=None, kw_only=True)
    thousands: str | None = field(default=None, kw_only=True)
    unit: str = field(default="", kw_only=True)

    if TYPE_CHECKING:

        def __init__(
            self,
            edges: Sequence[Bound],
            missing: Literal["error", "category", "omit"] = "error",
            form: Form = "number",
            weight: float = 1.0,
            *,
            format: str | None = None,
            decimal: str | None = None,
            thousands: str | None = None,
            unit: str = "",
            label: str = "",
            description: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        given = [self._given(edge) for edge in items(self.edges, "edges")]
        self._set("form", form_of(self.form, given))
        self._check_written()
        edges = tuple(parse_bound(edge, "an edge", self.form) for edge in given)
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
        return f"{len(self.edges) - 1} bin{'s' * (len(self.edges) > 2)} from {first} to {last}"

    def _width(self) -> float:
        return self.edges[-1] - self.edges[0]

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


Fact = Box | Bins | Categories
