"""What estimators with a learned categorical metric share: coordinates, distances, the schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust.base import PrivateEstimator
from privclust.categorical.metric import CategoricalMetric
from privclust.categorical.outlook import Outlook, synthetic_rows
from privclust.categorical.published import Options
from privclust.data.table_door import TableRows
from privclust.schema import Schema, SchemaError
from privclust.unit import Person, Unit, unit_from

__all__ = ["CategoricalTransformer"]

Floats = NDArray[np.float64]

_MOST_REHEARSED = 20_000

RULES = ("max-relevance", "mean-su", "relevant-non-redundant", "all")


class CategoricalTransformer(TransformerMixin, PrivateEstimator):
    """What estimators with a learned categorical metric share."""

    metric_: CategoricalMetric
    cell_error_: float
    schema_: Schema
    schema: Schema | None
    unit: Unit | str
    method: str
    context_rule: str
    context_size: int

    def transform(self, X: Any) -> Floats:
        """Return Euclidean coordinates of rows; their distances are those of the metric."""
        return self.metric_.embed(self._codes(X))

    def pairwise_distances(self, X: Any, Y: Any = None) -> Floats:
        """Return the distances between the rows of ``X`` and those of ``Y``, or of ``X``."""
        left = self.transform(X)
        return np.asarray(cdist(left, left if Y is None else self.transform(Y)))

    def distance_matrix(self, attribute: str) -> Any:
        """Return the distances between the values of one attribute, a data frame if possible.

        With pandas installed the rows and columns are labelled; without it an array is returned.
        """
        check_is_fitted(self)
        part = self.metric_[attribute]
        try:
            import pandas as pd
        except ImportError:
            return part.distances()
        return pd.DataFrame(part.distances(), index=part.labels, columns=part.labels)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return a name for every coordinate."""
        check_is_fitted(self)
        names = [
            f"{name}_{axis}"
            for name, part in self.metric_.attributes.items()
            for axis in range(part.coordinates.shape[1])
        ]
        return np.array(names, dtype=object)

    def plan(self, n_rows: int = 10_000) -> Outlook:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge.
        """
        schema, unit = self._declared(), unit_from(self.unit)
        known = {"ledger": None, "random_state": 0}
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

    def _codes(self, X: Any) -> NDArray[np.unsignedinteger]:
        """Return the codes of new rows; their columns are looked for by name, at the door."""
        check_is_fitted(self)
        unit = unit_from(self.unit)
        ignore = [unit.id_column] if isinstance(unit, Person) else []
        with TableRows(X, self.schema_, ignore=ignore) as rows:
            return rows.codes()

    def _declared(self) -> Schema:
        if self.schema is None:
            raise SchemaError(
                "No categories are declared; pass a schema that lists the values of every column, "
                "from public knowledge and never from the data."
            )
        if len(self.schema) < 2:
            raise SchemaError(
                "A categorical metric compares values by other columns; declare at least two."
            )
        return self.schema

    def _context_options(self, schema: Schema, targets: Sequence[str]) -> Options:
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
