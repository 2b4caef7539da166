"""From columns to category codes, by the declared schema; each row by itself.

The code of a value is its index in the declared list. Nothing is learned from the rows: a value
that is not declared is counted as "other" or is an error, as the schema says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from privclust._typing import Codes
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import ARROW_TYPE, category_line
from privclust.data.columns.words import category_refusal
from privclust.data.rows import Block
from privclust.exceptions import DataError, SchemaError
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema
from privclust.schema.writing import Writing

if TYPE_CHECKING:
    from privclust.data.table.cut import CutCoder

# Indices of values that are not listed.
_MISSING, _UNLISTED = -2, -1


class ColumnCoder:
    """Turns the categorical columns of rows into codes; other columns are ignored.

    The code of a missing value that is left out is the number of categories, one beyond the last.
    """

    def __init__(self, schema: Schema) -> None:
        self.names = schema.categorical
        self._facts: list[Bins | Categories] = [
            fact for fact in schema.columns.values() if not isinstance(fact, Box)
        ]
        self._writings = {name: schema.writing_rule(name) for name in self.names}
        self.sizes = tuple(fact.size for fact in self._facts)
        self.labels = tuple(fact.labels for fact in self._facts)
        # Categories for missing and unlisted values come after those that are listed.
        self.n_listed = tuple(
            len(fact.values) if isinstance(fact, Categories) else len(fact.edges) - 1
            for fact in self._facts
        )
        most = max((fact.size + (fact.missing == "omit") for fact in self._facts), default=1)
        self.dtype = np.min_scalar_type(most - 1)
        self._listed = [
            pa.array(fact.values, ARROW_TYPE[fact.kind]) if isinstance(fact, Categories) else None
            for fact in self._facts
        ]

    def codes(self, block: Block) -> Codes:
        """Return the codes of a block, of shape (n_rows, n_attributes)."""
        codes = np.empty((block.n_rows, len(self.names)), self.dtype, order="F")
        for place, (name, fact) in enumerate(zip(self.names, self._facts, strict=True)):
            if isinstance(fact, Bins):
                codes[:, place] = self._bin_codes(block, name, fact)
            else:
                writing, listed = self._writings[name], self._listed[place]
                codes[:, place] = _value_codes(block, name, fact, writing, listed)
        return codes

    def _bin_codes(self, block: Block, name: str, fact: Bins) -> NDArray[np.integer]:
        return _bin_codes(block, name, fact, self._writings[name])


class CategoryCoder(ColumnCoder):
    """Turns rows into codes for tables of counts; every row has a cell in each.

    ``schema``: only columns of categories and Bins, none of which leaves missing values out.
    """

    def __init__(self, schema: Schema) -> None:
        if schema.numeric:
            raise SchemaError(
                f"Column {schema.numeric[0]!r} is declared as numbers, but categories are needed; "
                "declare Bins with public edges for it, or drop it."
            )
        super().__init__(schema)
        for name, fact in zip(self.names, self._facts, strict=True):
            if fact.missing == "omit":
                raise SchemaError(
                    f"Column {name!r} leaves missing values out, which a learned metric cannot "
                    'do; declare missing="category" for it.'
                )


@dataclass(frozen=True)
class AttributeCodes:
    """The encoder of categorical rows: their codes, as small as the categories allow."""

    coder: CategoryCoder | CutCoder

    def __call__(self, block: Block) -> list[Codes]:
        """Return the codes of a block, in one piece."""
        return [self.coder.codes(block)]

    def unpack(self, piece: Codes) -> Codes:
        """Return the codes as they are."""
        return piece

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return self.coder.dtype.itemsize * len(self.coder.names)


def _value_codes(
    block: Block, name: str, fact: Categories, writing: Writing, listed: pa.Array
) -> NDArray[np.integer]:
    """Return the codes of values; one that is not of the declared kind counts as unknown."""
    column, reading = block.column(name), category_line(fact.kind, writing)
    read = reading.read(column, partial(_places, listed))
    strict = fact.unknown_code is None
    if strict and (read.foreign.any() or not reading.takes(column.kind)):
        raise category_refusal(column, name, fact.kind)
    codes = read.values.fill_null(_MISSING).to_numpy(zero_copy_only=False)
    codes = np.where(read.foreign, _UNLISTED, codes) if read.foreign.any() else codes
    if not (codes < 0).any():
        return np.asarray(codes)
    if fact.missing_code is None and (codes == _MISSING).any():
        raise DataError(
            f'Column {name!r} has missing values; declare missing="category" for it in the '
            "schema or remove those rows."
        )
    if strict and (codes == _UNLISTED).any():
        raise DataError(
            f"Column {name!r} has values that the schema does not list; list them as they are "
            'written, or declare unknown="other" for it: privclust check says which.'
        )
    for place, code in ((_UNLISTED, fact.unknown_code), (_MISSING, fact.missing_code)):
        codes = codes if code is None else np.where(codes == place, code, codes)
    return np.asarray(codes)


def _places(listed: pa.Array, values: pa.Array) -> pa.Array:
    """Return the index of each value in the list; missing ones stay missing."""
    places = pc.index_in(values, value_set=listed).fill_null(_UNLISTED)
    return pc.if_else(values.is_valid(), places, None)


def _bin_codes(block: Block, name: str, fact: Bins, writing: Writing) -> NDArray[np.integer]:
    lenient = (name,) if fact.missing_code is not None else ()
    numbers = numbers_of(block, [name], {name: writing}, lenient)[:, 0]
    codes = np.searchsorted(np.array(fact.edges[1:-1]), numbers, side="right")
    missing = np.isnan(numbers)
    if not missing.any():
        return codes
    if fact.missing_code is None:
        raise DataError(
            f'Column {name!r} has missing numbers (NaN); declare missing="category" for its '
            "bins or remove those rows."
        )
    return np.where(missing, fact.missing_code, codes)
