"""DILCA without privacy (Ienco, Pensa, Meo 2012), for comparison only.

NOT PRIVATE: everything here is computed exactly from the rows, down to the list of categories.
Publishing any of it publishes facts about single people. It takes no budget and no ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privclust.categorical.context import Context, association, choose_context
from privclust.categorical.estimate import Estimate, plain_estimate
from privclust.categorical.metric import CategoricalMetric, attribute_metric
from privclust.data.kernels.table import EntropyScale, PairLayout, pair_counts, subset_sums
from privclust.data.sources import DataError, open_rows
from privclust.data.sources.convert import decoded
from privclust.data.table import NoisyTables
from privclust.data.table_door import TableRows
from privclust.schema import Categories, Fact, Schema

__all__ = ["Dilca"]

Floats = NDArray[np.float64]
Rule = Literal["mean-su", "relevant-non-redundant", "max-relevance", "max-dependency"]

_RULES = ("mean-su", "relevant-non-redundant", "max-relevance", "max-dependency")


class Dilca(TransformerMixin, BaseEstimator):
    """Distances between the values of categorical attributes. NOT PRIVATE.

    Parameters
    ----------
    rule : str, default="mean-su"
        How the context of an attribute is chosen: ``"mean-su"`` (DILCA_M, all attributes with at
        least ``sigma`` times the mean symmetric uncertainty), ``"relevant-non-redundant"``
        (DILCA_RR), ``"max-relevance"`` (the k most informative attributes) or
        ``"max-dependency"`` (the most informative set of k attributes).
    context_size : int, default=3
        k, where the rule needs it.
    sigma : float, default=1.0
        The factor on the mean in ``"mean-su"``.
    ordinal : sequence of str, default=()
        Attributes whose order counts.
    schema : Schema or None
        The categories; read from the rows if not given.

    Attributes
    ----------
    metric_ : CategoricalMetric
        Coordinates of the values of every attribute.
    contexts_ : dict of str to tuple of str
        The context of every attribute.
    schema_ : Schema
        The schema used.
    """

    def __init__(
        self,
        rule: Rule = "mean-su",
        *,
        context_size: int = 3,
        sigma: float = 1.0,
        ordinal: Sequence[str] = (),
        schema: Schema | None = None,
    ) -> None:
        self.rule = rule
        self.context_size = context_size
        self.sigma = sigma
        self.ordinal = ordinal
        self.schema = schema

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the metric from the rows of ``X``, exactly."""
        if self.rule not in _RULES:
            raise ValueError(f"rule must be one of {_RULES}, got {self.rule!r}.")
        self.schema_ = schema_of_rows(X) if self.schema is None else self.schema
        with TableRows(X, self.schema_) as rows:
            codes, coder = rows.codes(), rows.coder
        layout = PairLayout.all_pairs(coder.sizes)
        estimate = plain_estimate(
            NoisyTables(layout, pair_counts(codes, layout).astype(np.float64), 0.0, 0.0)
        )
        parts = {}
        for target, context in enumerate(self._contexts(codes, estimate)):
            name = coder.names[target]
            parts[name] = attribute_metric(
                estimate,
                target,
                context,
                coder.names,
                coder.labels[target],
                ordinal=name in self.ordinal,
            )
        self.metric_ = CategoricalMetric(coder.names, parts)
        self.contexts_ = {name: part.context for name, part in parts.items()}
        self.n_features_in_ = len(coder.names)
        return self

    def transform(self, X: Any) -> Floats:
        """Return Euclidean coordinates of rows."""
        check_is_fitted(self)
        with TableRows(X, self.schema_) as rows:
            return self.metric_.embed(rows.codes())

    def pairwise_distances(self, X: Any, Y: Any = None) -> Floats:
        """Return the distances between the rows of ``X`` and those of ``Y``, or of ``X``."""
        left = self.transform(X)
        return np.asarray(cdist(left, left if Y is None else self.transform(Y)))

    def distance_matrix(self, attribute: str) -> Floats:
        """Return the distances between the values of one attribute."""
        check_is_fitted(self)
        return self.metric_[attribute].distances()

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{super().__repr__(N_CHAR_MAX)}  # NOT PRIVATE"

    def _contexts(self, codes: NDArray[Any], estimate: Estimate) -> list[Context]:
        n_attributes = len(estimate.layout.sizes)
        if self.rule == "max-dependency":
            return _best_sets(codes, estimate, min(self.context_size, n_attributes - 1))
        pairs = association(estimate)
        return [
            choose_context(self.rule, target, pairs, self.context_size, self.sigma)
            for target in range(n_attributes)
        ]


def _best_sets(codes: NDArray[Any], estimate: Estimate, size: int) -> list[Context]:
    """Return for each target the set of attributes that leaves the least entropy in it."""
    sizes = estimate.layout.sizes
    sums = subset_sums(codes, sizes, size, EntropyScale(len(codes)))
    sets = [chosen for chosen in sums if len(chosen) == size]

    def told(chosen: Context, target: int) -> int:
        return sums[tuple(sorted((*chosen, target)))] - sums[chosen]

    return [
        max((chosen for chosen in sets if target not in chosen), key=lambda c: told(c, target))
        for target in range(len(sizes))
    ]


def schema_of_rows(X: Any) -> Schema:
    """Return a schema that lists the values that occur. NOT PRIVATE."""
    found: dict[str, list[pa.Array]] = {}
    with open_rows(X) as source:
        for block in source.blocks():
            for name in block.names:
                found.setdefault(name, []).append(decoded(block.column(name)).unique())
    return Schema({name: _listed(name, parts) for name, parts in found.items()})


def _listed(name: str, parts: list[pa.Array]) -> Fact:
    values = pc.unique(pa.concat_arrays([part.cast(parts[0].type) for part in parts]))
    if pt.is_floating(values.type):
        raise DataError(f"Column {name!r} holds fractions; cut it into Bins in a schema.")
    listed = sorted(value for value in values.to_pylist() if value is not None)
    missing: Literal["category", "error"] = "category" if values.null_count else "error"
    return Categories(listed or ["(none)"], missing=missing)
