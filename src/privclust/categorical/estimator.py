"""``PrivateDilca``: its parameters, and what it asks and keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from privclust.budget import Budget
from privclust.categorical.base import CategoricalEstimator
from privclust.categorical.declared import Declared
from privclust.categorical.learning import BY_TARGET, Method, ask_metric
from privclust.categorical.result import Learning, Options
from privclust.data.table.door import TableRows
from privclust.data.view import Noisy
from privclust.estimator import Run
from privclust.exceptions import ParameterError
from privclust.ledger import Ledger
from privclust.opening.rows import PublicFacts
from privclust.parameters import flag
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
        The privacy loss allowed for the whole metric. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys much more accuracy for the same ε.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema, Categories, Bins or None
        The categories or bins of every column, from public knowledge; a single Categories or Bins
        if the same holds for every column.
    method : str, default="auto"
        ``"pairs"`` measures every pair of attributes once; ``"tree"`` only the pairs of a
        privately grown tree; ``"auto"`` means ``"tree"`` with pure ε and ``"pairs"`` with δ.
        ``"baseline"``, ``"mean-su"``, ``"max-relevance"`` and ``"max-dependency"`` are the
        published variants (Battaglia, Celano, Pensa 2021).
    context_rule : str, default="max-relevance"
        How ``"pairs"`` and ``"tree"`` choose contexts, at no cost: also ``"mean-su"``,
        ``"relevant-non-redundant"`` and ``"all"``.
    context_size : int, default=3
        k, the number of attributes in a context, where the rule fixes it.
    selection_share : float, default=0.3
        h, the share of the budget that the published variants spend on contexts.
    sigma : float, default=1.0
        The factor on the mean in ``"mean-su"``: attributes whose symmetric uncertainty is at least
        this many times the mean form the context.
    budget_per_target : bool, default=False
        Whether the budget is meant for each single target, as in the paper's figures. The fit then
        promises, and charges, the total: for m targets m · ε, or m · ρ with δ, except with
        ``"pairs"``, ``"tree"`` and ``"baseline"``, which measure once for all targets.
    targets : sequence of str or None
        The attributes to learn distances for; all if not given.
    ordinal : sequence of str, default=()
        Attributes whose order matters: P(Y <= y | x) is compared instead of P(y | x).
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
        What is promised, and which questions were asked.
    warnings_ : tuple of str
        The warnings of the fit.
    schema_ : Schema
        The schema used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

    References
    ----------
    Battaglia, Celano, Pensa, "Differentially Private Distance Learning in Categorical Data" (2021).
    Ienco, Pensa, Meo, "From Context to Distance: Learning Dissimilarity for Categorical Data
    Clustering" (2012).

    Examples
    --------
    >>> from privclust import Categories, Schema
    >>> schema = Schema({"city": Categories(["A", "B", "C"]), "car": Categories(["no", "yes"])})
    >>> rows = [["A", "yes"], ["B", "no"], ["C", "no"]]
    >>> PrivateDilca(epsilon=1.0, schema=schema).fit(rows).distance_matrix("city").shape
    (3, 3)
    """

    _checks: ClassVar[Any] = {**CategoricalEstimator._checks, "budget_per_target": flag()}

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
        sigma: float = 1.0,
        budget_per_target: bool = False,
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
        self.sigma = sigma
        self.budget_per_target = budget_per_target
        self.targets = targets
        self.ordinal = ordinal
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _budget(self) -> Budget:
        """Return the total: of all targets, if the budget is that of a single one."""
        budget = super()._budget()
        if not self.budget_per_target or self.method not in BY_TARGET:
            return budget
        n_targets = self._n_targets()
        if budget.delta:
            return Budget.of(Budget.of_rho(n_targets * budget.amount, budget.delta))
        return Budget.of(Budget(n_targets * budget.epsilon))

    def _n_targets(self) -> int:
        declared = self._declared()
        if self.targets is not None:
            return max(1, len(tuple(self.targets)))
        if not isinstance(declared, Schema):
            raise ParameterError(
                "budget_per_target needs to know the targets before the data are opened; name them "
                "in targets, or declare every column in the schema."
            )
        return len(declared.names)

    def _check_together(self) -> None:
        super()._check_together()
        declared = self._declared()
        if isinstance(declared, Schema):
            self._options(declared)

    def _ask(self, door: TableRows, run: Run, public: Any = None) -> Learning:
        view = door.private(run.meter, run.seed)
        options = self._options(door.schema)
        return ask_metric(view, run.budget.whole, self.method, options, tuple(self.ordinal))

    def _keep(self, facts: PublicFacts, result: Learning, public: Any = None) -> None:
        self._keep_metric(facts, result)

    def _noisy_number(self, result: Learning) -> Noisy:
        return result.learned.n_rows

    def _published(self) -> dict[str, Any]:
        published = super()._published()
        published["parameters"]["budget_per_target"] = bool(self.budget_per_target)
        return published

    def _options(self, schema: Schema) -> Options:
        names = schema.names if self.targets is None else tuple(self.targets)
        for name in (*names, *self.ordinal):
            if name not in schema:
                raise ParameterError(f"{name!r} is not a declared column; use names of the schema.")
        if not names:
            raise ParameterError("targets is empty; name at least one column or leave it out.")
        return self._context_options(schema, names)
