"""What tests read from a block of rows: columns of numbers, and of categories."""

from __future__ import annotations

from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import category_line, number_line
from privclust.data.columns.words import category_refusal
from privclust.schema.writing import Writing


def block_numbers(block, names=None, *, lenient=(), writings=None):
    """Return columns as numbers, NaN where one is missing."""
    return numbers_of(block, block.names if names is None else names, writings or {}, lenient)


def block_values(block, name, kind):
    """Return a column as categories of a kind, None where one is missing; foreign ones raise."""
    column = block.column(name)
    line = category_line(kind, Writing())
    read = line.read(column)
    if read.foreign.any() or not line.takes(column.kind):
        raise category_refusal(column, name, kind)
    return read.values


def formed(array, form):
    """Return the numbers that a column of a form stands for, NaN where it has none."""
    return (
        number_line(Writing(form)).read(TypedColumn.of(array)).values.to_numpy(zero_copy_only=False)
    )
