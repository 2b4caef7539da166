"""``NumbersView``: columns of unknown range behind the door, and the two questions about them.

Every question is paid for before a row is read, and leaves with noise. What one more row can change
in it is declared next to its kernel and proved in ``proofs/bounds.md``; what follows for
neighbours is in ``proofs/question.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.door import Door, OpenedRows
from privclust.data.encode import writings_of
from privclust.data.engines.base import current_engine
from privclust.data.numbers.kernels import CellCounts, FiniteNumbers
from privclust.data.numbers.public import ColumnCounts
from privclust.data.points.kernels import RowCount
from privclust.data.public import Noisy
from privclust.data.rows import Block, RowSource
from privclust.data.view import NumberNoise, View
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit.rows import RowUnit


class NumbersView(View):
    """Columns of numbers that answer questions only through noise.

    ``source``: the rows, already bounded per person if the unit is a person. ``numbers``: how the
    numbers of a block are read.
    """

    asks: ClassVar[dict[str, str]] = {
        "count": "how many rows there are",
        "histograms": "how many rows have a number in each range of each column",
    }

    def __init__(
        self,
        source: RowSource,
        numbers: FiniteNumbers,
        unit: RowUnit,
        meter: Meter,
        noise: NoiseSource,
    ) -> None:
        super().__init__(unit, meter, noise)
        self.n_columns = source.n_columns
        self._rows = current_engine().open(source, numbers)

    def ask_count(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows.

        Notes
        -----
        *Why this is private.* A row changes the number by one.
        """
        return self._answer(name, RowCount(), share)

    def ask_histograms(self, name: str, edges: Mapping[int, Floats], share: Share) -> ColumnCounts:
        """Ask for the numbers of rows in public cells of some columns, all with the same noise.

        ``edges``: the rising edges of each column that is asked about. ``share``: what to pay for
        all columns together.

        Notes
        -----
        *Why this is private.* Edges and columns are public. A row is in one entry of each of the m
        tables, that of missing numbers included, however large its numbers are. Cells without rows
        are noised like any other.
        """
        noisy = self._answer(name, CellCounts(edges), share)
        ends = np.cumsum([len(cuts) + 2 for cuts in edges.values()])
        parts = dict(zip(edges, np.split(noisy.value, ends[:-1]), strict=True))
        return ColumnCounts(
            {column: part[:-1] for column, part in parts.items()},
            {column: float(part[-1]) for column, part in parts.items()},
            noisy.standard_error,
        )

    # The noise that a share would buy, for planning; no row is read.
    def table_error(self, share: Share, n_tables: int) -> float:
        """Return the standard error of each cell when ``n_tables`` columns are asked together."""
        return self.cell_noise(share, n_tables).standard_error()

    def cell_noise(self, share: Share, n_tables: int) -> NumberNoise:
        """Return the noise of each cell when ``n_tables`` columns are asked together."""
        asked = CellCounts(dict.fromkeys(range(n_tables), np.empty(0))).question
        return self._number_noise(asked, share)


class NumberRows(Door):
    """Opened columns of numbers, without bounds.

    ``total``: whether a value that is not of its form is treated as missing instead of refused.
    ``noise``: used instead of the system's noise; for tests.
    """

    def __init__(
        self, opened: OpenedRows, *, total: bool = False, noise: NoiseSource | None = None
    ) -> None:
        super().__init__(opened, noise=noise)
        names = self.schema.names
        lenient = names if total else ()
        self._numbers = FiniteNumbers(len(names), lenient, writings_of(self.schema))

    def _content(self, block: Block) -> Floats:
        return self._numbers.rows(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> NumbersView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        rows, noise = self._rows_that_count(seed), self._noise(seed)
        return NumbersView(rows, self._numbers, self.unit, meter, noise)
