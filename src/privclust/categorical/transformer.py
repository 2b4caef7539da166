"""What the private estimators with a learned categorical metric share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privclust.categorical.metric_mixin import MetricMixin, check_width
from privclust.categorical.outlook import Outlook, synthetic_rows
from privclust.categorical.papers import Options
from privclust.data.table.door import TableRows, schema_for
from privclust.estimator import PrivateEstimator
from privclust.exceptions import SchemaError
from privclust.schema import Schema
from privclust.unit import Person, Unit, unit_from

__all__ = ["CategoricalTransformer"]

_MOST_REHEARSED = 20_000

RULES = ("max-relevance", "mean-su", "relevant-non-redundant", "all")


_NOTHING_DECLARED = (
    "No categories are declared; pass a schema that lists the values of every column, from public "
    "knowledge and never from the data."
)


class CategoricalTransformer(MetricMixin, PrivateEstimator):
    """What the private estimators with a learned categorical metric share."""

    cell_error_: float
    unit: Unit | str
    method: str
    context_rule: str
    context_size: int

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Outlook:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge.
        n_features : int or None
            The number of columns, if the schema does not tell it.
        """
        schema, unit = self._planned(n_features), unit_from(self.unit)
        known = {"schema": schema, "ledger": None, "random_state": 0}
        rehearsal = type(self)(**{**self.get_params(deep=False), **known})
        rehearsal.fit(synthetic_rows(schema, min(int(n_rows), _MOST_REHEARSED), unit))
        every = self.method in ("pairs", "baseline") or (self.method == "auto" and self.delta)
        return Outlook.of(
            rehearsal.privacy_,
            schema,
            int(n_rows),
            rehearsal.cell_error_,
            every_pair=bool(every),
        )

    def _planned(self, n_features: int | None) -> Schema:
        if self.schema is None:
            raise SchemaError(_NOTHING_DECLARED)
        if not isinstance(self.schema, Schema) and n_features is None:
            raise SchemaError("One fact does not tell the number of columns; give n_features.")
        return schema_for(self.schema, [f"x{i}" for i in range(n_features or 0)])

    def _open(self, X: Any) -> TableRows:
        """Open the private rows under what is declared about them."""
        if self.schema is None:
            raise SchemaError(_NOTHING_DECLARED)
        if isinstance(self.schema, Schema):
            check_width(self.schema)
        return TableRows(X, self.schema, unit=unit_from(self.unit))

    def _ignored(self) -> Sequence[str]:
        unit = unit_from(self.unit)
        return [unit.id_column] if isinstance(unit, Person) else []

    def _context_options(self, schema: Schema, targets: Sequence[str]) -> Options:
        check_width(schema)
        if self.context_rule not in RULES:
            raise ValueError(f"context_rule must be one of {RULES}, got {self.context_rule!r}.")
        whole = isinstance(self.context_size, (int, np.integer))
        if not whole or isinstance(self.context_size, bool) or self.context_size < 1:
            raise ValueError(
                f"context_size must be a whole number of at least 1, got {self.context_size!r}."
            )
        return Options(
            targets=tuple(schema.names.index(name) for name in targets),
            context_size=int(self.context_size),
            rule=self.context_rule,
        )
