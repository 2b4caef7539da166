"""Co-clustering when whole rows are protected: only sums over groups of rows are ever released.

Rows are compared with public prototypes behind the door, and the noisy sums of the profiles of the
rows nearest to each one become the next prototypes. The sums are denoised by keeping as many
directions as there are clusters. Which row went where is never released. The block totals are a
question of their own: the column clusters are picked by the noise of the last sums, and totals
added up from them would show τ where there is none.

Weights that damp frequent columns, and more prototypes than clusters on the way, were tried and
cost more by their noise than they brought.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.coclustering.columns import column_clusters
from privclust.coclustering.result import CoclusteringResult
from privclust.data.matrix.view import ProfilesView
from privclust.data.view import Noisy

__all__ = ["rows_method"]


_ROUNDS = 4
# The share of the block totals, which are few and large.
_BLOCKS = 0.05
# Prototypes whose rows add up to less than this part of the mean are lost.
_DEAD = 0.1
# Strengths must exceed those of noise by this factor to count as structure.
_ABOVE_EDGE = 1.05


def rows_method(
    view: ProfilesView,
    budget: Share,
    n_row_clusters: int,
    n_column_clusters: int,
    rng: np.random.Generator,
) -> CoclusteringResult:
    """Co-cluster the rows of ``view`` within ``budget``."""
    for_blocks, for_rounds = budget.split([_BLOCKS, 1 - _BLOCKS])
    prototypes = _unit(rng.standard_normal((n_row_clusters, view.n_columns)))
    for number, share in enumerate(for_rounds.split([1] * _ROUNDS), start=1):
        sums = view.profile_sums(f"profiles, round {number}", prototypes, share)
        prototypes = _unit(_denoised(sums, n_row_clusters))
        if number < _ROUNDS:
            prototypes = _revived(prototypes, sums.value.sum(axis=1), rng)
    columns = column_clusters(sums, n_column_clusters, rng)
    totals = view.block_shares("block totals", prototypes, columns, for_blocks)
    return CoclusteringResult(
        block_totals=totals.value,
        block_error=np.full(totals.value.shape, totals.standard_error),
        columns=columns,
        column_weights=prototypes.T,
        profiles=sums,
        directions=_directions(sums),
    )


def _deviations(sums: Noisy) -> Floats:
    """Return what sets the sums apart from the profile of all rows."""
    common = np.maximum(sums.value.sum(axis=0), 0)
    share = common / max(float(common.sum()), 1e-300)
    deviations: Floats = sums.value - sums.value.sum(axis=1, keepdims=True) * share
    return deviations


def _denoised(sums: Noisy, n_directions: int) -> Floats:
    """Return the deviations along their strongest directions, each line in units of its spread."""
    deviations = _deviations(sums)
    strongest = np.linalg.eigh(deviations @ deviations.T)[1][:, ::-1][:, :n_directions]
    kept = strongest @ (strongest.T @ deviations)
    # What all rows have in common says nothing; noisy columns are left out of it.
    totals = sums.value.sum(axis=0)
    common = np.where(totals > 2 * sums.standard_error * np.sqrt(len(sums.value)), totals, 0)
    common = common / max(float(np.linalg.norm(common)), 1e-300)
    kept -= np.outer(kept @ common, common)
    return np.asarray(kept / np.sqrt(_masses(sums))[:, None])


def _revived(prototypes: Floats, masses: Floats, rng: np.random.Generator) -> Floats:
    """Let prototypes that hardly any row is nearest to share the rows of the heaviest ones."""
    prototypes = prototypes.copy()
    dead = np.flatnonzero(masses < _DEAD * masses.mean())
    for weak, heavy in zip(dead, np.argsort(-masses), strict=False):
        aside = _unit(rng.standard_normal((1, prototypes.shape[1])))[0]
        prototypes[weak] = prototypes[heavy] + aside
        prototypes[heavy] -= aside
    return _unit(prototypes)


def _masses(sums: Noisy) -> Floats:
    least = np.sqrt(sums.value.shape[1]) * sums.standard_error
    masses: Floats = np.maximum(sums.value.sum(axis=1), least)
    return masses


def _directions(sums: Noisy) -> int:
    """Return how many directions of the last sums, but for what all have in common, stand out."""
    strengths = np.linalg.eigvalsh(sums.value @ sums.value.T)
    height, width = sums.value.shape
    edge = (np.sqrt(height) + np.sqrt(width)) ** 2 * sums.standard_error**2
    return max(0, int((strengths > _ABOVE_EDGE * edge).sum()) - 1)


def _unit(lines: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(lines, axis=1, keepdims=True)
    return np.asarray(lines / np.maximum(lengths, 1e-12))
