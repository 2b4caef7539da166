"""The schema: named columns in order, the fact declared about each, and at most one Ball.

Reading and writing files is in ``files``, drafting from a public sample in ``draft``; both are
reached through the class methods here.
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import SchemaError
from privclust.schema import files
from privclust.schema.facts import Ball, Bins, Box, Categories, Fact, valid_text
from privclust.schema.plain import ball_from, fact_from, named, only_keys, plain

__all__ = ["Schema"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, init=False, repr=False)
class Schema:
    """What is publicly known about the columns of a data set.

    Parameters
    ----------
    columns : mapping of str to fact, or iterable of (str, fact) pairs
        The columns in order, each a :class:`Box`, :class:`Bins` or :class:`Categories`.
    ball : Ball or None, default=None
        A joint bound over all Box columns, on top of their boxes.
    note : str, default=""
        A remark that travels with the schema; a drafted schema says here where it comes from.

    Examples
    --------
    >>> Schema({"age": Box(0, 120), "sex": Categories(["f", "m"])}).numeric
    ('age',)
    """

    _columns: tuple[tuple[str, Fact], ...]
    ball: Ball | None
    note: str

    def __init__(
        self,
        columns: Mapping[str, Fact] | Iterable[tuple[str, Fact]],
        *,
        ball: Ball | None = None,
        note: str = "",
    ) -> None:
        pairs = tuple(columns.items() if isinstance(columns, Mapping) else columns)
        if not isinstance(note, str):
            raise SchemaError("The note of a schema must be text; write it in quotes.")
        object.__setattr__(self, "_columns", _checked_columns(pairs))
        object.__setattr__(self, "ball", ball)
        object.__setattr__(self, "note", valid_text(note, "note"))
        if ball is not None:
            self._check_ball(ball)

    def _check_ball(self, ball: Ball) -> None:
        if not isinstance(ball, Ball):
            raise SchemaError("The ball of a schema must be a Ball; use Ball(radius, center).")
        if not self.numeric:
            raise SchemaError("A Ball needs numeric columns; declare a Box or drop the ball.")
        if len(ball.center) != len(self.numeric):
            raise SchemaError(
                f"The ball's center has {len(ball.center)} numbers for {len(self.numeric)} numeric "
                "columns; give one number per Box column."
            )
        for (name, box), at in zip(self._boxes, ball.center, strict=True):
            if not box.low <= at <= box.high:
                raise SchemaError(
                    f"Column {name!r}: the ball's center {at!r} lies outside the bounds "
                    f"{box.low!r} to {box.high!r}; move the center or widen the bounds."
                )

    @property
    def _boxes(self) -> list[tuple[str, Box]]:
        return [(name, fact) for name, fact in self._columns if isinstance(fact, Box)]

    @property
    def columns(self) -> dict[str, Fact]:
        """The fact of every column, in order."""
        return dict(self._columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(name for name, _ in self._columns)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Names of the Box columns."""
        return tuple(name for name, _ in self._boxes)

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the Categories and Bins columns."""
        return tuple(name for name, fact in self._columns if not isinstance(fact, Box))

    @property
    def low(self) -> Floats:
        """Lower bounds of the Box columns."""
        return np.array([box.low for _, box in self._boxes], dtype=np.float64)

    @property
    def high(self) -> Floats:
        """Upper bounds of the Box columns."""
        return np.array([box.high for _, box in self._boxes], dtype=np.float64)

    def __getitem__(self, name: str) -> Fact:
        return dict(self._columns)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        lines = "".join(f"    {name!r}: {fact!r},\n" for name, fact in self._columns)
        ball = f", ball={self.ball!r}" if self.ball else ""
        note = f", note={self.note!r}" if self.note else ""
        return f"Schema({{\n{lines}}}{ball}{note})"

    @classmethod
    def from_bounds(
        cls,
        low: float | Sequence[float] | Floats,
        high: float | Sequence[float] | Floats,
        names: Sequence[str] | None = None,
        n_columns: int | None = None,
        ball: Ball | None = None,
    ) -> Schema:
        """Make a schema of Box columns from bounds, the short form ``bounds=(low, high)``.

        Parameters
        ----------
        low, high : float or sequence of float
            One bound for all columns, or one per column.
        names : sequence of str or None
            Names of the columns; ``x0``, ``x1``, ... if not given.
        n_columns : int or None
            Number of columns, needed when neither names nor a sequence of bounds tell it.
        ball : Ball or None
            A joint bound over the columns.
        """
        lows, highs = _bound_list(low), _bound_list(high)
        told = [("names", names), ("low", lows), ("high", highs)]
        lengths = {what: len(values) for what, values in told if values is not None}
        if n_columns is not None:
            lengths["n_columns"] = n_columns
        if not lengths:
            raise SchemaError(
                "Scalar bounds do not tell the number of columns; say it too, or give one bound "
                "per column."
            )
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{what} {length}" for what, length in lengths.items())
            raise SchemaError(f"The bounds disagree on the number of columns ({said}); align them.")
        width = next(iter(lengths.values()))
        labels = [f"x{i}" for i in range(width)] if names is None else list(names)
        lows = [low] * width if lows is None else lows
        highs = [high] * width if highs is None else highs
        boxes = zip(labels, lows, highs, strict=True)
        return cls([(name, named(name, Box, a, b)) for name, a, b in boxes], ball=ball)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Schema:
        """Make a schema from the plain structure that :meth:`to_dict` returns."""
        only_keys(document, {"columns", "ball", "note"}, "the schema")
        columns = document.get("columns")
        if not isinstance(columns, Mapping):
            raise SchemaError("The schema has no table of columns; add one under 'columns'.")
        pairs = [(name, named(name, fact_from, entry)) for name, entry in columns.items()]
        return cls(pairs, ball=ball_from(document.get("ball")), note=document.get("note", ""))

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as nested dicts and lists of text, numbers and booleans."""
        document: dict[str, Any] = {"note": self.note} if self.note else {}
        document["columns"] = {name: plain(fact) for name, fact in self._columns}
        if self.ball:
            document["ball"] = plain(self.ball)
        return document

    def to_json(self) -> str:
        """Return the schema as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_toml(self) -> str:
        """Return the schema as TOML text; the note stands in a comment on top as well."""
        return files.toml_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Make a schema from JSON text."""
        return cls.from_dict(files.parse_json(text))

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Make a schema from TOML text."""
        return cls.from_dict(files.parse_toml(text))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a ``.json`` or ``.toml`` file."""
        return cls.from_dict(files.load(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the schema to a ``.json`` or ``.toml`` file."""
        files.save(path, {".json": self.to_json, ".toml": self.to_toml})

    @classmethod
    def draft(cls, sample: Any, rows: int = 1000, ignore: Sequence[str] = ()) -> Schema:
        """Draft a schema from a sample that is public; see :func:`privclust.schema.draft.draft`.

        Never draft from private rows: the bounds and categories would publish their extremes.
        """
        from privclust.schema.draft import draft

        return draft(sample, rows=rows, ignore=ignore)


def _checked_columns(pairs: tuple[tuple[str, Fact], ...]) -> tuple[tuple[str, Fact], ...]:
    if not pairs:
        raise SchemaError("A schema needs at least one column; declare the columns.")
    seen = set()
    for name, fact in pairs:
        if not isinstance(name, str) or not name:
            raise SchemaError(f"A column name must be text, got {name!r}; name the column.")
        if name in seen:
            raise SchemaError(f"Column {name!r} is declared twice; remove one of them.")
        if not isinstance(fact, (Box, Bins, Categories)):
            raise SchemaError(
                f"Column {name!r} is declared as {type(fact).__name__}; "
                "use Box, Bins or Categories."
            )
        seen.add(name)
    return tuple((valid_text(name, "a column name"), fact) for name, fact in pairs)


def _bound_list(bound: object) -> list[Any] | None:
    """Return the bounds per column, or ``None`` when one number stands for all columns."""
    if isinstance(bound, numbers.Real):
        return None
    if isinstance(bound, np.ndarray) and bound.ndim == 1:
        return list(bound.tolist())
    if isinstance(bound, (list, tuple)):
        return list(bound)
    raise SchemaError("Bounds must be a number or one number per column; give low and high so.")
