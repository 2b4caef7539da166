"""The release of a source-target fit: which values go into it, under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privclust.release import Release

if TYPE_CHECKING:
    from privclust.source_target.estimator import PrivateSourceTargetMedoids

__all__ = ["source_target_release"]

# The map of the report shows at most so many targets; more would only make the page heavy.
_MOST_ON_MAP = 4000


def source_target_release(model: PrivateSourceTargetMedoids) -> Release:
    """Return the release of a fitted model."""
    source = model.private_source_
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
    if targets.shape[1] <= 2 and model.metric != "precomputed":
        shown = np.unique(np.linspace(0, len(targets) - 1, _MOST_ON_MAP).astype(np.intp))
        arrays["targets"] = targets[shown]
        arrays["served_by_source"] = model.served_by_source_[shown]
    return Release(
        kind="source_target",
        arrays=arrays,
        schema=model.schema_,
        parameters={
            "n_centers": int(model.n_centers),
            "method": model.method,
            "metric": model.metric,
            "n_targets": len(model.served_by_source_),
            "cost_estimate": float(model.cost_estimate_),
            "served_estimate": float(model.served_by_source_.sum()),
            "projection": None if model.projection is None else int(model.projection),
            "warnings": list(model.warnings_),
        },
        privacy=model.privacy_,
    )
