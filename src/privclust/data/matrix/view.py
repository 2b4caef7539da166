"""The views of a matrix of counts, and the closed lists of questions that they answer.

Each row is normalised by itself to a public size, so that adding or removing one changes each
answer by a known amount; see ``proofs/matrix.md``.

Every question is paid for before the matrix is read, and leaves with noise. ``MatrixView`` protects
one count or one entry, ``ProfilesView``, which has a file of its own, one whole row. What one step
of an entry, or one more row, can change is declared next to the kernels and proved in
``proofs/matrix.md``; what follows for neighbours is in ``proofs/question.md``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from privclust._typing import Floats, Integers
from privclust.budget import Share
from privclust.data.door import noise_source
from privclust.data.engines.base import CountedSum, current_engine
from privclust.data.matrix import kernels
from privclust.data.matrix.kernels import LARGEST_ENTRY
from privclust.data.matrix.public import Groups
from privclust.data.matrix.rows import MatrixSource, source_from
from privclust.data.public import Noisy
from privclust.data.view import View
from privclust.exceptions import DataError
from privclust.privacy.mechanisms import amount_of_share
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit.matrix import MatrixRow, MatrixUnit

# The view of a matrix of counts of which whole rows are protected, and its questions.


class ProfilesView(View):
    """A matrix of counts of which whole rows are protected; the number of rows is private.

    ``meter``: what is debited, in the currency of zCDP.
    """

    asks: ClassVar[dict[str, str]] = {
        "profile_sums": "what the rows most similar to each prototype look like together",
        "block_shares": "how the rows of each prototype spread over groups of columns",
    }

    def __init__(self, counts: Any, meter: Meter, noise: NoiseSource) -> None:
        super().__init__(MatrixRow(), meter, noise)
        self._source = source_from(counts)
        self._rows = current_engine().open(self._source, self._source.encoder)

    @property
    def n_columns(self) -> int:
        """Number of columns, which is public."""
        return self._source.shape[1]

    def ask_profile_sums(self, name: str, prototypes: Floats, share: Share) -> Noisy:
        """Ask for the sum of the profiles of the rows that are most similar to each prototype.

        The profile of a row is the vector of the square roots of its entries, brought to length
        one. A row belongs to the prototype with which its profile has the largest inner product.

        ``prototypes``: (n_prototypes, n_columns). Returns (n_prototypes, n_columns).

        Notes
        -----
        *Why this is private.* The profile and the prototype of a row depend on that row alone. So
        an added row adds one vector of length at most one to one line of the table and leaves all
        other lines as they are.
        """
        return self._sums(name, kernels.ProfileSums(prototypes), share)

    def ask_block_shares(
        self, name: str, prototypes: Floats, column_groups: Groups, share: Share
    ) -> Noisy:
        """Ask how the rows of each prototype spread over public groups of columns.

        Every row counts as one in total, divided among the groups as its entries are. It belongs to
        the prototype that :meth:`profile_sums` would assign it to.

        ``prototypes``: (n_prototypes, n_columns). Returns (n_prototypes, column_groups.count).

        Notes
        -----
        *Why this is private.* Shares and prototype of a row depend on that row alone. So an added
        row adds to one line of the table numbers of at least zero that add up to at most one, a
        vector whose length is at most one, and leaves all other lines as they are.
        """
        statistic = kernels.BlockShares(prototypes, column_groups.labels, column_groups.count)
        return self._sums(name, statistic, share)

    def _sums(
        self, name: str, statistic: kernels.ProfileSums | kernels.BlockShares, share: Share
    ) -> Noisy:
        amount_of_share(
            share, "zcdp"
        )  # pure ε would need noise of another kind, which is not offered
        return self._answer(name, statistic, share)


# Weights of choices are rounded to this many steps of their largest range, fewer if the matrix is
# so long that scores could leave int64.
_WEIGHT_STEPS = 2**20


class MatrixView(View):
    """A matrix of counts that answers questions only through noise; its shape is public.

    ``counts``: the entries, at most ``unit.levels`` each if the unit is one entry.

    Notes
    -----
    *Why this is private.* Neighbours differ in one entry, by at most ``levels`` steps: 1 for a
    count, the cap for an entry. The entry belongs to one row, one column, one group of rows and one
    group of columns. So a step of it moves one cell of any table of sums over public groups by one,
    and the scores of one row, or of one column, only.
    """

    asks: ClassVar[dict[str, str]] = {
        "total": "what all entries add up to",
        "row_table": "what each row adds up to within groups of columns",
        "column_table": "what each column adds up to within groups of rows",
        "block_table": "what each block of rows and columns adds up to",
        "row_choices": "which group suits each row best",
        "column_choices": "which group suits each column best",
    }

    def __init__(self, counts: Any, unit: MatrixUnit, meter: Meter, noise: NoiseSource) -> None:
        super().__init__(unit, meter, noise)
        self._source = source_from(counts)
        self._rows = current_engine().open(self._source, self._source.encoder)
        self._capped = unit.cap is not None
        self._step = float(unit.step)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self._source.shape

    @property
    def capped(self) -> bool:
        """Whether entries are clipped to a public cap."""
        return self._capped

    def ask_total(self, name: str, share: Share) -> Noisy:
        """Ask for the sum of all entries.

        Notes
        -----
        *Why this is private.* It is a table with a single cell; see the class.
        """
        everything = Groups(np.zeros(self.shape[0]), 1), Groups(np.zeros(self.shape[1]), 1)
        return self._table("total", name, _blocks(*everything), share)

    def ask_row_table(self, name: str, column_groups: Groups, share: Share) -> Noisy:
        """Ask for the sums of each row over public groups of columns: A C, noised.

        Returns (n_rows, column_groups.count).

        Notes
        -----
        *Why this is private.* An entry is in the cell of its row and of its column's group; see
        the class.
        """
        statistic = kernels.RowSums(column_groups.labels, column_groups.count)
        return self._table("row_table", name, statistic, share)

    def ask_column_table(self, name: str, row_groups: Groups, share: Share) -> Noisy:
        """Ask for the sums of each column over public groups of rows: Rᵀ A, noised.

        Returns (row_groups.count, n_columns).

        Notes
        -----
        *Why this is private.* An entry is in the cell of its column and of its row's group; see
        the class.
        """
        statistic = kernels.ColumnSums(row_groups.labels, row_groups.count)
        return self._table("column_table", name, statistic, share)

    def ask_block_table(
        self, name: str, row_groups: Groups, column_groups: Groups, share: Share
    ) -> Noisy:
        """Ask for the sums over blocks of public groups of rows and of columns: Rᵀ A C, noised.

        Returns (row_groups.count, column_groups.count).

        Notes
        -----
        *Why this is private.* An entry is in one block; see the class.
        """
        return self._table("block_table", name, _blocks(row_groups, column_groups), share)

    def ask_row_choices(self, name: str, weights: Floats, share: Share) -> Groups:
        """Choose a group for each row, likely one with the highest weighted sum of entries.

        ``weights``: (n_columns, n_groups), public. Row i scores Σ_j a_ij weights_jk for group k.

        Notes
        -----
        *Why this is private.* Adding the same number to all weights of a column changes no choice,
        so the least is made zero. A step of the entry a_ij then adds ``weights_jk``, from 0 to the
        largest weight, to the scores of row i alone; all other rows choose as before.
        """
        whole = _whole_weights(weights)
        return self._choose("row_choices", name, kernels.RowScores(whole), whole, share)

    def ask_column_choices(self, name: str, weights: Floats, share: Share) -> Groups:
        """Choose a group for each column; ``weights`` has the shape (n_rows, n_groups).

        Notes
        -----
        *Why this is private.* As for :meth:`row_choices`, with the matrix transposed.
        """
        whole = _whole_weights(weights)
        return self._choose("column_choices", name, kernels.ColumnScores(whole), whole, share)

    def table_error(self, share: Share) -> float:
        """Return the standard error that a share would buy for each cell of a table."""
        return self._noise_of(kernels.table_of("block_table", self._step), share).standard_error

    def _table(self, of: str, name: str, kernel: Any, share: Share) -> Noisy:
        return self._answer(name, kernel, share, kernels.table_of(of, self._step))

    def _choose(self, of: str, name: str, kernel: Any, weights: Integers, share: Share) -> Groups:
        (picked,) = self._ask(kernel, (name, kernels.choice_of(of, weights), share))
        return Groups(picked, weights.shape[1])

    def _sum(self, kernel: Any) -> CountedSum[Any]:
        """Add up a kernel whose terms are the steps of all entries, not the rows."""
        return CountedSum(super()._sum(kernel).total, self._n_steps())

    def _n_steps(self) -> int:
        """Return the sum of all entries in steps, each of which is a term of one cell."""
        steps = self._steps
        if steps.entries * steps.largest >= 2**63:
            raise DataError(
                "The entries of the matrix are too large to add up; count in larger pieces."
            )
        return steps.total

    @cached_property
    def _steps(self) -> kernels.Steps:
        return self._rows.sum(kernels.StepsOf()).total


def _blocks(row_groups: Groups, column_groups: Groups) -> kernels.BlockSums:
    shape = row_groups.count, column_groups.count
    return kernels.BlockSums(row_groups.labels, column_groups.labels, shape)


def _whole_weights(weights: Floats) -> Integers:
    """Return weights as integers of at least zero, up to a shift common to all groups.

    Σ_j a_ij weights_jk stays below 2^62 for entries up to ``LARGEST_ENTRY``.
    """
    shifted = weights - weights.min(axis=1, keepdims=True)
    largest = float(shifted.max(initial=0))
    steps = min(_WEIGHT_STEPS, 2**62 // (LARGEST_ENTRY * max(1, len(weights))))
    # Shares of the largest, not a factor: for a number near zero it would be infinite.
    shares = shifted / largest if largest > 0 else shifted
    whole: Integers = np.minimum(np.rint(shares * steps), steps).astype(np.int64)
    return whole


Shape = tuple[int, int]


class OpenedCounts(Protocol):
    """What the door takes: counts that are not read until a question is asked, and the unit."""

    @property
    def source(self) -> MatrixSource: ...

    @property
    def known_shape(self) -> Shape | None: ...

    @property
    def unit(self) -> MatrixUnit: ...


class CountMatrix:
    """An opened matrix of non-negative counts behind a door.

    ``noise``: used instead of the system's noise; for tests. ``known_shape``: the shape, as far as
    it is known before an entry is read.
    """

    def __init__(self, opened: OpenedCounts, *, noise: NoiseSource | None = None) -> None:
        self.unit, self.known_shape = opened.unit, opened.known_shape
        self._opened, self._given_noise = opened, noise

    def private(
        self, meter: Meter, seed: np.random.SeedSequence | None
    ) -> MatrixView | ProfilesView:
        """Return the matrix behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        noise = noise_source(seed, self._given_noise)
        if self.unit.whole_rows:
            return ProfilesView(self._opened.source, meter, noise)
        return MatrixView(self._opened.source, self.unit, meter, noise)
