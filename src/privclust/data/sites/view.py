"""``SitesView``: private source rows behind the door, seen from public target points.

Every question is paid for before a row is read, and leaves with noise. What one more row can change
in it is declared next to its kernel and proved in ``proofs/source-target.md``; what follows for
neighbours is in ``proofs/question.md``. Targets, sites, shells, centre and radius are
public and are fixed before a row is read: nothing is ever scaled by a length that depends on a
source row.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.door import Door, OpenedRows
from privclust.data.encode import CompleteRows, Domain
from privclust.data.engines.base import CountedSum, current_engine
from privclust.data.points.kernels import RowCount
from privclust.data.public import Noisy
from privclust.data.rows import Block, RowSource
from privclust.data.sites.kernels import CellTotals, NearestOf, RingCounts
from privclust.data.sites.public import CellAnswer, Rings, TargetSpace
from privclust.data.view import NumberNoise, View
from privclust.exceptions import NoRowsError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema.coordinates import refuse_weights
from privclust.unit.rows import RowUnit


class SitesView(View):
    """Source rows that answer questions only through noise.

    ``source``: the rows, already bounded per person if the unit is a person.
    """

    asks: ClassVar[dict[str, str]] = {
        "histogram": "how many rows lie in each region around the targets",
        "count": "how many rows there are",
        "counts": "how many rows are nearest to each place",
        "sums": "where the rows nearest to each place lie, added up",
        "nearest_averages": "where the rows nearest to each place lie on average",
        "nearest_distance": "how far places are from the rows nearest to them, on average",
    }

    def __init__(
        self,
        source: RowSource,
        domain: Domain,
        space: TargetSpace,
        unit: RowUnit,
        meter: Meter,
        noise: NoiseSource,
    ) -> None:
        super().__init__(unit, meter, noise)
        self.space = space
        self._domain = domain
        self._rows = current_engine().open(source, CompleteRows(domain))

    def ask_histogram(self, name: str, rings: Rings, share: Share) -> Noisy:
        """Ask for the number of rows in each bin of a public partition; the last one is outside.

        Notes
        -----
        *Why this is private.* The bin of a row depends on that row and on public points, and it is
        in exactly one, so it changes one count by one. Empty bins are noised like any other.
        """
        return self._answer(name, RingCounts(self._domain, self.space, rings), share)

    def ask_count(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows, one entry.

        Notes
        -----
        *Why this is private.* A row changes the number by one.
        """
        return self._answer(name, RowCount(), share)

    def ask_cells(self, name: str, sites: Floats, *, counts: Share, sums: Share) -> CellAnswer:
        """Ask for the number and the sum of the rows nearest to each public site.

        Notes
        -----
        *Why this is private.* Rows are clipped to the public radius R of the targets around their
        centre. A row belongs to one site, so it changes one count by one and one sum by a vector
        of length at most R.
        """
        statistic = CellTotals(self._domain, self.space, sites)
        return CellAnswer(**self._parts(name, statistic, {"counts": counts, "sums": sums}))

    def ask_nearest_averages(self, name: str, sites: Floats, n_nearest: int, share: Share) -> Noisy:
        """Ask for the average of the ``n_nearest`` rows nearest to each public site, all at once.

        If there are fewer rows, the site itself replaces the missing ones.

        Notes
        -----
        *Why this is private.* Rows and sites are clipped to the public radius R. One more row
        replaces one other row, or the site, in the sum of each site and so changes it by a vector
        of length at most 2R; the changes by two rows, given the same others, differ by no more.
        """
        statistic = self._nearest(sites, n_nearest)
        return self._answer(name, statistic, share, statistic.averages)

    def ask_nearest_distance(self, name: str, sites: Floats, n_nearest: int, share: Share) -> Noisy:
        """Ask for the mean distance of public sites to the ``n_nearest`` rows nearest to each.

        If there are fewer rows, the missing ones count as the farthest possible.

        Notes
        -----
        *Why this is private.* Rows and sites are clipped to the public radius R, so distances lie
        between 0 and 2R. One more row lowers the sum of the ``n_nearest`` least of them, padded
        with 2R, by 0 to 2R, at each of n sites.
        """
        statistic = self._nearest(sites, n_nearest)
        return self._answer(name, statistic, share, statistic.distance)

    # The noise that a share would buy, for planning; no row is read.
    def count_error(self, share: Share) -> float:
        """Return the standard error of a count."""
        return self.count_noise(share).standard_error()

    def count_noise(self, share: Share) -> NumberNoise:
        """Return the noise of a count."""
        return self._number_noise(RowCount.question, share)

    def _nearest(self, sites: Floats, n_nearest: int) -> NearestOf:
        return NearestOf(self._domain, self.space, self.space.clipped_grid(sites), n_nearest)

    def _sum(self, kernel: Any) -> CountedSum[Any]:
        """Add up a kernel over all rows; it must not reveal that there are none."""
        try:
            return super()._sum(kernel)
        except NoRowsError:
            return CountedSum(kernel.none(), 0)


class SourceRows(Door):
    """Opened source rows; see :class:`Door`."""

    def __init__(self, opened: OpenedRows, *, noise: NoiseSource | None = None) -> None:
        super().__init__(opened, noise=noise)
        refuse_weights(self.schema)
        self.domain = Domain.from_schema(self.schema)

    def _content(self, block: Block) -> Floats:
        return self.domain.rows(block)

    def private(
        self, space: TargetSpace, meter: Meter, seed: np.random.SeedSequence | None
    ) -> SitesView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return SitesView(
            self._rows_that_count(seed), self.domain, space, self.unit, meter, self._noise(seed)
        )
