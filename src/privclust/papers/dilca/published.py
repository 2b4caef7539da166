"""DILCA without privacy (Ienco, Pensa, Meo 2012), and its measures of information; NOT PRIVATE.

These are the measures that DILCA and its private variants choose contexts by (Ienco, Pensa, Meo
2012; Battaglia, Celano, Pensa 2021), exact, for comparison. One row can change symmetric
uncertainty by 1, however many rows there are.

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
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from privclust.categories.context import Context, association, choose_context
from privclust.categories.estimator import Declared, check_width
from privclust.categories.metric import CategoricalMetric, attribute_metric
from privclust.categories.predicting import MetricMixin
from privclust.categories.shrinkage import Estimate, clip_tables
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.table import category_line
from privclust.data.columns.words import category_refusal
from privclust.data.table.kernels import EntropyScale, pair_counts, subset_sums
from privclust.data.table.public import NoisyTables, PairLayout
from privclust.holder.answers import OwnTable
from privclust.opening.rows import PublicFacts, open_table
from privclust.reading.opening import open_rows
from privclust.schema.facts import Categories, Fact
from privclust.schema.writing import Writing

# Entropy, mutual information and symmetric uncertainty of columns, in bits. NOT PRIVATE.


def entropy(*columns: ArrayLike) -> float:
    """Return the joint entropy of some columns.

    Examples
    --------
    >>> entropy(["a", "b", "a", "b"])
    1.0
    """
    rows = np.column_stack([np.unique(np.asarray(c), return_inverse=True)[1] for c in columns])
    shares = np.unique(rows, axis=0, return_counts=True)[1] / len(rows)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def mutual_information(
    first: ArrayLike, second: ArrayLike, *, given: tuple[ArrayLike, ...] = ()
) -> float:
    """Return I(first; second), or I(first; second | given).

    Parameters
    ----------
    first, second : array-like of shape (n_rows,)
    given : tuple of array-like, default=()
        Columns that are known already: what the second says about the first beyond them.

    Examples
    --------
    >>> mutual_information([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    >>> mutual_information([0, 1, 1, 0], [0, 0, 1, 1]), mutual_information(
    ...     [0, 1, 1, 0], [0, 0, 1, 1], given=([0, 1, 0, 1],)
    ... )
    (0.0, 1.0)
    """
    known = entropy(*given) if given else 0.0
    with_first, with_second = entropy(first, *given), entropy(second, *given)
    return with_first + with_second - entropy(first, second, *given) - known


def symmetric_uncertainty(first: ArrayLike, second: ArrayLike) -> float:
    """Return 2 I(first; second) / (H(first) + H(second)), from 0 to 1; 0 if both are constant.

    Examples
    --------
    >>> symmetric_uncertainty([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    """
    both = entropy(first) + entropy(second)
    return 2 * mutual_information(first, second) / both if both > 0 else 0.0


Rule = Literal["mean-su", "relevant-non-redundant", "max-relevance", "max-dependency"]

_RULES = ("mean-su", "relevant-non-redundant", "max-relevance", "max-dependency")


class Dilca(MetricMixin, BaseEstimator):
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
    schema : Schema, Categories, Bins or None
        The categories, or those that all columns share; read from the rows if not given.

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
        schema: Declared | None = None,
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
        declared = infer_facts(X) if self.schema is None else self.schema
        with open_table(X, declared) as opened:
            own, facts = OwnTable(opened), opened.facts
            check_width(facts.schema)
            codes, coder = own.codes(), own.coder
        layout = PairLayout.all_pairs(coder.sizes)
        estimate = clip_tables(
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
        self.schema_ = facts.schema
        self._remember_columns(facts)
        return self

    def _remember_columns(self, facts: PublicFacts) -> None:
        self.n_features_in_ = facts.n_columns
        if facts.names is not None:
            self.feature_names_in_ = np.array(facts.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

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

    def relevance(chosen: Context, target: int) -> int:
        return sums[tuple(sorted((*chosen, target)))] - sums[chosen]

    return [
        max((chosen for chosen in sets if target not in chosen), key=lambda c: relevance(c, target))
        for target in range(len(sizes))
    ]


def infer_facts(X: Any) -> list[Fact]:
    """Return the values that occur in each column. NOT PRIVATE."""
    found: dict[str, list[pa.Array]] = {}
    with open_rows(X) as source:
        for block in source.blocks():
            for name in block.names:
                found.setdefault(name, []).append(block.column(name).words())
    return [_values_of(name, parts) for name, parts in found.items()]


def _values_of(name: str, parts: list[pa.Array]) -> Fact:
    values = pc.unique(pa.concat_arrays([part.cast(parts[0].type) for part in parts]))
    if pt.is_floating(values.type):  # as pandas stores integers when one of them is missing
        stored = TypedColumn.of(values)
        read = category_line("integer", Writing()).read(stored)
        if read.foreign.any():
            raise category_refusal(stored, name, "integer")
        values = read.values
    listed = sorted(value for value in values.to_pylist() if value is not None)
    missing: Literal["category", "error"] = "category" if values.null_count else "error"
    return Categories(listed or ["(none)"], missing=missing)
