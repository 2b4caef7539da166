"""``PrivateSources``: private source rows behind the door, seen from public target points.

``SourceRows`` opens the rows; ``PrivateSources`` is the closed list of questions about them. Every
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
from privclust.data.engines.local import Statistic, sum_over_blocks
from privclust.data.kernels.targets import (
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
from privclust.data.points import Noisy
from privclust.data.sources import Block, RowSource, open_rows
from privclust.data.sources.base import NoRowsError
from privclust.privacy.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
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
    "PrivateSources",
    "Rings",
    "SourceRows",
    "TargetSpace",
    "embedded",
]


@dataclass(frozen=True)
class CellAnswer:
    """What :meth:`PrivateSources.cells` releases about the rows nearest to each site.

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
    data : anything that :func:`privclust.data.sources.open_rows` reads, or None
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
        self.domain = Domain.from_schema(schema)

    def private(
        self, space: TargetSpace, meter: Meter, seed: np.random.SeedSequence | None
    ) -> PrivateSources:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        noise = ExactNoise() if seed is None else ExactNoise(SeededBits(seed))
        rows = bounded(self._source, self.unit)
        return PrivateSources(rows, self.domain, space, self.unit, meter, noise)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()


def _no_rows(names: Sequence[str], id_column: str | None) -> pa.Table:
    columns = names if id_column is None else (*names, id_column)
    return pa.table({name: pa.array([], pa.float64()) for name in columns})


class PrivateSources:
    """Source rows that answer questions only through noise.

    Parameters
    ----------
    source : RowSource
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
        source: RowSource,
        domain: Domain,
        space: TargetSpace,
        unit: Unit,
        meter: Meter,
        noise: NoiseSource,
    ) -> None:
        self.space = space
        self._source = source
        self._domain = domain
        self._unit = unit
        self._meter = meter
        self._noise = noise

    def histogram(self, name: str, rings: Rings, share: Share) -> Noisy:
        """Ask for the number of rows in each bin of a public partition; the last one is outside.

        Notes
        -----
        *Why this is private.* Which bin a row is in depends on that row and on public points, and
        it is in exactly one, so it changes one count by one. Empty bins are noised like any other.
        """
        noise = self._count_noise(share)
        self._debit(name, noise, noise.standard_error())

        def statistic(block: Block) -> Integers:
            rows = self._domain.complete(block.numbers())
            clipped = self._clipped(rows)
            inside: NDArray[np.bool_] = np.all(clipped == rows, axis=1)
            return ring_counts(self.space, rings, clipped, inside)

        exact = self._sum(statistic, np.zeros(rings.n_bins, np.int64))
        return Noisy(noise.draw(exact, self._noise).astype(np.float64), noise.standard_error())

    def size(self, name: str, share: Share) -> Noisy:
        """Ask for the number of rows, one entry.

        Notes
        -----
        *Why this is private.* A row changes the number by one.
        """
        noise = self._count_noise(share)
        self._debit(name, noise, noise.standard_error())
        exact = self._sum(lambda block: np.array([block.n_rows]), np.zeros(1, np.int64))
        return Noisy(noise.draw(exact, self._noise).astype(np.float64), noise.standard_error())

    def cells(self, name: str, sites: Floats, *, counts: Share, sums: Share) -> CellAnswer:
        """Ask for the number and the sum of the rows nearest to each public site.

        Notes
        -----
        *Why this is private.* Rows are clipped to the public radius R of the targets around their
        centre. A row belongs to one site, so it changes one count by one and one sum by a vector
        of length at most R.
        """
        count_noise = self._count_noise(counts)
        sum_noise = vector_noise(sums, length_sensitivity=self._changed(SOURCE_STEPS))
        step = self.space.radius / SOURCE_STEPS
        sum_error = sum_noise.standard_error(self.space.dimension) * step
        self._debit(f"{name}: counts", count_noise, count_noise.standard_error())
        self._debit(f"{name}: sums", sum_noise, sum_error)
        none = cell_sums(self.space, sites, np.empty((0, self._domain.dimension)))
        exact = self._sum(lambda block: cell_sums(self.space, sites, self._rows(block)), none)
        noisy_counts = count_noise.draw(exact.counts, self._noise).astype(np.float64)
        noisy_sums = sum_noise.draw(exact.sums, self._noise).astype(np.float64) * step
        return CellAnswer(
            Noisy(noisy_counts, count_noise.standard_error()), Noisy(noisy_sums, sum_error)
        )

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
        step = self.space.radius / SOURCE_STEPS / n_nearest
        error = noise.standard_error() * step
        self._debit(name, noise, error)
        grid = self.space.clipped_grid(sites)
        none = nearest_rows(self.space, grid, np.empty((0, self._domain.dimension)), n_nearest)
        exact = self._sum(
            lambda block: nearest_rows(self.space, grid, self._rows(block), n_nearest), none
        )
        noisy = noise.draw(exact.padded_sums(grid), self._noise).astype(np.float64)
        return Noisy(noisy * step, error)

    # The noise that a share would buy, for planning; no row is read.
    def count_error(self, share: Share) -> float:
        """Return the standard error of a count."""
        return self._count_noise(share).standard_error()

    def count_quantile(self, share: Share, chance: float) -> float:
        """Return what the noise of a count exceeds with about the given chance, below one half."""
        noise = self._count_noise(share)
        if isinstance(noise, DiscreteGaussian):
            return noise.standard_error() * NormalDist().inv_cdf(1 - min(chance, 0.5))
        return max(0.0, float(noise.scale) * math.log(1 / (2 * chance)))

    def count_tail(self, share: Share, values: Floats) -> Floats:
        """Return the chances that the noise of a count is at least so large."""
        noise = self._count_noise(share)
        if isinstance(noise, DiscreteGaussian):
            return np.asarray(ndtr((0.5 - values) / noise.standard_error()))
        step = float(1 / noise.scale)
        # The noise is as likely at least x as at most -x, so of x and 1 - x the positive one tells.
        beyond = np.exp(-(np.abs(values - 0.5) + 0.5) * step) / (1 + np.exp(-step))
        return np.asarray(np.where(values > 0, beyond, 1 - beyond))

    def count_log_density(self, share: Share, gaps: Floats) -> Floats:
        """Return the log-density of the noise of a count, up to a constant."""
        noise = self._count_noise(share)
        if isinstance(noise, DiscreteGaussian):
            return np.asarray(-(gaps**2) / (2 * float(noise.variance)))
        return np.asarray(-np.abs(gaps) / float(noise.scale))

    def _changed(self, size: int) -> Fraction:
        return Fraction(self._unit.rows_changed * size)

    def _count_noise(self, share: Share) -> DiscreteLaplace | DiscreteGaussian:
        changed = self._changed(1)
        # A replaced row leaves one count and joins another: (1, -1) has a squared length of 2.
        squared = Fraction(2) if isinstance(self._unit, ReplaceRow) else changed**2
        return additive_noise(share, l1_sensitivity=changed, squared_l2_sensitivity=squared)

    def _rows(self, block: Block) -> Floats:
        return self._clipped(self._domain.complete(block.numbers()))

    def _clipped(self, rows: Floats) -> Floats:
        return np.clip(rows, self._domain.low, self._domain.high)

    def _sum(self, statistic: Callable[[Block], Statistic], none: Statistic) -> Statistic:
        """Add up a statistic over all rows; that there are none at all must not show."""
        try:
            return sum_over_blocks(self._source, statistic)
        except NoRowsError:
            return none

    def _debit(self, name: str, noise: AdditiveNoise, error: float) -> None:
        words = f"{noise.words}, standard error {error:.3g}"
        self._meter.charge(name, noise.loss, words)
