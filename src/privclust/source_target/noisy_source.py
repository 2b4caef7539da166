"""The sanitised source: as the private methods pass it to the solver, and as a user sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from privclust._typing import Floats
from privclust.data.public import Noisy
from privclust.data.sites.public import TargetSpace
from privclust.notes import Note


@dataclass(frozen=True)
class NoisySource:
    """A released substitute for the source."""

    # (n_positions, dimension): points of the space; for precomputed distances, numbers of targets
    # in one column.
    positions: Floats
    counts: Floats  # (n_positions,): noisy numbers of source rows there
    count_error: float  # the standard error of each of them; NaN if a method counts nothing
    # (n_positions, 2): the distances to the nearest target between which these rows lie; NaN where
    # they are not known.
    shells: Floats
    # (n_draws, n_targets): possible distances of the targets to the source, in the lengths of the
    # space, one draw after the other; infinite where nothing serves.
    base: Floats
    number: Noisy  # the noisy number of sources, or of those that are located
    notes: tuple[Note, ...] = ()  # what the user should know, all of it from released values
    # Δ_t(S) of the paper, in the lengths of the space, if it was asked for.
    spread: Noisy | None = None
    # (n_judges, n_targets): more draws, for :mod:`privclust.source_target.solver`; None for the
    # published methods.
    judges: Floats | None = None
    # (n_targets,): distances to the source that hold for all but a small chance, in the lengths of
    # the space; None where nothing was asked that says so.
    bounds: Floats | None = None


def base_from_points(space: TargetSpace, points: Floats) -> Floats:
    """Return the distance of each target to the nearest of some released points."""
    if not len(points):
        return np.full(len(space.targets), np.inf)
    return np.asarray(cKDTree(points).query(space.targets, p=space.order)[0])


@dataclass(frozen=True)
class ReleasedSource:
    """What is released about the existing centres.

    Attributes
    ----------
    positions : ndarray of shape (n_positions, n_features)
        Positions in the columns of the target; after a projection or for cosine distances, in the
        coordinates that are compared; for precomputed distances, numbers of targets.
    counts : ndarray of shape (n_positions,)
        Noisy numbers of sources there; NaN for the method ``"nas"``, which counts nothing.
    count_error : float
        The standard error of each of them.
    nearest, farthest : ndarray of shape (n_positions,)
        The distances to their nearest target between which these sources lie, for ``"rings"``; NaN
        for the other methods.
    """

    positions: Floats
    counts: Floats
    count_error: float
    nearest: Floats
    farthest: Floats

    @classmethod
    def of(cls, released: NoisySource, space: TargetSpace) -> ReleasedSource:
        """Return the sanitised source in the user's columns and lengths."""
        positions = space.metric.invert(released.positions)
        nearest, farthest = space.metric.lengths(released.shells).T
        return cls(positions, released.counts, released.count_error, nearest, farthest)


def no_source_warning(n_live: int) -> tuple[Note, ...]:
    """Return the warning for a source that does not stand out from the noise."""
    if n_live:
        return ()
    text = (
        "No source shows above the noise, so the centres are those of the targets alone; raise "
        "epsilon or bring more sources."
    )
    return (Note("rows-unseen", text),)
