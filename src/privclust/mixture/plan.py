"""The plan of a mixture: rows of a synthetic mixture to rehearse on without data."""

from __future__ import annotations

from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.clustering.plan import CLUMP, Clumps
from privclust.mixture.model import CovarianceType
from privclust.mixture.release import gaussians_of
from privclust.plan import Measure, Rehearsal
from privclust.schema.schema import Schema
from privclust.unit.rows import RowUnit

# How many times less likely the mixture finds rows that it has not seen than an ordinary one does:
# of this type, or of round components if that is better, as it is for few rows of many columns.
PERPLEXITY = Measure(
    "perplexity of a row",
    good=1.25,
    hopeless=4.0,
    remedy="use PrivateKMeans, which needs fewer rows, raise epsilon, set delta, or ask for fewer "
    "components",
)
# How far from the middle the clumps lie at most, in half widths of the bounds.
_INNER = 0.6
# More than that is as bad as can be told.
_MOST_TOLD = 999.0


def synthetic_mixture_rows(
    schema: Schema, n_components: int, n_rows: int, unit: RowUnit, seed: int
) -> Rehearsal:
    """Return rows in tilted clumps; the error is the perplexity of others of them."""
    seen, held, places = _tilted_clumps(schema, n_components, n_rows, seed)

    def error_ratio(model: Any) -> float:
        kinds: set[CovarianceType] = {model.covariance_type, "spherical"}
        plain = (_fit_plain(seen.numbers, places, kind) for kind in kinds)
        best = max(one.score(held.numbers) for one in plain)
        gap = best - gaussians_of(model.release()).score(held.numbers)
        return float(np.exp(min(gap, np.log(_MOST_TOLD))))

    return Rehearsal((seen.table(unit),), error_ratio)


def _tilted_clumps(
    schema: Schema, n_components: int, n_rows: int, seed: int
) -> tuple[Clumps, Clumps, Floats]:
    """Return rows twice, and where their clumps lie, which are of random shape.

    Of round ones every shape would be known from the start.
    """
    rng, d = np.random.default_rng(seed), len(schema)
    middle, half = (schema.low + schema.high) / 2, (schema.high - schema.low) / 2
    places = rng.uniform(-_INNER, _INNER, (n_components, d))
    roots = rng.standard_normal((n_components, d, d)) / np.sqrt(d)
    width = CLUMP * n_components ** (-1 / d)
    labels = rng.integers(n_components, size=2 * n_rows)
    noise = rng.standard_normal((2 * n_rows, d))
    rows = places[labels] + width * np.einsum("nij,nj->ni", roots[labels], noise)
    numbers = middle + half * np.clip(rows, -1, 1)
    none = np.empty((n_rows, 0), np.intp)
    seen, held = (Clumps(schema, part, none) for part in (numbers[:n_rows], numbers[n_rows:]))
    return seen, held, middle + half * places


def _fit_plain(rows: Floats, places: Floats, kind: CovarianceType) -> Any:
    """Return an ordinary mixture of the same rows, from where the clumps lie."""
    from sklearn.mixture import GaussianMixture  # of which a fit has no need

    start = places[: len(rows)]
    plain = GaussianMixture(len(start), covariance_type=kind, means_init=start, random_state=0)
    return plain.fit(rows)
