"""The door for columns of unknown range: forms of columns in, noisy counts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.data.door import Door
from privclust.data.numbers.kernels import FiniteNumbers
from privclust.data.numbers.public import ColumnForm, without_bounds
from privclust.data.numbers.view import NumbersView
from privclust.data.reading import Block
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema import Csv
from privclust.unit import Unit

__all__ = ["NumberRows"]


class NumberRows(Door):
    """Columns of numbers of a caller, opened without bounds.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads
    forms : mapping of str to form, or None
        The columns and how they are written; ``None`` for all columns, as numbers.
    unit : Unit or None
        The privacy unit.
    ignore : sequence of str
        Columns of the data that are not read.
    csv : Csv or None
        How CSV files are written; with ``forms`` only.
    total : bool
        Whether a value that is not of its form is treated as missing instead of refused.
    noise : NoiseSource or None
        Used instead of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        forms: Mapping[str, ColumnForm] | None = None,
        *,
        unit: Unit | None = None,
        ignore: Sequence[str] = (),
        csv: Csv | None = None,
        total: bool = False,
        noise: NoiseSource | None = None,
    ) -> None:
        rules: dict[str, Any] = {"csv": csv, "total": total}
        super().__init__(
            data,
            None if forms is None else without_bounds(forms, ignore=ignore, **rules),
            short_form=lambda rows: without_bounds(
                dict.fromkeys(rows.selection.names, "number"), ignore=(), **rules
            ),
            unit=unit,
            ignore=ignore,
            noise=noise,
        )
        usual: dict[str, ColumnForm] = dict.fromkeys(self.schema.names, "number")
        self.forms = usual if forms is None else dict(forms)
        self._numbers = FiniteNumbers(self.n_columns, self.schema.names if total else ())

    def _content(self, block: Block) -> Floats:
        return self._numbers.rows(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> NumbersView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        rows, noise = self._counted(seed), self._noise(seed)
        return NumbersView(rows, self._numbers, self.unit, meter, noise)
