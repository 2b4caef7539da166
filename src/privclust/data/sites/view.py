"""``SitesView``: private source rows behind the door, seen from public target points.

``SourceRows`` opens the rows; ``SitesView`` is the closed list of questions about them. Every
question takes its share of the budget, debits the meter, and only then reads the rows; what comes
back is noisy. The questions and their sensitivities are proved in ``proofs/source-target.md``.

Neighbours are those of the privacy unit. One step between neighbours adds or removes in total at
most ``unit.rows_changed`` rows. Targets, sites, shells, centre and radius are public and are fixed
before a row is read: nothing is ever scaled by a length that a source row has a part in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr

from privclust.budget import Share
from privclust.data.contribution import bounded
from privclust.data.encode import Domain, Floats
from privclust.data.engines.local import Total, sum_over_blocks
from privclust.data.reading import Block, RowReader, open_rows
from privclust.data.sites.kernels import (
    EARTH_RADIUS_KM,
    SOURCE_STEPS,
    Integers,
    Metric,
    Rings,
    TargetSpace,
    cell_sums,
    embedded,
    nearest_rows,
    ring_counts,
)
from privclust.data.view import Noisy, Question, RowView
from privclust.exceptions import NoRowsError
from privclust.privacy.mechanisms import (
    DiscreteGaussian,
    additive_noise,
    vector_noise,
)
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, NoiseSource, SeededBits
from privclust.schema import Schema
from privclust.unit import Person, ReplaceRow, Unit

__all__ = [
    "EARTH_RADIUS_KM",
    "CellAnswer",
    "Metric",
    "Noisy",
    "Rings",
    "SitesView",
    "SourceRows",
    "TargetSpace",
    "embedded",
]


@dataclass(frozen=True)
class CellAnswer:
    """What :meth:`SitesView.cells` releases about the rows nearest to each site.

    Attributes
    ----------
    counts : Noisy, value of shape (n_sites,)
        Numbers of rows.
    sums : Noisy, value of shape (n_sites, dimension)
        Sums of their coordinates around the centre of the targets.
    """

    counts: Noisy
    sums: Noisy


class SourceRows:
    """Source rows of a caller, opened under a schema; no row is read yet.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads, or None
        ``None`` or an empty list stands for a source without rows.
    schema : Schema
        Declared bounds of every column, from public knowledge.
    unit : Unit
        The privacy unit.
    """

    def __init__(self, data: Any, schema: Schema, unit: Unit) -> None:
        id_column = unit.id_column if isinstance(unit, Person) else None
        empty = data is None or (isinstance(data, list | tuple) and not data)
        rows = _no_rows(schema.names, id_column) if empty else data
        self._source = open_rows(rows, schema.names, id_column=id_column)
        self.unit = unit
        self.schema = schema
        self.domain = Domain.from_schema(schema)

    def private(
        self, space: TargetSpace, meter: Meter, seed: np.random.SeedSequence | None
    ) -> SitesView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        noise = ExactNoise() if seed is None else ExactNoise(SeededBits(seed))
        rows = bounded(self._source, self.unit, self.domain.rows, seed)
        return SitesView(rows, self.domain, space, self.unit, meter, noise)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()


def _no_rows(names: Sequence[str], id_column: str | None) -> pa.Table:
    columns = names if id_column is None else (*names, id_column)
    return pa.table({name: pa.array([], pa.float64()) for name in columns})


class SitesView(RowView):
    """Source rows that answer questions only through noise.

    Parameters
    ----------
    source : RowReader
        The rows, already bounded per person if the unit is a person.
    domain : Domain
        The declared bounds.
    space : TargetSpace
        The public targets.
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
        domain: Domain,
        space: TargetSpace,
        unit: Unit,
        meter: Meter,
        noise: NoiseSource,
    ) -> None:
        super().__init__(unit, meter, noise)
        self.space = space
        self._source = source
        self._domain = domain

    def histogram(self, name: str, rings: Rings, share: Share) -> Noisy:
        """Ask for the number of rows in each bin of a public partition; the last one is outside.

        Notes
        -----
        *Why this is private.* Which bin a row is in depends on that row and on public points, and
        it is in exactly one, so it changes one count by one. Empty bins are noised like any other.
        """
        asked = Question(name, self._counting_noise(share))
        self._debit(asked)

        def statistic(block: Block) -> Integers:
            rows = self._domain.rows(block)
            clipped = self._clipped(rows)
            inside: NDArray[np.bool_] = np.all(clipped == rows, axis=1)
            return ring_counts(self.space, rings, clipped, inside)

        return self._noised(asked, self._sum(statistic, np.zeros(rings.n_bins, np.int64)))

    def size(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows, one entry.

        Notes
        -----
        *Why this is private.* A row changes the number by one.
        """
        asked = Question(name, self._counting_noise(share))
        self._debit(asked)
        exact = self._sum(lambda block: np.array([block.n_rows]), np.zeros(1, np.int64))
        return self._noised(asked, exact)

    def cells(self, name: str, sites: Floats, *, counts: Share, sums: Share) -> CellAnswer:
        """Ask for the number and the sum of the rows nearest to each public site.

        Notes
        -----
        *Why this is private.* Rows are clipped to the public radius R of the targets around their
        centre. A row belongs to one site, so it changes one count by one and one sum by a vector
        of length at most R.
        """
        of_counts = Question(f"{name}: counts", self._counting_noise(counts))
        of_sums = Question(
            f"{name}: sums",
            vector_noise(sums, length_sensitivity=self._changed(SOURCE_STEPS)),
            self.space.radius / SOURCE_STEPS,
            self.space.dimension,
        )
        self._debit(of_counts, of_sums)
        none = cell_sums(self.space, sites, np.empty((0, self._domain.dimension)))
        exact = self._sum(lambda block: cell_sums(self.space, sites, self._rows(block)), none)
        return CellAnswer(self._noised(of_counts, exact.counts), self._noised(of_sums, exact.sums))

    def nearest_averages(self, name: str, sites: Floats, n_nearest: int, share: Share) -> Noisy:
        """Ask for the average of the ``n_nearest`` rows nearest to each public site, all at once.

        Where there are fewer rows, the site itself stands for those that lack.

        Notes
        -----
        *Why this is private.* Rows and sites are clipped to the public radius R. A row that is
        added takes the place of one other row, or of the site, in the sum of each site and so
        changes it by a vector of length at most 2R: all n sums together by at most 2R n √d in the
        sum of absolute values and by at most 2R √n in Euclidean norm. A replaced row changes them
        no more than that: it, the row in its place, and what either displaces are in one ball.
        """
        rows = 1 if isinstance(self._unit, ReplaceRow) else self._unit.rows_changed
        n_sites, dimension = sites.shape
        # The absolute values of an integer vector of length l in d dimensions add up to an integer
        # that is at most l √d, so the root may be rounded down.
        absolute = math.isqrt(dimension * (2 * SOURCE_STEPS) ** 2)
        noise = additive_noise(
            share,
            l1_sensitivity=Fraction(n_sites * rows * absolute),
            squared_l2_sensitivity=Fraction(n_sites * (rows * 2 * SOURCE_STEPS) ** 2),
        )
        asked = Question(name, noise, self.space.radius / SOURCE_STEPS / n_nearest)
        self._debit(asked)
        grid = self.space.clipped_grid(sites)
        none = nearest_rows(self.space, grid, np.empty((0, self._domain.dimension)), n_nearest)
        exact = self._sum(
            lambda block: nearest_rows(self.space, grid, self._rows(block), n_nearest), none
        )
        return self._noised(asked, exact.padded_sums(grid))

    # The noise that a share would buy, for planning; no row is read.
    def count_error(self, share: Share) -> float:
        """Return the standard error of a count."""
        return self._counting_noise(share).standard_error()

    def count_quantile(self, share: Share, chance: float) -> float:
        """Return what the noise of a count exceeds with about the given chance, below one half."""
        noise = self._counting_noise(share)
        if isinstance(noise, DiscreteGaussian):
            return noise.standard_error() * NormalDist().inv_cdf(1 - min(chance, 0.5))
        return max(0.0, float(noise.scale) * math.log(1 / (2 * chance)))

    def count_tail(self, share: Share, values: Floats) -> Floats:
        """Return the chances that the noise of a count is at least so large."""
        noise = self._counting_noise(share)
        if isinstance(noise, DiscreteGaussian):
            return np.asarray(ndtr((0.5 - values) / noise.standard_error()))
        step = float(1 / noise.scale)
        # The noise is as likely at least x as at most -x, so of x and 1 - x the positive one tells.
        beyond = np.exp(-(np.abs(values - 0.5) + 0.5) * step) / (1 + np.exp(-step))
        return np.asarray(np.where(values > 0, beyond, 1 - beyond))

    def count_log_density(self, share: Share, gaps: Floats) -> Floats:
        """Return the log-density of the noise of a count, up to a constant."""
        noise = self._counting_noise(share)
        if isinstance(noise, DiscreteGaussian):
            return np.asarray(-(gaps**2) / (2 * float(noise.variance)))
        return np.asarray(-np.abs(gaps) / float(noise.scale))

    def _rows(self, block: Block) -> Floats:
        return self._clipped(self._domain.rows(block))

    def _clipped(self, rows: Floats) -> Floats:
        return np.clip(rows, self._domain.low, self._domain.high)

    def _sum(self, statistic: Callable[[Block], Total], none: Total) -> Total:
        """Add up a statistic over all rows; that there are none at all must not show."""
        try:
            return sum_over_blocks(self._source, statistic)
        except NoRowsError:
            return none
