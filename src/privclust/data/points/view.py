"""``PointsView``: numeric rows behind the door, and the closed list of questions about them.

Every question takes its share of the budget, debits the meter, and only then reads the rows; what
comes back is noisy. The questions and their sensitivities are proved in ``proofs/points.md``.

Neighbours are those of the privacy unit. One step between neighbours adds or removes in total at
most ``unit.rows_changed`` rows, and each row enters every statistic here through a term of its own,
so a sensitivity is that number times the largest size of one term.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privclust.budget import Share
from privclust.data.encode import Domain, Floats, clip_to_ball
from privclust.data.points.kept import GridRows
from privclust.data.points.kernels import (
    SQUARE_LEVELS,
    BlockSums,
    Integers,
    Projection,
    ProjectionGrid,
    block_sums,
    outer_products,
)
from privclust.data.points.zones import Zones, zone_counts
from privclust.data.reading import RowReader
from privclust.data.view import Noisy, Question, RowView
from privclust.privacy.mechanisms import additive_noise, selection, vector_noise
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import ReplaceRow, Unit

__all__ = ["ClusterAnswer", "Floats", "PointsView", "Projection", "Zones"]

# Second moments are taken on a grid of this many steps to the radius of the frame. It is coarse
# beside the noise, and keeps the noise of thousands of entries cheap to draw.
_MOMENT_STEPS = 2**7


NOT_ASKED = Noisy(np.empty(0), np.inf)


@dataclass(frozen=True)
class ClusterAnswer:
    """What :meth:`PointsView.clusters` releases about the rows nearest to each centre.

    Attributes
    ----------
    counts : Noisy, value of shape (n_centres,)
        Numbers of rows.
    offsets : Noisy, value of shape (n_centres, n_coordinates)
        Sums of clipped offsets from the centre.
    square : Noisy, value of shape (1,)
        The sum over all rows of the squared clipped distance.
    """

    counts: Noisy = NOT_ASKED
    offsets: Noisy = NOT_ASKED
    square: Noisy = NOT_ASKED


class PointsView(RowView):
    """Numeric rows that answer questions only through noise.

    Parameters
    ----------
    source : RowReader
        The rows, already bounded per person if the unit is a person.
    domain : Domain
        The declared region.
    unit : Unit
        The privacy unit.
    meter : Meter
        What is debited.
    noise : NoiseSource
        Where the noise comes from.
    """

    def __init__(
        self, source: RowReader, domain: Domain, unit: Unit, meter: Meter, noise: NoiseSource
    ) -> None:
        super().__init__(unit, meter, noise)
        self.domain = domain
        self._rows = GridRows(source, domain)

    def count(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows.

        Notes
        -----
        *Why this is private.* A row changes the number by one.
        """
        asked = self._counts(name, share)
        self._debit(asked)
        return self._noised(asked, self._rows.sum(_row_count))

    def clusters(
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

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        frame : Projection
            How the rows are seen.
        centres : ndarray of shape (n_centres, frame.dimension)
            Points of the frame.
        clip : float
            Offsets of rows from their nearest centre are shortened to this length.
        counts, offsets, square : Share or None
            What to pay for each part of the answer; a part not paid for is not asked.

        Notes
        -----
        *Why this is private.* A row belongs to one centre, so it changes one count by one; one sum
        of offsets by a vector of length at most ``clip``; and the sum of squares by at most
        ``clip``². Centres without rows are noised like any other.
        """
        grid = ProjectionGrid(frame)
        targets, length = grid.centres(centres), grid.length(clip)
        asked: dict[str, Question] = {}
        if counts:
            asked["counts"] = self._counts(f"{name}: counts", counts)
        if offsets:
            dimension = frame.dimension
            asked["offsets"] = self._offsets(f"{name}: offsets", offsets, grid, length, dimension)
        if square:
            asked["square"] = self._square(f"{name}: square", square, grid, length)
        self._debit(*asked.values())

        def statistic(rows: Floats) -> BlockSums:
            wanted = {"offsets": offsets is not None, "square": square is not None}
            return block_sums(grid.rows(rows), targets, length, grid.dtype, **wanted)

        exact = self._rows.sum(statistic)
        answers = {
            part: self._noised(statistic, getattr(exact, part)) for part, statistic in asked.items()
        }
        return ClusterAnswer(**answers)

    def second_moments(self, name: str, frame: Projection, share: Share) -> Noisy:
        """Ask for the sum of the outer products of the rows, as seen in ``frame``.

        Notes
        -----
        *Why this is private.* A row x of length at most r adds 5 x_i² for each diagonal entry and
        7 x_i x_j for each pair i < j: a vector whose squared length is
        25 Σ x_i⁴ + 49 Σ_{i<j} x_i² x_j² ≤ 25 (Σ x_i²)², so its length is at most 5 r². The factors
        give the pairs, which stand twice in the matrix, their due of the precision.
        """
        grid = ProjectionGrid(frame)
        upper = np.triu_indices(frame.dimension)
        weights = np.where(upper[0] == upper[1], 5, 7)
        noise = vector_noise(share, length_sensitivity=self._changed(5 * _MOMENT_STEPS**2))
        unit = (frame.radius / _MOMENT_STEPS) ** 2
        asked = Question(name, noise, unit, len(weights))
        self._debit(asked)

        def statistic(rows: Floats) -> Integers:
            moments = np.rint(grid.rows(rows) * (_MOMENT_STEPS / grid.steps))
            return outer_products(clip_to_ball(moments, _MOMENT_STEPS))

        exact = self._rows.sum(statistic)[upper] * weights
        noisy = self._noised(asked, exact[None, :])
        matrix = np.zeros((frame.dimension, frame.dimension))
        matrix[upper] = noisy.value[0] / weights
        return Noisy(matrix + np.triu(matrix, 1).T, noisy.standard_error / 7)

    def choices(self, name: str, zones: Zones, share: Share) -> Integers:
        """Pick a candidate for each cluster, the likelier the more rows of the cluster favour it.

        The score of a candidate is the number of rows of the cluster that lie in its zone and are
        nearest to this candidate. Returned is the index of the candidate of each cluster.

        Notes
        -----
        *Why this is private.* A row enters one score of one cluster. So no two scores of a cluster
        change by amounts further apart than the number of its rows that are added or removed;
        these numbers add up to at most ``unit.rows_changed``, and so do the costs of the clusters'
        picks to one share. Clusters without rows pick like any other. See ``proofs/zones.md``.
        """
        mechanism = selection(share, score_range=self._changed(1))
        words = f"{mechanism.words}, scale {float(mechanism.scale):.3g} rows"
        self._meter.charge(name, mechanism.loss, words)
        grid = zones.on_grid()
        return mechanism.draw(self._rows.sum(lambda rows: zone_counts(rows, grid)), self._noise)

    # The noise that a share would buy, for planning; no row is read.
    def count_error(self, share: Share) -> float:
        """Return the standard error of a count."""
        return self._counts("", share).standard_error

    def offset_error(self, share: Share, clip: float, dimension: int) -> float:
        """Return the standard error of each coordinate of a sum of clipped offsets."""
        grid = ProjectionGrid(Projection(np.zeros(dimension)))
        return self._offsets("", share, grid, grid.length(clip), dimension).standard_error

    def moment_error(self, share: Share, radius: float, dimension: int) -> float:
        """Return the standard error of the off-diagonal entries of second moments."""
        noise = vector_noise(share, length_sensitivity=self._changed(5 * _MOMENT_STEPS**2))
        entries = dimension * (dimension + 1) // 2
        return noise.standard_error(entries) * (radius / _MOMENT_STEPS) ** 2 / 7

    # Sensitivities: what one row can change, times the rows that one step between neighbours adds
    # or removes.
    def _counts(self, name: str, share: Share) -> Question:
        return Question(name, self._counting_noise(share))

    def _offsets(
        self, name: str, share: Share, grid: ProjectionGrid, length: int, dimension: int
    ) -> Question:
        noise = vector_noise(share, length_sensitivity=self._changed(length))
        return Question(name, noise, grid.step, dimension)

    def _square(self, name: str, share: Share, grid: ProjectionGrid, length: int) -> Question:
        # The terms of rows lie between 0 and the largest, and so does what replacing one changes.
        replaced = isinstance(self._unit, ReplaceRow)
        changed = Fraction(SQUARE_LEVELS) if replaced else self._changed(SQUARE_LEVELS)
        noise = additive_noise(share, l1_sensitivity=changed, squared_l2_sensitivity=changed**2)
        return Question(name, noise, (length * grid.step) ** 2 / SQUARE_LEVELS)


def _row_count(rows: Floats) -> Integers:
    return np.array([len(rows)], np.int64)
