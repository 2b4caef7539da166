"""The schema: named columns in order, the fact declared about each, and at most one Ball.

Reading and writing files is in ``files``. Checking rows and drafting from a sample need readers, of
which a schema knows nothing: they are names at the top of the package, and have short forms here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

import privclust
from privclust._typing import Floats
from privclust.exceptions import SchemaError, did_you_mean
from privclust.schema import files
from privclust.schema.ball_fact import Ball
from privclust.schema.csvw import csvw_from_document, document_from_csvw
from privclust.schema.dialect import Csv
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.files import ball_from, check_keys, csv_from, fact_from, make_fact
from privclust.schema.forms import items, valid_text
from privclust.schema.writing import Writing

if TYPE_CHECKING:
    from privclust.steward.check import CheckReport


# The columns that a schema names: each once, declared or ignored.


def check_columns(pairs: tuple[tuple[str, Fact], ...]) -> tuple[tuple[str, Fact], ...]:
    """Return the columns of a schema, each named once and declared by a fact."""
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


def check_ignore(ignore: Sequence[str], declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns to ignore, none of which may be declared."""
    names, taken = items(ignore, "ignore"), set(declared)
    for name in names:
        if not isinstance(name, str):  # empty for the one without a name, as of an index
            raise SchemaError(f"An ignored column must be text, got {name!r}; name the column.")
        if name in taken:
            raise SchemaError(f"Column {name!r} is declared and ignored; drop one of the two.")
    return tuple(dict.fromkeys(valid_text(str(name), "an ignored column") for name in names))


# In ``ignore``: every column that is not declared.
ALL_OTHERS = "*"

# Columns whose widths differ by more than this factor are not alike in a distance.
_UNEVEN = 10.0


@dataclass(frozen=True, init=False, repr=False)
class Schema:
    """What is publicly known about the columns of a data set.

    Parameters
    ----------
    columns : mapping of str to fact, or iterable of (str, fact) pairs
        The columns in order, each a :class:`Box`, :class:`Bins` or :class:`Categories`.
    ball : Ball or None, default=None
        A joint bound over all Box columns, on top of their boxes.
    ignore : sequence of str, default=()
        Columns of the data that are not read; ``["*"]`` for all that are not declared. A column
        that is neither declared nor ignored is an error, unless it has no name.
    csv : Csv or None, default=None
        How CSV files are written, where that is not the usual way.
    note : str, default=""
        A remark that travels with the schema; a drafted schema says here where it comes from.

    Examples
    --------
    >>> from privclust import Box, Categories, Schema
    >>> Schema({"age": Box(0, 120), "sex": Categories(["f", "m"])}).numeric
    ('age',)
    """

    _columns: tuple[tuple[str, Fact], ...]
    ball: Ball | None
    ignore: tuple[str, ...]
    csv: Csv
    note: str
    # Made once: thousands of columns are each looked up by name.
    _facts: dict[str, Fact] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        columns: Mapping[str, Fact] | Iterable[tuple[str, Fact]],
        *,
        ball: Ball | None = None,
        ignore: Sequence[str] = (),
        csv: Csv | None = None,
        note: str = "",
    ) -> None:
        pairs = tuple(columns.items() if isinstance(columns, Mapping) else columns)
        if not isinstance(note, str):
            raise SchemaError("The note of a schema must be text; write it in quotes.")
        if not isinstance(csv, Csv | None):
            raise SchemaError("The csv of a schema must be a Csv; use Csv(delimiter, decimal).")
        object.__setattr__(self, "_columns", check_columns(pairs))
        object.__setattr__(self, "_facts", dict(self._columns))
        object.__setattr__(self, "ball", ball)
        object.__setattr__(self, "ignore", check_ignore(ignore, self.names))
        object.__setattr__(self, "csv", csv or Csv())
        object.__setattr__(self, "note", valid_text(note, "note"))
        for name, fact in pairs:
            make_fact(name, fact.writing_rule, self.csv)
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
    def uncounted(self) -> tuple[str, ...]:
        """Names of the columns whose rule hides how many values are missing.

        A constant stands for them, or they are left out; a category of their own would count them.
        """
        told = ("error", "category")
        return tuple(name for name, fact in self._columns if fact.missing not in told)

    @property
    def low(self) -> Floats:
        """Lower bounds of the Box columns."""
        return np.array([box.low for _, box in self._boxes], dtype=np.float64)

    @property
    def high(self) -> Floats:
        """Upper bounds of the Box columns."""
        return np.array([box.high for _, box in self._boxes], dtype=np.float64)

    def writing_rule(self, name: str) -> Writing:
        """Return how the texts of a column are written, in files of this schema."""
        return self[name].writing_rule(self.csv)

    def __getitem__(self, name: str) -> Fact:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._facts

    def __repr__(self) -> str:
        lines = "".join(f"    {name!r}: {fact!r},\n" for name, fact in self._columns)
        usual: dict[str, Any] = {"ball": None, "ignore": (), "csv": Csv(), "note": ""}
        given = ((name, getattr(self, name)) for name in usual)
        rest = "".join(f", {name}={value!r}" for name, value in given if value != usual[name])
        return f"Schema({{\n{lines}}}{rest})"

    @classmethod
    def of(cls, declared: Any, **columns: Any) -> Schema:
        """Return the schema that anything declared stands for; see ``schema/coerce.py``.

        A path, a dict of facts, a fact for all columns alike or the ``bounds`` of all of them.
        """
        from privclust.schema.coerce import coerce_schema

        return coerce_schema(declared, **columns)

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
            Number of columns, needed when neither names nor a sequence of bounds give it.
        ball : Ball or None
            A joint bound over the columns.
        """
        from privclust.schema.coerce import boxes_from_bounds

        return cls(boxes_from_bounds(low, high, names, n_columns), ball=ball)

    def with_columns(self, facts: Mapping[str, Fact], *, note: str | None = None) -> Schema:
        """Return the schema with other facts about its columns, and maybe another note."""
        pairs = [(name, facts.get(name, fact)) for name, fact in self._columns]
        text = self.note if note is None else note
        return Schema(pairs, ball=self.ball, ignore=self.ignore, csv=self.csv, note=text)

    def only(self, names: Sequence[str]) -> Schema:
        """Return the schema of some of its columns, in its order; all others are ignored."""
        declared = set(self.names)
        unknown = [name for name in names if name not in declared]
        if unknown:
            meant = did_you_mean(unknown[0], self.names)
            raise SchemaError(
                f"Column {unknown[0]!r} is not in the schema{meant}; declare it there."
            )
        wanted = set(names)
        kept = [(name, fact) for name, fact in self._columns if name in wanted]
        ball = self.ball
        if ball is not None:
            # A row is no farther from the center in fewer columns than in all of them.
            centre = zip(self.numeric, ball.center, strict=True)
            ball = Ball(ball.radius, [at for name, at in centre if name in wanted])
        return Schema(kept, ball=ball, ignore=[ALL_OTHERS], csv=self.csv, note=self.note)

    def uneven_widths(self) -> tuple[str, str] | None:
        """Return the narrowest and the widest Box column if the widths differ over tenfold.

        Without ``rescale=True`` the wide one then decides all distances.
        """
        if not self.numeric:
            return None
        widths = self.high - self.low
        narrow, wide = int(widths.argmin()), int(widths.argmax())
        if not widths[wide] > _UNEVEN * widths[narrow]:
            return None
        return self.numeric[narrow], self.numeric[wide]

    def check(self, data: Any, **options: Any) -> CheckReport:
        """Count what a fit would meet in the rows; see :func:`privclust.check_rows`.

        The counts are exact: they are for the steward of the data alone, NOT PRIVATE.
        """
        return privclust.check_rows(data, self, **options)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Schema:
        """Make a schema from the plain structure that :meth:`to_dict` returns."""
        check_keys(document, {"columns", "ball", "ignore", "csv", "note"}, "the schema")
        columns = document.get("columns")
        if not isinstance(columns, Mapping):
            raise SchemaError("The schema has no table of columns; add one under 'columns'.")
        pairs = [(name, make_fact(name, fact_from, entry)) for name, entry in columns.items()]
        return cls(
            pairs,
            ball=ball_from(document.get("ball")),
            ignore=document.get("ignore", ()),
            csv=csv_from(document.get("csv", {})),
            note=document.get("note", ""),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as nested dicts and lists of text, numbers and booleans."""
        document: dict[str, Any] = {"note": self.note} if self.note else {}
        if self.ignore:
            document["ignore"] = list(self.ignore)
        document["columns"] = {name: fact.to_dict() for name, fact in self._columns}
        if self.ball:
            document["ball"] = self.ball.to_dict()
        if self.csv != Csv():
            document["csv"] = self.csv.to_dict()
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

    def to_csvw(self, *, id_column: str | None = None, max_rows: int = 1) -> str:
        """Return the schema as JSON-LD in CSVW-EO, for other tools of differential privacy.

        Parameters
        ----------
        id_column : str or None
            The column that names people, if they are the unit of privacy.
        max_rows : int, default=1
            How many rows of one of them may count.
        """
        return csvw_from_document(self.to_dict(), id_column=id_column, max_rows=max_rows)

    @classmethod
    def from_csvw(cls, text: str) -> Schema:
        """Make a schema from JSON-LD in CSVW-EO."""
        return cls.from_dict(document_from_csvw(text))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a ``.json`` or ``.toml`` file, or from CSVW-EO as ``.jsonld``."""
        return cls.from_dict(files.load(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the schema to a ``.json`` or ``.toml`` file, or as CSVW-EO to ``.jsonld``."""
        writers = {".json": self.to_json, ".toml": self.to_toml, ".jsonld": self.to_csvw}
        files.save(path, writers)

    @classmethod
    def draft(
        cls, sample: Any, rows: int = 1000, ignore: Sequence[str] = (), csv: Csv | None = None
    ) -> Schema:
        """Draft a schema from a sample that is public; see :func:`privclust.draft_schema`.

        Never draft from private rows: the bounds and categories would publish their extremes.
        """
        return privclust.draft_schema(sample, rows=rows, ignore=ignore, csv=csv)
