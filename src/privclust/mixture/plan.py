"""The plan of a mixture: rows of a synthetic mixture to rehearse on without data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.clustering.plan import Clumps
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
# More than that is as bad as can be told.
_MOST_TOLD = 999.0


def synthetic_mixture_rows(
    schema: Schema, n_components: int, n_rows: int, unit: RowUnit, seed: int
) -> Rehearsal:
    """Return rows in clumps; the error is the perplexity of the mixture on others of them."""
    made = Clumps.make(schema, n_components, 2 * n_rows, seed)
    seen = replace(made, numbers=made.numbers[:n_rows], codes=made.codes[:n_rows])
    held = made.numbers[n_rows:]

    def error_ratio(model: Any) -> float:
        kinds: set[CovarianceType] = {model.covariance_type, "spherical"}
        plain = (_fit_plain(seen.numbers, n_components, kind) for kind in kinds)
        best = max(one.score(held) for one in plain)
        gap = best - gaussians_of(model.release()).score(held)
        return float(np.exp(min(gap, np.log(_MOST_TOLD))))

    return Rehearsal((seen.table(unit),), error_ratio)


def _fit_plain(rows: Floats, n_components: int, kind: CovarianceType) -> Any:
    """Return an ordinary mixture of the same rows."""
    from sklearn.mixture import GaussianMixture  # of which a fit has no need

    k = min(n_components, len(rows))
    return GaussianMixture(k, covariance_type=kind, random_state=0).fit(rows)
