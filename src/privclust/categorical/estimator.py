"""``PrivateDilca``: its parameters, and what it asks and keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from privclust.budget import Budget
from privclust.categorical.base import CategoricalEstimator
from privclust.categorical.learning import Method, learn_metric
from privclust.categorical.metric_mixin import Declared
from privclust.categorical.papers import Options
from privclust.categorical.result import Learning
from privclust.data.table.door import TableRows
from privclust.data.table.public import check_subsets
from privclust.estimator import Run
from privclust.exceptions import ParameterError
from privclust.ledger import Ledger
from privclust.parameters import fraction
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateDilca"]


class PrivateDilca(CategoricalEstimator):
    """Distances between the values of categorical attributes that may be published.

    Two values are near if they occur together with the same values of other attributes, their
    context (DILCA; Ienco, Pensa, Meo 2012).

    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy loss allowed for the whole metric. Smaller is more private, less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys much accuracy for the same ε.
    budget : Budget or None, default=None
        In place of ``epsilon`` and ``delta``, such as ``Budget.of_rho(0.1, 1e-6)``.
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
    warnings_ : tuple of str
        What the fit warned of.
    schema_ : Schema
        The schema used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

    Examples
    --------
    >>> from privclust import Categories, Schema
    >>> schema = Schema({"city": Categories(["A", "B", "C"]), "car": Categories(["no", "yes"])})
    >>> rows = [["A", "yes"], ["B", "no"], ["C", "no"]]
    >>> PrivateDilca(epsilon=1.0, schema=schema).fit(rows).distance_matrix("city").shape
    (3, 3)
    """

    _checks: ClassVar[Any] = {**CategoricalEstimator._checks, "selection_share": fraction()}

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
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
        self.budget = budget
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

    def _check_together(self) -> None:
        super()._check_together()
        declared = self._declared()
        if isinstance(declared, Schema):
            self._options(declared)

    def _ask(self, data: TableRows, run: Run, public: Any = None) -> Learning:
        view = data.private(run.meter, run.seed)
        options = self._options(data.schema)
        return learn_metric(view, run.budget.whole, self.method, options, tuple(self.ordinal))

    def _keep(self, data: TableRows, result: Learning, public: Any = None) -> None:
        self._keep_metric(data, result)

    def _published(self) -> dict[str, Any]:
        published = super()._published()
        published["parameters"]["selection_share"] = float(self.selection_share)
        return published

    def _options(self, schema: Schema) -> Options:
        names = schema.names if self.targets is None else tuple(self.targets)
        for name in (*names, *self.ordinal):
            if name not in schema:
                raise ParameterError(f"{name!r} is not a declared column; use names of the schema.")
        if not names:
            raise ParameterError("targets is empty; name at least one column or leave it out.")
        options = self._context_options(schema, names)
        if self.method == "max-dependency":
            check_subsets(len(schema), options.context_size)
        return replace(options, selection_share=self.selection_share)
