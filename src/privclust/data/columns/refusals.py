"""Columns of numbers, after the table has read every value by itself.

Values that do not read as declared are refused here, and only under the rule "error". A kind that a
fact does not list is refused whatever its values: types are public.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from privclust._typing import Floats
from privclust.data.columns.table import NUMBERS
from privclust.data.columns.words import number_refusal
from privclust.data.rows import Block
from privclust.schema.forms import Form


def numbers_of(
    block: Block, names: Sequence[str], forms: Mapping[str, Form], lenient: Collection[str] = ()
) -> Floats:
    """Return columns of a block as numbers, NaN where one is missing.

    ``forms``: how columns are written if they are not plain numbers. ``lenient``: columns in
    which a value that does not read as declared is missing; in others it is refused. Returns
    ``rows``: (n_rows, len(names)), read-only where it is the caller's own memory.
    """
    if not forms and (dense := block.dense(names)) is not None:
        return dense
    rows = np.empty((block.n_rows, len(names)))
    for place, name in enumerate(names):
        column, form = block.column(name), forms.get(name, "number")
        reading = NUMBERS[form]
        read = reading.read(column)
        if name not in lenient and (read.foreign.any() or not reading.takes(column.kind)):
            raise number_refusal(column, name, form)
        rows[:, place] = read.values.to_numpy(zero_copy_only=False)
    return rows
