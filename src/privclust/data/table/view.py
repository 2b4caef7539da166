"""``TableView``: categorical rows behind the door, and the closed list of questions about them.

Every question takes its share of the budget, debits the meter, and only then reads the rows; what
comes back is noisy. The questions and their sensitivities are proved in ``proofs/table.md``.

Neighbours are those of the privacy unit. One step between neighbours adds or removes in total at
most ``unit.rows_changed`` rows. A row has one value of every attribute, so it stands in exactly
one cell of every table.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from privclust.budget import Share
from privclust.data.encode import Floats
from privclust.data.reading import RowReader
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.counts import ExactCounts
from privclust.data.table.kernels import (
    BIT,
    EntropyScale,
    Integers,
    PairLayout,
)
from privclust.data.table.public import NoisyTables, check_subsets, reach
from privclust.data.view import Noisy, Question, RowView
from privclust.privacy.mechanisms import (
    Exponential,
    NoisyTopK,
    additive_noise,
)
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import ReplaceRow, Unit

__all__ = ["NoisyTables", "PairLayout", "TableView", "check_subsets"]

# What the samplers take.
_LARGEST_SCORE = 2**52

Pair = tuple[int, int]


class TableView(RowView):
    """Categorical rows that answer questions only through noise.

    Parameters
    ----------
    source : RowReader
        The rows, already bounded per person if the unit is a person.
    coder : CategoryCoder
        The declared categories.
    unit : Unit
        The privacy unit.
    meter : Meter
        What is debited.
    noise : NoiseSource
        Where the noise comes from.
    """

    def __init__(
        self,
        source: RowReader,
        coder: CategoryCoder,
        unit: Unit,
        meter: Meter,
        noise: NoiseSource,
    ) -> None:
        super().__init__(unit, meter, noise)
        self.names, self.sizes, self.labels = coder.names, coder.sizes, coder.labels
        self.layout = PairLayout.all_pairs(coder.sizes)
        self._exact = ExactCounts(source, coder, self.layout)

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self.sizes)

    @property
    def n_rows_is_public(self) -> bool:
        """Whether all neighbours have equally many rows, so that :meth:`count` costs nothing."""
        return isinstance(self._unit, ReplaceRow)

    def count(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows.

        Notes
        -----
        *Why this is private.* A row changes the number by one. Where neighbours have equally many
        rows (``ReplaceRow``) the number is the same for all of them, tells nothing apart, and
        leaves as it is, without cost.
        """
        if self.n_rows_is_public:
            return Noisy(np.array([float(self._exact.n_rows())]), 0.0)
        asked = Question(name, self._counting_noise(share))
        self._debit(asked)
        return self._noised(asked, np.array([self._exact.n_rows()], np.int64))

    def histograms(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows with each value of each attribute, one after another.

        Notes
        -----
        *Why this is private.* A row stands in one cell of each of the m histograms. Adding it
        changes m counts by one: L1 m, squared L2 m. Replacing it changes at most two counts of
        each histogram by one: L1 2m, squared L2 2m. All c rows of a person may share their
        values: L1 cm, squared L2 c²m.
        """
        asked = Question(name, self._counting_noise(share, self.n_attributes))
        self._debit(asked)
        return self._noised(asked, self._exact.histograms())

    def pair_tables(self, name: str, pairs: Sequence[Pair], share: Share) -> NoisyTables:
        """Ask for the tables of some pairs of attributes, all with the same noise.

        Notes
        -----
        *Why this is private.* A row stands in one cell of each table: as for the histograms, with
        the number of tables in the place of m. Which pairs are asked is public.
        """
        layout = PairLayout(self.sizes, tuple(sorted({(min(p), max(p)) for p in pairs})))
        noise = self._counting_noise(share, len(layout.pairs))
        asked = Question(name, noise)
        self._debit(asked)
        tables = [self._exact.table(pair).ravel() for pair in layout.pairs]
        noisy = self._noised(asked, np.concatenate(tables))
        return NoisyTables(layout, noisy.value, noisy.standard_error, reach(noise, layout.n_cells))

    def entropies(
        self, name: str, sets: Sequence[tuple[int, ...]], rows: float, share: Share
    ) -> Noisy:
        """Ask for N times the entropy, in bits, of single attributes and of pairs.

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        sets : sequence of tuple of int
            Of one or two attributes each.
        rows : float
            About the number of rows; public. It sets the scale, see :class:`EntropyScale`.
        share : Share
            What to pay.

        Notes
        -----
        *Why this is private.* What is noised is the sum of F over the cells of each table. Adding
        a row moves one cell of each table by one and so the sum by a step of F: a whole number
        from 0 to ``steepest``. Replacing a row is the difference of two such steps, at most
        ``steepest`` again; c rows of a person move it by at most c steps. N log N is added
        afterwards from the public ``rows``.
        """
        scale = EntropyScale(int(rows))
        steps = 1 if isinstance(self._unit, ReplaceRow) else self._unit.rows_changed
        step = Fraction(steps * scale.steepest)
        noise = additive_noise(
            share, l1_sensitivity=len(sets) * step, squared_l2_sensitivity=len(sets) * step**2
        )
        asked = Question(name, noise, 1 / BIT)
        self._debit(asked)
        exact = [int(scale(self._exact.table(chosen)).sum()) for chosen in sets]
        noisy = self._noised(asked, np.array(exact, np.int64))
        whole = int(scale(np.array([scale.n_rows]))[0])
        return Noisy(whole / BIT - noisy.value, noisy.standard_error)

    def relevant_attributes(
        self, name: str, target: int, count: int, rows: float, share: Share
    ) -> tuple[int, ...]:
        """Ask for the ``count`` attributes that leave the least entropy in ``target``.

        Notes
        -----
        *Why this is private.* The score of an attribute X is -N H(target | X), the sum of F over
        the joint table minus that over the table of X. Adding a row changes it by the difference
        of two steps of F: the joint cell holds no more rows than the cell of X, so the change lies
        between -``steepest`` and 0, for every X. So the changes of two scores differ by at most
        ``steepest`` for each row added or removed, which is the range that the exponential
        mechanism needs; ``count`` picks in turn compose.
        """
        scale = EntropyScale(int(rows))
        others = [x for x in range(self.n_attributes) if x != target]
        mechanism = NoisyTopK.within(share, self._score_range(scale), count)
        self._meter.charge(name, mechanism.loss, _selection_words(mechanism, len(others)))
        scores = [self._exact.conditional(scale, target, x) for x in others]
        picks = mechanism.draw(_one_row(scores), self._noise)[0]
        return tuple(others[int(pick)] for pick in picks)

    def relevant_context(
        self, name: str, target: int, size: int, rows: float, share: Share
    ) -> tuple[int, ...]:
        """Ask for the set of ``size`` attributes that together leave the least entropy in target.

        Notes
        -----
        *Why this is private.* As for :meth:`relevant_attributes`, with sets in the place of single
        attributes: a row stands in one cell of the table of every set.
        """
        scale = EntropyScale(int(rows))
        others = [x for x in range(self.n_attributes) if x != target]
        mechanism = Exponential.within(share, self._score_range(scale))
        self._meter.charge(name, mechanism.loss, _selection_words(mechanism, len(others)))
        contexts, scores = self._exact.context_scores(size, scale, target)
        pick = mechanism.draw(_one_row(scores), self._noise)[0]
        return contexts[int(pick)]

    def spanning_tree(self, name: str, margins: Sequence[Floats], share: Share) -> list[Pair]:
        """Ask for a tree of strongly dependent pairs that joins all attributes.

        Edge after edge, the pair farthest from independence is picked among those that close no
        circle. The distance is the sum of absolute differences between the table and what the
        public ``margins``, one array of counts per attribute, would make of it.

        Notes
        -----
        *Why this is private.* What would be expected is public and rounded to whole numbers. A
        row changes one cell of each table by one, so every distance by at most one, up or down;
        the changes of two distances differ by at most two for each row added or removed, which is
        the range that the exponential mechanism needs. The picks compose, each among candidates
        that the earlier picks determine.
        """
        n_edges = self.n_attributes - 1
        mechanism = Exponential.within(
            share.split([1] * n_edges)[0], Fraction(2 * self._unit.rows_changed)
        )
        words = f"Exponential, {n_edges} picks in turn"
        self._meter.charge(name, mechanism.loss.times(n_edges), words)
        distances = {
            (i, j): self._exact.distance(i, j, np.outer(margins[i], margins[j]))
            for i, j in self.layout.pairs
        }
        group = list(range(self.n_attributes))
        edges: list[Pair] = []
        for _ in range(n_edges):
            candidates = [(i, j) for i, j in self.layout.pairs if group[i] != group[j]]
            scores = _one_row([distances[pair] for pair in candidates])
            edges.append(candidates[int(mechanism.draw(scores, self._noise)[0])])
            i, j = (group[end] for end in edges[-1])
            group = [i if label == j else label for label in group]
        return edges

    # The noise that a share would buy, for planning; no row is read.
    def table_error(self, share: Share, n_tables: int) -> float:
        """Return the standard error of each cell when so many tables are asked together."""
        return self._counting_noise(share, n_tables).standard_error()

    def _score_range(self, scale: EntropyScale) -> Fraction:
        return Fraction(self._unit.rows_changed * scale.steepest)


def _one_row(scores: list[int]) -> Integers:
    """Return scores as the samplers take them.

    Beyond 2^52, some 10^9 rows, scores are cut off, for an error there would tell of the rows. No
    score changes by more after the cut than before, and none in the other direction.
    """
    return np.clip(np.array([scores], np.int64), -_LARGEST_SCORE, _LARGEST_SCORE)


def _selection_words(mechanism: NoisyTopK | Exponential, n_candidates: int) -> str:
    return f"{mechanism.words} among {n_candidates} candidates"
