"""Profiles: what sets each cluster of a summary apart from all rows, beyond the noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.clustering.from_cells import Clusters
from privclust.reports.findings import RowGroups, Trait, sentence_of
from privclust.schema.schema import Schema

_SURE = 2.0  # standard errors of the noise that a difference must exceed


@dataclass(frozen=True)
class Profile:
    """One cluster in numbers and words.

    Attributes
    ----------
    size, size_error : float
        About how many rows it has, and the error of the noise.
    center, center_error : dict of str to float
        The centre and the errors of the noise, by column, in the units of the data.
    differences : dict of str to float
        How far the centre lies from the average of all rows, in declared widths; only what exceeds
        two errors of the noise, largest first.
    traits : tuple of Trait
        What may be said about it in words: noise alone is unlikely to cause any such difference.
    histograms : dict of str to ndarray, or None
        Noisy counts of each number in ten equal cells between its bounds, if they were paid for.
    """

    size: float
    size_error: float
    center: dict[str, float]
    center_error: dict[str, float]
    differences: dict[str, float]
    traits: tuple[Trait, ...] = ()
    histograms: dict[str, Floats] | None = None

    @property
    def sentence(self) -> str:
        """What sets the cluster apart, in a line."""
        return sentence_of(self.traits, self.size, self.size_error)


def profiles_of(
    clusters: Clusters,
    names: Sequence[str],
    scales: Floats,
    widths: Floats,
    schema: Schema,
    histograms: Floats | None = None,
) -> list[Profile]:
    """Return a profile of each cluster, for columns of such scales and declared widths."""
    centers, errors = clusters.centers * scales, clusters.centers_error * scales
    weights = np.maximum(clusters.sizes, 0)
    weights = weights if weights.any() else np.ones(len(weights))
    gaps = centers - np.average(centers, axis=0, weights=weights)
    traits = RowGroups(schema, centers, errors, clusters.sizes, clusters.sizes_error).traits
    found = []
    for number, (gap, error) in enumerate(zip(gaps, errors, strict=True)):
        relative = gap / widths
        sure = [j for j in np.argsort(-np.abs(relative)) if abs(gap[j]) > _SURE * error[j]]
        found.append(
            Profile(
                float(clusters.sizes[number]),
                float(clusters.sizes_error[number]),
                dict(zip(names, centers[number].tolist(), strict=True)),
                dict(zip(names, error.tolist(), strict=True)),
                {names[j]: float(relative[j]) for j in sure},
                tuple(traits[number]),
                None if histograms is None else _with_names(schema.numeric, histograms[number]),
            )
        )
    return found


def _with_names(names: Sequence[str], histograms: Floats) -> dict[str, Floats]:
    return dict(zip(names, histograms, strict=True))
