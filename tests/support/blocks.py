"""What tests read from a block of rows: columns of numbers, and of categories."""

from __future__ import annotations

from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import CATEGORIES, NUMBERS
from privclust.data.columns.words import category_refusal


def block_numbers(block, names=None, *, lenient=(), forms=None):
    """Return columns as numbers, NaN where one is missing."""
    return numbers_of(block, block.names if names is None else names, forms or {}, lenient)


def block_values(block, name, kind):
    """Return a column as categories of a kind, None where one is missing; foreign ones raise."""
    column = block.column(name)
    read = CATEGORIES[kind].read(column)
    if read.foreign.any() or not CATEGORIES[kind].takes(column.kind):
        raise category_refusal(column, name, kind)
    return read.values


def formed(array, form):
    """Return the numbers that a column of a form stands for, NaN where it has none."""
    return NUMBERS[form].read(TypedColumn.of(array)).values.to_numpy(zero_copy_only=False)
