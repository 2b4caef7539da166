"""``TableView``: categorical rows behind the door, and the closed list of questions about them.

Every question is paid for before a row is read, and leaves with noise. What one more row can change
in it is declared next to its kernel and proved in ``proofs/table.md``; what follows for
neighbours is in ``proofs/question.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from privclust._typing import Codes, Floats
from privclust.budget import Share
from privclust.data.door import Door, OpenedRows
from privclust.data.engines.base import CountedSum
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.data.rows import Block, MappedRows, RowSource
from privclust.data.table.as_points import EmbedRows
from privclust.data.table.asked import Contexts, Entropies, TableCounts, Tree
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.cut import CutCoder
from privclust.data.table.kernels import BIT, EntropyScale, ExactCounts
from privclust.data.table.public import NoisyTables, PairLayout, ValuePoints, check_cells
from privclust.data.view import View
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema.coordinates import refuse_weights
from privclust.unit.rows import RowUnit

Pair = tuple[int, int]
Context = tuple[int, ...]


class TableView(View):
    """Categorical rows that answer questions only through noise.

    ``source``: the rows, already bounded per person if the unit is a person. ``pairs``: the pairs
    of attributes that may be asked about; all of them if not given.
    """

    asks: ClassVar[dict[str, str]] = {
        "count": "how many rows there are",
        "histograms": "how many rows have each value of each column",
        "pair_tables": "how many rows have each pair of values of two columns",
        "entropies": "how evenly the rows spread over the values of columns and of pairs",
        "relevant_attributes": "which columns say the most about one column",
        "relevant_context": "which columns together say the most about one column",
        "spanning_tree": "which pairs of columns depend on each other most",
    }
    _unit: RowUnit

    def __init__(
        self,
        source: RowSource,
        coder: CategoryCoder | CutCoder,
        unit: RowUnit,
        meter: Meter,
        noise: NoiseSource,
        pairs: Sequence[Pair] | None = None,
    ) -> None:
        super().__init__(unit, meter, noise)
        self.names, self.sizes, self.labels = coder.names, coder.sizes, coder.labels
        self.n_listed = coder.n_listed
        every = PairLayout.all_pairs(coder.sizes)
        self.layout = every if pairs is None else PairLayout(coder.sizes, tuple(pairs))
        self._source, self._coder = source, coder
        self._exact = ExactCounts(source, coder, self.layout)

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self.sizes)

    @property
    def n_rows_is_public(self) -> bool:
        """Whether all neighbours have one known number of rows, so that :meth:`count` is free."""
        return self._public_count is not None

    @property
    def _public_count(self) -> int | None:
        return self._source.n_rows if self._unit.one_step.replaces else None

    def ask_count(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows.

        Notes
        -----
        *Why this is private.* A row changes the number by one. Under ``ReplaceRow`` a number that
        is declared, or that the data state before they are read, is the same for all neighbours,
        distinguishes none of them, and leaves as it is; readers refuse any other number of rows. A
        number that would have to be counted is asked with noise.
        """
        if self._public_count is not None:
            return Noisy(np.array([float(self._public_count)]), 0.0)
        return self._answer(name, TableCounts("count", [()]), share)

    def ask_histograms(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows with each value of each attribute, one after another.

        Notes
        -----
        *Why this is private.* A row is in one cell of each of the m histograms.
        """
        single = [(x,) for x in range(self.n_attributes)]
        return self._answer(name, TableCounts("histograms", single), share)

    def ask_pair_tables(self, name: str, pairs: Sequence[Pair], share: Share) -> NoisyTables:
        """Ask for the tables of some pairs of attributes, all with the same noise.

        Notes
        -----
        *Why this is private.* A row is in one cell of each table. Which pairs are asked about
        is public.
        """
        layout = PairLayout(self.sizes, tuple(sorted({(min(p), max(p)) for p in pairs})))
        asked = TableCounts("pair_tables", layout.pairs)
        noisy = self._answer(name, asked, share)
        largest = self._number_noise(asked.question, share).largest_among(layout.n_cells)
        return NoisyTables(layout, noisy.value, noisy.standard_error, largest)

    def ask_entropies(
        self, name: str, sets: Sequence[tuple[int, ...]], rows: float, share: Share
    ) -> Noisy:
        """Ask for N times the entropy, in bits, of single attributes and of pairs.

        ``rows``: about the number of rows; public. It sets the scale, see :class:`EntropyScale`.

        Notes
        -----
        *Why this is private.* What is noised is the sum of F over the cells of each table. One more
        row moves one cell of each table by one and so the sum by a step of F: a whole number from
        0 to ``steepest``. N log N is added afterwards from the public ``rows``.
        """
        scale = EntropyScale(int(rows))
        noisy = self._answer(name, Entropies(scale, sets), share)
        whole = int(scale(np.array([scale.n_rows]))[0])
        return Noisy(whole / BIT - noisy.value, noisy.standard_error)

    def ask_relevant_attributes(
        self, name: str, target: int, count: int, rows: float, share: Share
    ) -> tuple[int, ...]:
        """Ask for the ``count`` attributes that leave the least entropy in ``target``.

        Notes
        -----
        *Why this is private.* The score of an attribute X is -N H(target | X), the sum of F over
        the joint table minus that over the table of X. One more row changes it by the difference of
        two steps of F: the joint cell has no more rows than the cell of X, so the change lies
        between -``steepest`` and 0, for every X. ``count`` picks in turn compose.
        """
        others = [(x,) for x in range(self.n_attributes) if x != target]
        asked = Contexts(EntropyScale(int(rows)), target, others, count)
        (picks,) = self._ask(asked, (name, asked.pick, share))
        return tuple(others[int(pick)][0] for pick in picks[0])

    def ask_relevant_context(
        self, name: str, target: int, size: int, rows: float, share: Share, given: Context = ()
    ) -> Context:
        """Ask for the set of ``size`` attributes that together leave the least entropy in target.

        ``given``: public attributes that each set has; what else it has is asked.

        Notes
        -----
        *Why this is private.* As for :meth:`relevant_attributes`, with sets in place of single
        attributes: a row is in one cell of the table of every set.
        """
        others = [x for x in range(self.n_attributes) if x not in (target, *given)]
        more = combinations(others, size - len(given))
        sets = [tuple(sorted(given + m)) for m in more] if given else [*more]
        asked = Contexts(EntropyScale(int(rows)), target, sets)
        (picked,) = self._ask(asked, (name, asked.pick, share))
        return asked.sets[int(picked[0])]

    def ask_spanning_tree(
        self,
        name: str,
        expected: Mapping[Pair, Floats],
        share: Share,
        handicaps: Sequence[int] | None = None,
    ) -> list[Pair]:
        """Ask for a tree of those pairs whose tables are farthest from what is expected of them.

        Edge by edge, a pair is picked among those that close no cycle, until all attributes of
        ``expected`` are connected as far as its pairs allow. The score is the sum of absolute
        differences between the table and the public one, less a public handicap.

        Notes
        -----
        *Why this is private.* The expected tables, the handicaps and the pairs are public, and
        rounded to whole numbers. One more row changes one cell of each table by one, so every
        distance by at most one, up or down. The picks compose, each among candidates that the
        earlier picks determine.
        """
        asked = Tree(expected, handicaps or [0] * len(expected))
        (picked,) = self._ask(asked, (name, asked.pick, share))
        return [asked.pairs[int(pick)] for pick in picked]

    def as_points(self, embedding: ValuePoints, radius: float) -> PointsView:
        """Return the rows as points of a public embedding, with the meter and noise of this view.

        Notes
        -----
        *Why this is private.* The points of the values are public, so each row becomes a point by
        itself; everything else is :class:`PointsView`.
        """
        rows = MappedRows(self._source, EmbedRows(self._coder, embedding))
        domain = embedding.domain(radius)
        return PointsView(rows, domain, self._unit, self._meter, self._noise)

    # The noise that a share would buy, for planning; no row is read.
    def table_error(self, share: Share, n_tables: int) -> float:
        """Return the standard error of each cell when ``n_tables`` tables are asked together."""
        return self._noise_of(
            TableCounts("pair_tables", [()] * n_tables).question, share
        ).standard_error

    def _sum(self, kernel: Any) -> CountedSum[Any]:
        """Return a statistic of the counts, which are added up when first needed."""
        return CountedSum(kernel(self._exact), self._exact.n_rows())


class TableRows(Door):
    """Opened categorical rows; see :class:`Door`."""

    def __init__(self, opened: OpenedRows, *, noise: NoiseSource | None = None) -> None:
        super().__init__(opened, noise=noise)
        refuse_weights(self.schema)
        self.coder = CategoryCoder(self.schema)
        check_cells(self.coder)

    def _content(self, block: Block) -> Codes:
        return self.coder.codes(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> TableView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return TableView(
            self._rows_that_count(seed), self.coder, self.unit, meter, self._noise(seed)
        )
