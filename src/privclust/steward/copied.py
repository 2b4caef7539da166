"""A column of the caller's rows as text, handed back to the caller, such as the ids of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from privclust.reading import open_rows

__all__ = ["column_texts"]


def column_texts(data: Any, column: str) -> Iterator[str]:
    """Yield the text of one column row by row; for whoever holds the rows, and for nobody else."""
    with open_rows(data, [column], ignore=None) as rows:
        for block in rows.blocks():
            for value in block.column(column).array.to_pylist():
                yield "" if value is None else str(value)
