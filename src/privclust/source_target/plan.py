"""The plan of a source-target fit: synthetic sources around public targets, to rehearse on."""

from __future__ import annotations

from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.plan import Measure, Rehearsal
from privclust.schema.schema import Schema
from privclust.source_target.public_targets import PublicTargets
from privclust.source_target.solution import mean_distance, service_of_public_source, solve
from privclust.unit import Unit, row_unit

DISTANCE = Measure("mean distance")

_GROUPS = 20
_TARGETS = 500
# More sources than this count as this many: the plan is then pessimistic.
_MOST_REHEARSED = 100_000


def synthetic(
    public: PublicTargets, target: Any, n_centers: int, n_rows: int, seed: int, unit: Unit
) -> Rehearsal:
    """Return sources in a part of the space; the error is the true cost of the chosen centres."""
    source = _synthetic_sources(public, n_rows, np.random.default_rng(seed))

    def error_ratio(model: Any) -> float:
        existing = service_of_public_source(public, source)
        best = solve(public, existing, n_centers).cost
        cost = mean_distance(public, existing, model.medoid_indices_)
        return cost / best if best > 0 else 1.0

    given = _with_ids(source, public, row_unit(unit).id_column)
    return Rehearsal((target, given), error_ratio)


def random_targets(schema: Any, bounds: tuple[Any, Any] | None, n_features: int | None) -> Floats:
    """Return public targets spread evenly over the declared bounds."""
    schema = Schema.of(schema, bounds=bounds, n_columns=n_features)
    return np.random.default_rng(0).uniform(schema.low, schema.high, (_TARGETS, len(schema.low)))


def _with_ids(source: Floats, public: PublicTargets, id_column: str | None) -> Any:
    """Return the sources, with names, and each a separate person if people count."""
    if id_column is None or public.names is None:
        return source
    import pyarrow as pa

    columns = dict(zip(public.names, source.T, strict=True))
    return pa.table({**columns, id_column: np.arange(len(source))})


def _synthetic_sources(public: PublicTargets, count: int, rng: np.random.Generator) -> Any:
    """Return sources at random targets of one part of the space, leaving another part without."""
    places = public.space.targets if public.metric.has_coordinates else public.table
    groups = places[rng.choice(len(places), min(_GROUPS, len(places)), replace=False)]
    labels = ((places[:, None] - groups) ** 2).sum(axis=2).argmin(axis=1)
    (equipped,) = np.nonzero(labels < max(1, len(groups) // 3))
    return public.table[rng.choice(equipped, min(count, _MOST_REHEARSED))]
