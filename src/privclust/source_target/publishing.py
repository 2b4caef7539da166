"""What a source-target fit publishes: which values, under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust.data.sites.metrics import METRICS

if TYPE_CHECKING:
    from privclust.source_target.base import SourceTargetEstimator

__all__ = ["published"]

# The map of the report shows at most this many targets; more would only make the page heavy.
_MOST_ON_MAP = 4000


def published(model: SourceTargetEstimator) -> dict[str, Any]:
    """Return the arrays, schema and parameters of the release of a fitted model."""
    source = model.released_source_
    arrays = {
        "centers": model.centers_,
        "medoid_indices": model.medoid_indices_,
        "order": model.order_,
        "source_positions": source.positions,
    }
    # Without any source above the noise, targets that no centre serves have no finite cost.
    if np.isfinite(model.order_costs_[1:]).all():
        arrays["order_costs"] = model.order_costs_[1:]
    if np.isfinite(source.counts).all():
        arrays["source_counts"] = source.counts
        arrays["source_counts_error"] = np.full(len(source.counts), source.count_error)
    if len(source.nearest) and np.isfinite(source.nearest).all():
        arrays["source_shells"] = np.column_stack([source.nearest, source.farthest])
    targets = model._targets
    if targets.shape[1] <= 2 and METRICS[model.metric].has_coordinates:
        shown = np.unique(np.linspace(0, len(targets) - 1, _MOST_ON_MAP).astype(np.intp))
        arrays["targets"] = targets[shown]
        arrays["served_by_source"] = model.served_by_source_[shown]
    spread = getattr(model, "source_spread_", None)
    paid = {} if spread is None else {"source_spread": spread}
    projected = None if model.n_projected is None else int(model.n_projected)
    return {
        "arrays": arrays,
        "schema": model.schema_,
        "parameters": {
            "n_centers": int(model.n_centers),
            "method": model.method,
            "metric": model.metric,
            "n_targets": len(model.served_by_source_),
            "cost_estimate": float(model.cost_estimate_),
            "served_estimate": float(model.served_by_source_.sum()),
            "n_projected": projected,
            **paid,
        },
    }
