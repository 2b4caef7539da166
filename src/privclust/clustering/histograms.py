"""Paid histograms: of every number of every cluster, over public cells.

The means of a cluster are released anyway; how its numbers spread is not, and costs a share of the
budget. The cells are ten equal ones between the declared bounds of a column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.agreement import cluster_by_agreement
from privclust.clustering.choose_k import choose_n_clusters
from privclust.clustering.from_cells import most_clusters
from privclust.clustering.missing import in_currency, table_error
from privclust.clustering.result import ClusterProfiles, SummaryResult
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.exceptions import ParameterError, ReleaseError
from privclust.notes import signal_of
from privclust.schema.coordinates import Coordinates
from privclust.schema.schema import Schema
from privclust.unit.rows import RowUnit

if TYPE_CHECKING:
    from privclust.release.release import Release


N_CELLS = 10
PROFILE_ARRAYS = ("profile_counts", "profile_counts_error", "profile_edges")
# Two errors of a histogram's entry are meant to stay below this share of the cluster's rows.
_POINTS = 0.05


def split_for_histograms(budget: Share, profiles: float | None) -> tuple[Share, Share | None]:
    """Return what is left for the clusters, and what goes to their profiles."""
    if profiles is None:
        return budget, None
    taken = budget.take(float(profiles))
    return budget.remainder(taken), taken


def ask_histograms(view: PointsView, share: Share, centres: Floats, schema: Schema) -> Noisy:
    """Ask for the histograms of the rows nearest to each centre of the unit ball."""
    places = Coordinates(schema).numbers
    low, high = view.domain.box_in_unit_ball()
    parts = np.arange(1, N_CELLS) / N_CELLS
    edges = low[places, None] * (1 - parts) + high[places, None] * parts
    paid = in_currency(view, share)
    return view.ask_cluster_histograms("profiles", centres, places, edges, paid)


def profile_arrays(profiles: Noisy, schema: Schema) -> dict[str, Any]:
    """Return the histograms as arrays of a release, with their edges in the units of the data."""
    parts = np.arange(N_CELLS + 1) / N_CELLS
    edges = schema.low[:, None] * (1 - parts) + schema.high[:, None] * parts
    return {
        "profile_counts": profiles.value,
        "profile_counts_error": np.full(profiles.value.shape, profiles.standard_error),
        "profile_edges": edges,
    }


def check_numbers(schema: Schema, metric: str = "mismatch") -> None:
    """Raise if there is no number to make a histogram of, or no cluster that counts it as one."""
    if not schema.numeric:
        raise ParameterError(
            "profile_share pays for histograms of numbers, and no column is one; leave it at None."
        )
    if metric == "dilca":
        raise ParameterError(
            'profile_share pays for histograms of clusters by metric="mismatch", which '
            'metric="dilca" does not make; drop one of them.'
        )


def check_profiles(release: Release, n_clusters: int) -> None:
    """Raise unless the histograms of a release, if it has any, fit its clusters and columns."""
    arrays, n_numbers = release.arrays, len(release.schema.numeric)
    given = [name for name in PROFILE_ARRAYS if name in arrays]
    if not given:
        return
    if len(given) < len(PROFILE_ARRAYS):
        raise ReleaseError(f"Profiles need the arrays {', '.join(PROFILE_ARRAYS)}; add them.")
    counts, error, edges = (arrays[name] for name in PROFILE_ARRAYS)
    fits = counts.ndim == 3 and counts.shape[:2] == (n_clusters, n_numbers)
    fits = fits and edges.shape == (n_numbers, counts.shape[2] + 1)
    fits = fits and error.shape == counts.shape
    if not fits or (error < 0).any() or (np.diff(edges, axis=1) <= 0).any():
        raise ReleaseError(
            "The profiles of a release do not fit its clusters and columns; correct them."
        )


def histogram_note(
    budget: Budget, unit: RowUnit, n_rows: int, n_clusters: int, n_columns: int, profiles: float
) -> str:
    """Return how good the histograms will be, and what share they need to be good."""
    rows = max(n_rows / n_clusters, 1.0)
    points = 2 * table_error(budget.whole.take(profiles), unit, n_columns) / rows
    needed = 2 * table_error(budget.whole, unit, n_columns) / (_POINTS * rows)
    needed = needed if budget.currency == "pure" else needed**2
    part = "more than all" if needed >= 1 else f"a share of {needed:.2g}"
    return (
        f"Profiles of clusters of {rows:,.0f} rows: two errors are {100 * points:.2g} % of their "
        f"rows with profile_share={profiles:g}; for {100 * _POINTS:g} % they need {part} of the "
        "budget."
    )


# Paid profiles of a summary: histograms of the clusters that its cells suggest.


def ask_cluster_histograms(
    view: PointsView,
    share: Share,
    result: SummaryResult,
    schema: Schema,
    gap: float | None,
    seen_by: Callable[[Schema], PointsView],
) -> ClusterProfiles:
    """Ask for the histograms of as many clusters as the released cells suggest.

    The clusters are computed from the cells as they will be released, so that everybody who
    computes them later finds the same. If agreement weighs columns anew, rows must be nearest to
    the centres by these weights: ``seen_by`` returns them as they are seen by such a schema.
    """
    domain = view.domain
    places = domain.in_data_units(result.cells.cells)
    cells = result.cells.rescale(domain.radius, cells=places / domain.scales)
    # Where noise hides the rows there is nothing to choose by.
    clear = signal_of(result.notes) == "seen" and most_clusters(cells) > 2
    k = choose_n_clusters(cells, schema=schema).suggestion if clear else 1
    found, weighed = cluster_by_agreement(cells, k, schema, gap if clear else None)
    centers = Coordinates(schema).project(found.centers * domain.scales)
    seen = view if weighed is schema else seen_by(weighed)
    asked = ask_histograms(seen, share, seen.domain.to_unit_ball(centers), schema)
    return ClusterProfiles(centers, asked)


def keep_profiles(model: Any, profiles: Noisy | None) -> None:
    """Keep histograms in a model, or forget those of an earlier fit."""
    for name in PROFILE_ARRAYS:
        if hasattr(model, f"{name}_"):
            delattr(model, f"{name}_")
    if profiles is not None:
        for name, array in profile_arrays(profiles, model.schema_).items():
            setattr(model, f"{name}_", array)


def kept_profiles(model: Any) -> dict[str, Any]:
    """Return the histograms that a model keeps, for its release."""
    if model.profile_share is None:
        return {}
    return {name: getattr(model, f"{name}_") for name in PROFILE_ARRAYS}
