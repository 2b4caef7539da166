"""Columns of numbers, after the table has read every value by itself.

Values that do not read as declared are refused here, and only under the rule "error". A kind that a
fact does not list is refused whatever its values: types are public.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from privclust._typing import Floats
from privclust.data.columns.table import number_line
from privclust.data.columns.words import number_refusal
from privclust.data.rows import Block
from privclust.schema.writing import Writing

_PLAIN = Writing()


def numbers_of(
    block: Block,
    names: Sequence[str],
    writings: Mapping[str, Writing],
    lenient: Collection[str] = (),
) -> Floats:
    """Return columns of a block as numbers, NaN where one is missing.

    ``writings``: how columns are written if they are not plain numbers. ``lenient``: columns in
    which a value that does not read as declared is missing; in others it is refused. Returns
    ``rows``: (n_rows, len(names)), read-only where it is the caller's own memory.
    """
    if not writings and (dense := block.dense(names)) is not None:
        return dense
    rows = np.empty((block.n_rows, len(names)))
    for place, name in enumerate(names):
        column, writing = block.column(name), writings.get(name, _PLAIN)
        reading = number_line(writing)
        read = reading.read(column)
        if name not in lenient and (read.foreign.any() or not reading.takes(column.kind)):
            raise number_refusal(column, name, writing)
        rows[:, place] = read.values.to_numpy(zero_copy_only=False)
    return rows
