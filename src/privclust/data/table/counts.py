"""The exact counts that a private table answers from; nothing here leaves ``privclust.data``.

All of them are sums over the rows. They are counted when first needed and kept until the view is
dropped at the end of a fit, so that a fit with many questions reads the rows once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privclust._typing import Codes, Integers
from privclust.data.engines.base import Stacked, Summed, current_engine
from privclust.data.engines.local import LocalEngine
from privclust.data.rows import RowReader
from privclust.data.table.codes import AttributeCodes, CategoryCoder
from privclust.data.table.kernels import (
    EntropyScale,
    PairTables,
    ValueCounts,
    subset_sums,
)
from privclust.data.table.public import PairLayout


class ExactCounts:
    """Exact tables of the rows of a source.

    Parameters
    ----------
    source : RowReader
    coder : CategoryCoder
    layout : PairLayout
        All pairs of attributes.
    """

    def __init__(self, source: RowReader, coder: CategoryCoder, layout: PairLayout) -> None:
        self._source, self._layout = source, layout
        self._encode = AttributeCodes(coder)
        self._rows = current_engine().open(source, self._encode)
        self._tables: Summed[Integers] | None = None
        self._codes: Codes | None = None
        self._sums: tuple[tuple[int, int], dict[tuple[int, ...], int]] | None = None

    def n_rows(self) -> int:
        """Return the number of rows, which is counted apart from the tables."""
        return self._counted().n_rows

    def table(self, chosen: tuple[int, ...]) -> Integers:
        """Return the table of no attribute, of one or of a pair, in the order given."""
        if not chosen:
            return np.array([self.n_rows()], np.int64)
        if len(chosen) == 1:
            if len(self._layout.sizes) == 1:
                return self._counted().total
            return np.asarray(self.table((chosen[0], 0 if chosen[0] else 1)).sum(axis=1))
        first, second = chosen
        return self._layout.table(self._counted().total, (first, second)).astype(np.int64)

    def conditional(self, scale: EntropyScale, target: int, given: int) -> int:
        """Return -N H(target | given) in units of the scale."""
        joint = scale(self.table((target, given))).sum()
        return int(joint - scale(self.table((given,))).sum())

    def context_scores(
        self, sets: Sequence[tuple[int, ...]], scale: EntropyScale, target: int
    ) -> list[int]:
        """Return -N H(target | set) of sets of other attributes, all of one size and rising."""
        sums = self._subset_sums(len(sets[0]), scale)
        return [sums[tuple(sorted((*chosen, target)))] - sums[chosen] for chosen in sets]

    def _subset_sums(self, size: int, scale: EntropyScale) -> dict[tuple[int, ...], int]:
        """Return the sums of F for all sets of ``size`` and ``size + 1`` attributes."""
        key = size, scale.n_rows
        if self._sums is None or self._sums[0] != key:
            sums = subset_sums(self._all_codes(), self._layout.sizes, size, scale)
            self._sums = key, sums
        return self._sums[1]

    def _counted(self) -> Summed[Integers]:
        """Return the tables of all pairs or, of a single attribute, its histogram."""
        if self._tables is None:
            single = len(self._layout.sizes) == 1
            of = ValueCounts(self._layout.sizes) if single else PairTables(self._layout)
            self._tables = self._rows.sum(of)
        return self._tables

    def _all_codes(self) -> Codes:
        """Return the codes of all rows: sets of many attributes have too many cells to keep.

        They are read on this machine whatever the engine, because rows do not travel.
        """
        if self._codes is None:
            gathered = LocalEngine(0).open(self._source, self._encode).sum(_codes).total
            self._codes = np.concatenate(gathered.parts)
        return self._codes


def _codes(codes: Codes) -> Stacked:
    return Stacked((codes,))
