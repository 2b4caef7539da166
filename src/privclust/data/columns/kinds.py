"""Columns with a kind: what readers hand over at the door.

A kind follows from the Arrow type of a column and from whether its source has types at all. It says
which function of the table reads each of its values. Types come from declarations, files or frames,
never from values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.types as pt

from privclust._typing import Mask
from privclust.data.columns.cells import CELLS

ColumnKind = Literal[
    "float", "integer", "unsigned", "boolean", "text", "field", "date", "moment", "duration",
    "decimal", "cell", "nothing", "other",
]  # fmt: skip


@dataclass(frozen=True)
class TypedColumn:
    """The values of one column in a block of rows.

    Attributes
    ----------
    kind : ColumnKind
        A *field* is text of a source without types, such as CSV: it may stand for a number.
    array : Arrow array
        Of a type of this kind, or a dictionary of such values. Missing ones are null.
    """

    kind: ColumnKind
    array: pa.Array

    @classmethod
    def of(cls, array: pa.Array, *, untyped: bool = False) -> TypedColumn:
        """Return a column of the kind of its type; text of an untyped source is a field."""
        kind = kind_of(array.type)
        return cls("field" if kind == "text" and untyped else kind, array)

    def __len__(self) -> int:
        return len(self.array)

    def words(self) -> pa.Array:
        """Return the different values, which are as PRIVATE as all of them."""
        return self.decoded().unique()

    def decoded(self) -> pa.Array:
        """Return the values themselves where they are stored as numbers of words."""
        array = self.array
        return array.dictionary.take(array.indices) if pt.is_dictionary(array.type) else array

    def keep(self, mask: Mask) -> TypedColumn:
        """Return the values where ``mask`` is true."""
        return TypedColumn(self.kind, self.array.filter(pa.array(mask)))


def kind_of(stored: pa.DataType) -> ColumnKind:
    """Return the kind of columns of an Arrow type."""
    if pt.is_dictionary(stored):
        return kind_of(stored.value_type)
    if pt.is_boolean(stored):
        return "boolean"
    if pt.is_integer(stored):
        return "unsigned" if pt.is_uint64(stored) else "integer"
    if pt.is_floating(stored):
        return "float"
    if pt.is_decimal(stored):
        return "decimal"
    if pt.is_string(stored) or pt.is_large_string(stored):
        return "text"
    if pt.is_date(stored):
        return "date"
    if pt.is_timestamp(stored):
        return "moment"
    if pt.is_duration(stored) or pt.is_time(stored):
        return "duration"
    if stored.equals(CELLS):
        return "cell"
    return "nothing" if pt.is_null(stored) else "other"
