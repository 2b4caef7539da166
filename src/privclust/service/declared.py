"""What a steward declares about a data set, and data made up from that alone.

The schema of a table and the shape of a matrix are public, declared without looking at the rows,
and parsed from TOML or JSON. Plans and dry runs stand on synthetic data; no row is ever read here.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from privclust.schema.schema import Schema
from privclust.service.errors import ServiceError
from privclust.unit import Unit, row_unit

_MOST = 10**10
_WRONG = (
    "A matrix is declared by whole numbers: rows, columns, and row_total, about what a row adds up "
    "to; write them below [matrix]."
)


@dataclass(frozen=True)
class Counts:
    """What is declared about a matrix of counts."""

    # Its public shape; where whole rows are protected, ``rows`` is a bound on their number.
    rows: int
    columns: int
    row_total: int = 100  # roughly what a row adds up to, for plans

    def __post_init__(self) -> None:
        if not all(type(it) is int and 1 <= it <= _MOST for it in asdict(self).values()):
            raise ServiceError(_WRONG)

    def __len__(self) -> int:
        return self.columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

    def describe(self) -> str:
        """Say in words what is declared."""
        return (
            f"A matrix of counts with {self.rows:,} rows and {self.columns:,} columns, whose rows "
            f"add up to about {self.row_total:,}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"matrix": asdict(self)}

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(self.to_dict())


Declared = Schema | Counts


def parse_facts(plain: Mapping[str, Any]) -> Declared:
    """Return what plain data declare; those of a matrix have the key ``matrix`` alone."""
    if set(plain) != {"matrix"}:
        return Schema.from_dict(dict(plain))
    try:
        return Counts(**plain["matrix"])
    except TypeError:
        raise ServiceError(_WRONG) from None


def parse_declaration(text: str) -> Declared:
    """Return what a text declares, JSON if it begins with a brace and TOML otherwise."""
    as_json = text.lstrip().startswith("{")
    try:
        plain = json.loads(text) if as_json else tomllib.loads(text)
    except (ValueError, RecursionError):
        plain = None
    if isinstance(plain, dict) and set(plain) == {"matrix"}:
        return parse_facts(plain)
    return Schema.from_json(text) if as_json else Schema.from_toml(text)


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
    """Return the plan of new centres next to rows."""
    return model.plan(n_rows=most_rows, target=targets)


def planned_counts(model: Any, declared: Counts, most_rows: int, targets: Any) -> Any:
    """Return the plan of a co-clustering."""
    row_total = min(declared.row_total, _MOST_PER_ROW)
    return model.plan(declared.rows, declared.columns, row_total=row_total)
