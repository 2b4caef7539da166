"""Data made up from what is declared, to plan on and to try forms on; no row is ever read here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit

if TYPE_CHECKING:
    from privclust.service.declared import Counts


# Fuller rows count as this full, because a plan must fit into memory; then it promises less.
_MOST_PER_ROW = 500


def clumps(schema: Schema, clusters: int, n_rows: int, unit: Unit) -> Any:
    """Return rows in clumps."""
    from privclust.clustering.plan import Clumps

    return Clumps.make(schema, clusters, n_rows, 0).table(row_unit(unit))


def even_rows(schema: Schema, clusters: int, n_rows: int, unit: Unit) -> Any:
    """Return rows whose categories are all equally frequent."""
    from privclust.categories.plan import synthetic_rows

    return synthetic_rows(schema, n_rows, row_unit(unit))


def sources(schema: Schema, clusters: int, n_rows: int, unit: Unit) -> Any:
    """Return existing centres, in clumps."""
    return clumps(schema, clusters, n_rows, unit)


def planted_counts(declared: Counts, clusters: int, n_rows: int, unit: Unit) -> Any:
    """Return a matrix with planted blocks."""
    from privclust.coclustering.plan import synthetic_counts

    shape, row_total = (n_rows, declared.columns), min(declared.row_total, _MOST_PER_ROW)
    return synthetic_counts(shape, clusters, clusters, row_total, 0).counts


def places(schema: Schema) -> Any:
    """Return public points spread evenly over the declared bounds."""
    from privclust.source_target.plan import random_targets

    return random_targets(schema, None, None)


def planned_rows(model: Any, declared: Schema, most_rows: int, targets: Any) -> Any:
    """Return the plan of a fit to rows."""
    return model.plan(n_rows=most_rows)


def planned_places(model: Any, declared: Schema, most_rows: int, targets: Any) -> Any:
    """Return the plan of new centres beside rows."""
    return model.plan(n_rows=most_rows, target=targets)


def planned_counts(model: Any, declared: Counts, most_rows: int, targets: Any) -> Any:
    """Return the plan of a co-clustering."""
    row_total = min(declared.row_total, _MOST_PER_ROW)
    return model.plan(declared.rows, declared.columns, row_total=row_total)
