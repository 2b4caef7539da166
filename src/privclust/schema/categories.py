"""The fact about columns that hold one of a list of values, and what all facts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

from privclust.exceptions import SchemaError
from privclust.schema.checks import category, items, one_of, weight

__all__ = ["MISSING_CATEGORY", "Categories", "Kind", "PlainFact"]

Kind = Literal["text", "integer", "boolean"]

# The rules for missing values of columns that have categories.
MISSING_CATEGORY = ("error", "category", "omit")


class PlainFact:
    """Shared by all facts: plain data, and a short repr that leaves out rules at their default."""

    def __repr__(self) -> str:
        parts = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                plain = self._written(field.name)
                plain = tuple(plain) if isinstance(plain, list) else plain
                parts.append(f"{field.name}={plain!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _plain(self, value: Any) -> Any:
        """Return a value of a field as it stands in a file."""
        return list(value) if isinstance(value, tuple) else value

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values that make the fact again, as they stand in a file."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        document = {name: self._written(name) for name in names}
        if document.get("weight") == 1:  # older files have none
            del document["weight"]
        return document

    def _written(self, name: str) -> Any:
        """Return a field as it stands in a file; a weight is a plain number whatever the form."""
        value = getattr(self, name)
        return value if name == "weight" else self._plain(value)


@dataclass(frozen=True, repr=False)
class Categories(PlainFact):
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
    """

    values: Sequence[str] | Sequence[int] | Sequence[bool]
    missing: Literal["error", "category", "omit"] = "error"
    unknown: Literal["error", "other"] = "error"
    weight: float = 1.0

    def __post_init__(self) -> None:
        values = tuple(category(value) for value in items(self.values, "values"))
        if not values:
            raise SchemaError("Categories need at least one value; list the values.")
        if len({type(value) for value in values}) > 1:
            raise SchemaError("Categories need values of one type; write all of them as text.")
        if len(set(values)) < len(values):
            raise SchemaError("Categories list a value twice; remove the repeat.")
        self._set("values", values)
        one_of(self.missing, "missing", MISSING_CATEGORY)
        one_of(self.unknown, "unknown", ("error", "other"))
        self._set("weight", weight(self.weight))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        # In Python 1 equals True; in a column it does not.
        mine = (self.kind, self.values, self.missing, self.unknown, self.weight)
        return mine == (other.kind, other.values, other.missing, other.unknown, other.weight)

    def describe(self) -> str:
        """Say in a few words what is declared."""
        return f"{len(self.values)} categories"

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
