"""From columns to category codes, by the declared schema; each row by itself.

The code of a value is its place in the declared list. Nothing is learned from the rows: a value
that is not declared is counted as "other" or is an error, as the schema says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from privclust._typing import Codes
from privclust.data.reading import ARROW_TYPE, Block
from privclust.data.reading.convert import as_kind, decoded, marked_kind
from privclust.exceptions import DataError, SchemaError
from privclust.schema import Bins, Box, Categories, Schema

__all__ = ["AttributeCodes", "CategoryCoder", "ColumnCoder"]


class ColumnCoder:
    """Turns the categorical columns of rows into codes; other columns are not looked at.

    The code of a missing value that is left out is the number of categories, one beyond the last.

    Parameters
    ----------
    schema : Schema
    """

    def __init__(self, schema: Schema) -> None:
        self.names = schema.categorical
        self._facts: list[Bins | Categories] = [
            fact for fact in schema.columns.values() if not isinstance(fact, Box)
        ]
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
                codes[:, place] = _value_codes(block, name, fact, self._listed[place])
        return codes

    def _bin_codes(self, block: Block, name: str, fact: Bins) -> NDArray[np.integer]:
        return _bin_codes(block, name, fact)


class CategoryCoder(ColumnCoder):
    """Turns rows into codes for tables of counts, in each of which every row has its cell.

    Parameters
    ----------
    schema : Schema
        Categories and Bins columns only, none of which leaves missing values out.
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

    coder: CategoryCoder

    def __call__(self, block: Block) -> list[Codes]:
        """Return the codes of a block, in one piece."""
        return [self.coder.codes(block)]

    def unpacked(self, piece: Codes) -> Codes:
        """Return the codes as they are."""
        return piece

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return self.coder.dtype.itemsize * len(self.coder.names)


def _value_codes(
    block: Block, name: str, fact: Categories, listed: pa.Array
) -> NDArray[np.integer]:
    stored = block.column(name)
    if pa.types.is_dictionary(stored.type) and stored.null_count == 0:
        return _dictionary_codes(name, fact, listed, stored, block.parse)
    return _listed_codes(stored, name, fact, listed, block.parse)


def _dictionary_codes(
    name: str, fact: Categories, listed: pa.Array, stored: pa.DictionaryArray, parse: bool
) -> NDArray[np.integer]:
    """Translate a dictionary once instead of every row."""
    indices = stored.indices.to_numpy(zero_copy_only=False)
    # Words that no row uses must not raise; so translate only those that are used.
    used = np.flatnonzero(np.bincount(indices, minlength=len(stored.dictionary)))
    words = decoded(stored.dictionary).take(pa.array(used))
    table = np.zeros(len(stored.dictionary), np.int64)
    table[used] = _listed_codes(words, name, fact, listed, parse)
    return np.asarray(table[indices])


def _listed_codes(
    stored: pa.Array, name: str, fact: Categories, listed: pa.Array, parse: bool
) -> NDArray[np.integer]:
    """Return the codes of values; one that is not of the declared kind is as unknown as any."""
    if fact.unknown_code is None:
        values = as_kind(stored, name, fact.kind, parse)
        foreign = np.zeros(len(values), bool)
    else:
        values, foreign = marked_kind(stored, fact.kind, parse)
    missing = values.is_null().to_numpy(zero_copy_only=False) & ~foreign
    if missing.any() and fact.missing_code is None:
        raise DataError(
            f'Column {name!r} has missing values; declare missing="category" for it in the '
            "schema or remove those rows."
        )
    places = pc.index_in(values, value_set=listed)
    found = places.fill_null(-1).to_numpy(zero_copy_only=False)
    if missing.any():
        found = np.where(missing, fact.missing_code, found)
    unknown = found < 0
    if not unknown.any():
        return np.asarray(found)
    if fact.unknown_code is None:
        raise DataError(
            f"Column {name!r} has values that the schema does not list; list them or declare "
            'unknown="other" for it.'
        )
    return np.where(unknown, fact.unknown_code, found)


def _bin_codes(block: Block, name: str, fact: Bins) -> NDArray[np.integer]:
    lenient = (name,) if fact.missing_code is not None else ()
    numbers = block.numbers([name], lenient=lenient)[:, 0]
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
