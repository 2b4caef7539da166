"""Profiles: what sets each cluster of a summary apart from all rows, beyond the noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.summary.clustering import Clusters

__all__ = ["Profile", "profiles_of"]

_SURE = 2.0  # standard errors of the noise that a difference must exceed
_LARGE = 0.05  # of the declared width; smaller differences are not worth a word
_WORDS = 3


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
    """

    size: float
    size_error: float
    center: dict[str, float]
    center_error: dict[str, float]
    differences: dict[str, float]

    @property
    def sentence(self) -> str:
        """What sets the cluster apart, in a line."""
        large = [name for name, gap in self.differences.items() if abs(gap) >= _LARGE]
        words = [
            f"{'high' if self.differences[name] > 0 else 'low'} {name}" for name in large[:_WORDS]
        ]
        rows = f"{self.size:,.0f} ± {2 * self.size_error:,.0f} rows".replace("-", "−")
        return f"{', '.join(words) or 'near the average'}; {rows}"


def profiles_of(
    clusters: Clusters, names: Sequence[str], scales: Floats, widths: Floats
) -> list[Profile]:
    """Return a profile of each cluster, for columns of such scales and declared widths."""
    centers, errors = clusters.centers * scales, clusters.centers_error * scales
    weights = np.maximum(clusters.sizes, 0)
    weights = weights if weights.any() else np.ones(len(weights))
    gaps = centers - np.average(centers, axis=0, weights=weights)
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
            )
        )
    return found
