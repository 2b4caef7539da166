"""``PrivateDilca``: a private metric on categories, and what every estimator with one shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from privclust.budget import Budget
from privclust.categories.learn import (
    METHODS,
    USUAL_CONTEXT,
    LearningMethod,
    MetricResult,
    Options,
    ask_metric,
    usual_method,
)
from privclust.categories.plan import NOISE, synthetic
from privclust.categories.predicting import MetricMixin
from privclust.categories.release import release_arrays
from privclust.categories.task import DISTANCES
from privclust.data.public import Noisy
from privclust.data.table.view import TableRows
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError, SchemaError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note, category_notes
from privclust.opening.rows import Opened, PublicFacts, open_table
from privclust.parameters import WHOLE
from privclust.plan import Plan, rehearse
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit, unit_from

# What is declared about columns that a learned metric compares.

# A schema, one fact for every column alike, or one fact for each.
Declared = Schema | Bins | Categories | Sequence[Bins | Categories]


def check_width(schema: Schema) -> None:
    """Raise unless there are columns to compare values by."""
    if len(schema) < 2:
        raise SchemaError(
            "A categorical metric compares values by other columns, but the data have "
            "1 feature(s) only; declare at least two."
        )


_NOTHING_DECLARED = (
    "No categories are declared; pass a schema that lists the values of every column, from public "
    "knowledge and never from the data."
)


class CategoricalEstimator(MetricMixin, PrivateEstimator):
    """What the private estimators with a learned categorical metric share."""

    _kind = "categorical"
    _methods: ClassVar[Mapping[str, LearningMethod]] = METHODS

    cell_error_: float
    unit: Unit | str
    method: str
    context_size: Any
    # What a subclass without these parameters has.
    context_rule: str = "max-relevance"
    sigma: float = 1.0
    selection_share: float = 0.3

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 20 000 are generated.
        n_features : int or None
            The number of columns, if the schema does not say.
        """
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        schema, unit = self._planned_schema(n_features), row_unit(self.unit)
        every = self._method_name() in ("pairs", "baseline")
        return rehearse(
            self,
            lambda _: synthetic(schema, int(n_rows), unit, every_pair=every),
            n_rows=int(n_rows),
            measure=NOISE,
            known={"schema": schema},
            times=1,  # the noise does not depend on the rows
        )

    def _planned_schema(self, n_features: int | None) -> Schema:
        declared = self._declared_schema()
        if not isinstance(declared, Schema) and n_features is None:
            raise SchemaError("One fact does not say how many columns there are; give n_features.")
        return Schema.of(declared, names=[f"x{i}" for i in range(n_features or 0)])

    def _declared_schema(self) -> Declared:
        """Return the schema, or the facts that hold for columns without a name."""
        if self.schema is None:
            raise SchemaError(_NOTHING_DECLARED)
        if isinstance(self.schema, (Bins, Box, Categories, list, tuple)):
            return self.schema  # type: ignore[return-value]  # the door refuses a Box
        return Schema.of(self.schema)

    def _check_combinations(self) -> None:
        declared = self._declared_schema()
        if isinstance(declared, Schema):
            check_width(declared)

    def _open(self, X: Any, public: Any = None) -> Opened:
        return open_table(X, self._declared_schema(), unit=unit_from(self.unit))

    def _door(self, opened: Opened) -> TableRows:
        return TableRows(opened)

    def _check_before_charge(self, door: TableRows, public: Any = None) -> None:
        self._options(door.schema)

    def _options(self, schema: Schema) -> Options:
        """Return the choices of the methods; raise if the schema does not allow them."""
        return self._context_options(schema, schema.names)

    def _method_name(self) -> str:
        return usual_method(self._budget().currency) if self.method == "auto" else self.method

    def _context_options(self, schema: Schema, targets: Sequence[str]) -> Options:
        check_width(schema)
        return Options(
            targets=tuple(schema.names.index(name) for name in targets),
            context_size=USUAL_CONTEXT if self.context_size == "auto" else int(self.context_size),
            fits_noise=self.context_size == "auto",
            selection_share=self.selection_share,
            rule=self.context_rule,
            sigma=float(self.sigma),
        )

    def _keep_metric(self, facts: PublicFacts, learning: MetricResult) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, self.metric_ = facts.schema, learning.metric
        parts = learning.metric.attributes
        self.contexts_ = {name: part.context for name, part in parts.items()}
        self.cell_error_ = learning.learned.cell_error

    def _release_fields(self) -> dict[str, Any]:
        return {
            "arrays": release_arrays(self.metric_, self.schema_, self.cell_error_),
            "schema": self.schema_,
            "parameters": {
                "method": self.method,
                "context_rule": self.context_rule,
                "context_size": self.context_size,
                "sigma": float(self.sigma),
            },
        }

    def _columns_to_ignore(self) -> Sequence[str]:
        id_column = row_unit(self.unit).id_column
        return [] if id_column is None else [id_column]


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
    method : {"auto", "pairs", "tree"}, default="auto"
        ``"pairs"`` measures every pair of attributes once; ``"tree"`` only the pairs of a
        privately grown tree; ``"auto"`` means ``"tree"`` with pure ε and ``"pairs"`` with δ. The
        published variants are :class:`privclust.papers.dilca.PrivateContextDilca`.
    context_rule : {"max-relevance", "mean-su", "relevant-non-redundant", "all"}, \
            default="max-relevance"
        How contexts are chosen, at no cost.
    context_size : int, default=3
        k, the number of attributes in a context, where the rule fixes it.
    sigma : float, default=1.0
        The factor on the mean in ``"mean-su"``: attributes whose symmetric uncertainty is at least
        this many times the mean form the context.
    targets : sequence of str or None, default=None
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

    _parameters: ClassVar[Any] = DISTANCES.variants[0].parameters

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Declared | None = None,
        method: Literal["auto", "pairs", "tree"] = "auto",
        context_rule: str = "max-relevance",
        context_size: int = 3,
        sigma: float = 1.0,
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
        self.sigma = sigma
        self.targets = targets
        self.ordinal = ordinal
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _check_combinations(self) -> None:
        super()._check_combinations()
        declared = self._declared_schema()
        if isinstance(declared, Schema):
            self._options(declared)

    def _ask(self, door: TableRows, run: Run, public: Any = None) -> MetricResult:
        view = door.private(run.meter, run.seed)
        options = self._options(door.schema)
        ask = self._methods[self._method_name()]
        return ask_metric(view, run.budget.whole, ask, options, tuple(self.ordinal))

    def _keep(self, facts: PublicFacts, result: MetricResult, public: Any = None) -> None:
        self._keep_metric(facts, result)

    def _noisy_number(self, result: MetricResult) -> Noisy:
        return result.learned.n_rows

    def _common_notes(self, unit: Unit, budget: Budget, result: MetricResult) -> Iterator[Note]:
        """Yield also which columns have mostly missing or unlisted values, by their histograms."""
        yield from super()._common_notes(unit, budget, result)
        found = next(iter(result.learned.estimates.values()))
        n_rows = max(float(found.n_rows), 1.0)
        errors = np.sqrt(np.broadcast_to(found.margin_variances, found.margins.shape))
        yield from category_notes(self.schema_, found.margins / n_rows, errors / n_rows, n_rows)

    def _options(self, schema: Schema) -> Options:
        names = schema.names if self.targets is None else tuple(self.targets)
        for name in (*names, *self.ordinal):
            if name not in schema:
                raise ParameterError(f"{name!r} is not a declared column; use names of the schema.")
        if not names:
            raise ParameterError("targets is empty; name at least one column or leave it out.")
        return self._context_options(schema, names)
