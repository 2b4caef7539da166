"""``PrivateDilca``: the scikit-learn shell around the ways to learn a categorical metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from privclust.budget import Share
from privclust.categorical.metric import CategoricalMetric, attribute_metric
from privclust.categorical.metric_mixin import Declared
from privclust.categorical.pairs import pairs, tree
from privclust.categorical.papers import (
    Learned,
    Options,
    baseline,
    max_dependency,
    max_relevance,
    mean_su,
)
from privclust.categorical.release import release_arrays
from privclust.categorical.transformer import CategoricalTransformer
from privclust.data.table.view import TableView, check_subsets
from privclust.ledger import Ledger
from privclust.privacy.meter import Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateDilca", "learn_metric"]

Method = Literal["auto", "pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency"]

_METHODS = {
    "pairs": pairs,
    "tree": tree,
    "baseline": baseline,
    "mean-su": mean_su,
    "max-relevance": max_relevance,
    "max-dependency": max_dependency,
}


def learn_metric(
    view: TableView,
    share: Share,
    method: str,
    options: Options,
    ordinal: tuple[str, ...] = (),
) -> tuple[CategoricalMetric, Learned]:
    """Return the metric that a method learns within ``share``, and what it was made from."""
    if method == "auto":
        method = "pairs" if share.currency == "zcdp" else "tree"
    learned = _METHODS[method](view, share, options)
    parts = {
        view.names[target]: attribute_metric(
            learned.estimates[target],
            target,
            context,
            view.names,
            view.labels[target],
            ordinal=view.names[target] in ordinal,
        )
        for target, context in learned.contexts.items()
    }
    return CategoricalMetric(view.names, parts), learned


class PrivateDilca(CategoricalTransformer):
    """Distances between the values of categorical attributes that may be published.

    Two values are near if they occur together with the same values of other attributes, their
    context (DILCA; Ienco, Pensa, Meo 2012).

    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy loss allowed for the whole metric. Smaller is more private, less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys much accuracy for the same ε.
    schema : Schema, Categories, Bins or None
        The categories or bins of every column, from public knowledge; one Categories or Bins is
        the short form where the same holds for every column.
    method : str, default="auto"
        ``"pairs"`` measures every pair of attributes once; ``"tree"`` only the pairs of a
        privately grown tree; ``"auto"`` is ``"tree"`` with pure ε and ``"pairs"`` with δ.
        ``"baseline"``, ``"mean-su"``, ``"max-relevance"`` and ``"max-dependency"`` are the
        published variants (Battaglia, Celano, Pensa 2021).
    context_rule : str, default="max-relevance"
        How ``"pairs"`` and ``"tree"`` choose contexts, at no cost: also ``"mean-su"``,
        ``"relevant-non-redundant"`` and ``"all"``.
    context_size : int, default=3
        k, the number of attributes in a context, where the rule fixes it.
    selection_share : float, default=0.3
        h, the share of the budget that the published variants spend on contexts.
    targets : sequence of str or None
        The attributes that get distances; all if not given.
    ordinal : sequence of str, default=()
        Attributes whose order counts: P(Y <= y | x) is compared instead of P(y | x).
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    metric_ : CategoricalMetric
        Coordinates of the values of every attribute.
    contexts_ : dict of str to tuple of str
        The context of every attribute.
    cell_error_ : float
        The standard error of the noise on a cell of the tables that were measured.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    schema_ : Schema
        The schema used.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from privclust import Categories, Schema
    >>> schema = Schema({"city": Categories(["A", "B", "C"]), "car": Categories(["no", "yes"])})
    >>> rows = [["A", "yes"], ["B", "no"], ["C", "no"]]
    >>> PrivateDilca(epsilon=1.0, schema=schema).fit(rows).distance_matrix("city").shape
    (3, 3)
    """

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        schema: Declared | None = None,
        method: Method = "auto",
        context_rule: str = "max-relevance",
        context_size: int = 3,
        selection_share: float = 0.3,
        targets: Sequence[str] | None = None,
        ordinal: Sequence[str] = (),
        unit: Unit | str = "add-remove-row",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.method = method
        self.context_rule = context_rule
        self.context_size = context_size
        self.selection_share = selection_share
        self.targets = targets
        self.ordinal = ordinal
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the metric from the rows of ``X`` and keep what was released.

        Parameters
        ----------
        X : array, data frame, Arrow data or path of a CSV or Parquet file
            The private rows.
        y : ignored
        """
        budget, (seed, _) = self._budget(), self._seeds()
        with self._open(X) as rows:
            options = self._options(rows.schema)
            self._warn_of_leaks()
            receipt = self._reserve(budget, rows.unit)
            meter = Meter(budget)
            view = rows.private(meter, seed)
            metric, learned = learn_metric(
                view, budget.whole, self.method, options, tuple(self.ordinal)
            )
        self._remember_columns(rows.names, rows.n_columns)
        self.schema_, self.metric_ = rows.schema, metric
        self.contexts_ = {name: part.context for name, part in metric.attributes.items()}
        self.cell_error_ = learned.cell_error
        self.privacy_ = PrivacyStatement.from_meter(
            meter, unit=rows.unit, private=seed is None, receipt=receipt
        )
        self._settle()
        return self

    def release(self) -> Release:
        """Return what may be published: the metric and the privacy statement."""
        check_is_fitted(self)
        return Release(
            kind="categorical",
            arrays=release_arrays(self.metric_, self.schema_, self.cell_error_),
            schema=self.schema_,
            parameters={
                "method": self.method,
                "context_rule": self.context_rule,
                "context_size": int(self.context_size),
                "selection_share": float(self.selection_share),
            },
            privacy=self.privacy_,
        )

    def _options(self, schema: Schema) -> Options:
        if self.method != "auto" and self.method not in _METHODS:
            raise ValueError(f"method must be one of {['auto', *_METHODS]}, got {self.method!r}.")
        if not 0 < self.selection_share < 1:
            raise ValueError(
                f"selection_share must be above 0 and below 1, got {self.selection_share!r}."
            )
        names = schema.names if self.targets is None else tuple(self.targets)
        for name in (*names, *self.ordinal):
            if name not in schema:
                raise ValueError(f"{name!r} is not a declared column; use names of the schema.")
        if not names:
            raise ValueError("targets is empty; name at least one column or leave it out.")
        options = self._context_options(schema, names)
        if self.method == "max-dependency":
            check_subsets(len(schema), options.context_size)
        return replace(options, selection_share=self.selection_share)
