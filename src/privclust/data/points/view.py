"""``PointsView``: rows as points behind the door, and the closed list of questions about them.

Every question is paid for before a row is read, and leaves with noise. What one more row can change
in it is declared next to its kernel and proved in ``proofs/points.md``; what follows for
neighbours is in ``proofs/question.md``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from privclust._typing import Floats, Indices
from privclust.budget import Share
from privclust.data.engines.base import current_engine
from privclust.data.points.components import ComponentSums
from privclust.data.points.kernels import (
    PAIR_WEIGHT,
    ClusterHistograms,
    ClusterSums,
    GroupSums,
    Moments,
    RowCount,
)
from privclust.data.points.mixed import PIECE, GridRows, Region
from privclust.data.points.public import ClusterAnswer, Components, Projection
from privclust.data.public import Noisy
from privclust.data.question import Question
from privclust.data.rows import RowSource
from privclust.data.view import View
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit.rows import RowUnit


class PointsView(View):
    """Rows, of numbers or mixed, that answer questions only through noise.

    ``source``: the rows, already bounded per person if the unit is a person. ``piece``: how rows
    are cut, see :class:`GridRows`; no answer depends on it.
    """

    asks: ClassVar[dict[str, str]] = {
        "count": "how many rows there are",
        "counts": "how many rows are nearest to each centre",
        "offsets": "which way and how far the rows of each centre lie from it",
        "square": "how widely the rows spread around their centres",
        "second_moments": "in which directions the rows spread most",
        "cluster_histograms": "how the rows of each cluster spread over the values of columns",
        "components": "how many rows belong to each component, where they lie, how they spread",
        "shape": "how rows spread around the components that they belong to",
    }

    def __init__(
        self,
        source: RowSource,
        domain: Region,
        unit: RowUnit,
        meter: Meter,
        noise: NoiseSource,
        *,
        piece: int = PIECE,
    ) -> None:
        super().__init__(unit, meter, noise)
        self.domain = domain
        self._rows = current_engine().open(source, GridRows(domain, piece))

    def ask_count(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows.

        Notes
        -----
        *Why this is private.* A row changes the number by one.
        """
        return self._answer(name, RowCount(), share)

    def ask_clusters(
        self,
        name: str,
        frame: Projection,
        centres: Floats,
        clip: float,
        *,
        counts: Share | None = None,
        offsets: Share | None = None,
        square: Share | None = None,
    ) -> ClusterAnswer:
        """Ask about the rows nearest to each of the public ``centres``, in one pass.

        ``centres``: (n_centres, frame.dimension). ``clip``: offsets of rows from their nearest
        centre are clipped to this length. ``counts``, ``offsets``, ``square``: what to pay for each
        part of the answer; a part not paid for is not asked.

        Notes
        -----
        *Why this is private.* A row belongs to one centre, so it changes one count by one; one sum
        of offsets by a vector of length at most ``clip``; and the sum of squares by at most
        ``clip``². Centres without rows are noised like any other.
        """
        statistic = ClusterSums(frame, centres, clip, offsets is not None, square is not None)
        shares = {"counts": counts, "offsets": offsets, "square": square}
        return ClusterAnswer(**self._parts(name, statistic, shares))

    def ask_grouped_clusters(
        self,
        name: str,
        frame: Projection,
        centres: Floats,
        groups: Indices,
        clip: float,
        *,
        counts: Share | None = None,
        offsets: Share | None = None,
        square: Share | None = None,
    ) -> ClusterAnswer:
        """Ask as :meth:`clusters` does, but add up over public groups of centres before noise.

        Offsets are from the row's nearest centre, so a group moves as one, by their average.

        ``groups``: (n_centres,), the group of each centre; groups 0 to max(groups) are answered.

        Notes
        -----
        *Why this is private.* A row belongs to one centre and the centre to one group, so it
        changes one count by one; one sum of offsets by a vector of length at most ``clip``; and the
        sum of squares by at most ``clip``². Groups without rows are noised like any other.
        """
        if len(groups) != len(centres) or groups.min() < 0:
            raise ValueError("Every centre needs one group, numbered from 0.")
        wanted = offsets is not None, square is not None
        n_groups = int(groups.max()) + 1
        statistic = GroupSums(frame, centres, clip, *wanted, groups=groups, n_groups=n_groups)
        shares = {"counts": counts, "offsets": offsets, "square": square}
        return ClusterAnswer(**self._parts(name, statistic, shares))

    def ask_second_moments(self, name: str, frame: Projection, share: Share) -> Noisy:
        """Ask for the sum of the outer products of the rows, as seen in ``frame``.

        Notes
        -----
        *Why this is private.* A row x of length at most r adds 5 x_i² for each diagonal entry and
        7 x_i x_j for each pair i < j: a vector whose squared length is
        25 Σ x_i⁴ + 49 Σ_{i<j} x_i² x_j² ≤ 25 (Σ x_i²)², so its length is at most 5 r². The factors
        give the pairs, which occur twice in the matrix, their share of the precision.
        """
        statistic = Moments(frame)
        noisy = self._answer(name, statistic, share)
        matrix = np.zeros((frame.dimension, frame.dimension))
        matrix[statistic.upper] = noisy.value[0] / statistic.weights
        return Noisy(matrix + np.triu(matrix, 1).T, noisy.standard_error / PAIR_WEIGHT)

    def ask_cluster_histograms(
        self, name: str, centres: Floats, coordinates: Indices, edges: Floats, share: Share
    ) -> Noisy:
        """Ask how the rows nearest to each public centre spread over cells of some coordinates.

        The counts have the shape (n_centres, n_coordinates, n_cells); see
        :class:`ClusterHistograms` for the cells.

        Notes
        -----
        *Why this is private.* A row belongs to one centre, and there to one cell of each of the C
        coordinates: it is in one entry of each of C tables, as in
        :meth:`NumbersView.ask_histograms`. Clusters and cells without rows are noised like any
        other.
        """
        return self._answer(name, ClusterHistograms(centres, coordinates, edges), share)

    def ask_components(
        self, name: str, of: Components, share: Share, shape: Share | None = None
    ) -> dict[str, Noisy]:
        """Ask what the rows are to each of the public components of a mixture.

        ``share``: what to pay for the lines of the components; ``shape``: for the shape that tied
        components share, in one line.

        Notes
        -----
        *Why this is private.* A row adds to each line a vector of at most the declared length times
        its responsibility, and its responsibilities add up to at most one; so the lengths of what
        it adds to all lines add up to at most that length. See ``proofs/mixture.md``.
        """
        return self._parts(name, ComponentSums(of), {"components": share, "shape": shape})

    # The noise that a share would buy, for planning; no row is read.
    def count_error(self, share: Share) -> float:
        """Return the standard error of a count."""
        return self._noise_of(RowCount.question, share).standard_error

    def offset_error(self, share: Share, clip: float, dimension: int) -> float:
        """Return the standard error of each coordinate of a sum of clipped offsets."""
        return self._noise_of(_around_one(clip, dimension)["offsets"], share).standard_error

    def square_error(self, share: Share, clip: float) -> float:
        """Return the standard error of a sum of squared distances of at most ``clip``."""
        return self._noise_of(_around_one(clip)["square"], share).standard_error

    def moment_error(self, share: Share, radius: float, dimension: int) -> float:
        """Return the standard error of the off-diagonal entries of second moments."""
        asked = Moments(Projection(np.zeros(dimension), radius=radius)).question
        return self._noise_of(asked, share).standard_error / PAIR_WEIGHT


def _around_one(clip: float, dimension: int = 1) -> dict[str, Question]:
    """Return what is asked about one public centre."""
    return ClusterSums(Projection(np.zeros(dimension)), np.zeros((1, dimension)), clip).questions
