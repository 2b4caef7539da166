"""What is declared about columns that a learned metric compares."""

from __future__ import annotations

from collections.abc import Sequence

from privclust.exceptions import SchemaError
from privclust.schema import Bins, Categories, Schema

__all__ = ["Declared", "check_width"]


# A schema, the one fact that holds for every column, or one fact for each.
Declared = Schema | Bins | Categories | Sequence[Bins | Categories]


def check_width(schema: Schema) -> None:
    """Raise unless there are columns to compare values by."""
    if len(schema) < 2:
        raise SchemaError(
            "A categorical metric compares values by other columns, but the data have "
            "1 feature(s) only; declare at least two."
        )
