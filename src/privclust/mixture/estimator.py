"""``PrivateGaussianMixture``: its parameters, what it asks, what it keeps and publishes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget
from privclust.clustering.estimator import RowsEstimator
from privclust.clustering.missing import ask_missing, split_for_missing
from privclust.clustering.predicting import OpenedAgain
from privclust.clustering.release import scaling_parameters
from privclust.clustering.task import AUTO
from privclust.data.points.door import PointRows, region_of
from privclust.data.points.public import MOST_COLUMNS, MOST_COMPONENTS
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError, SchemaError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.mixture.ask_mixture import ASSUMED, MOST_CHOSEN, MixtureResult, Wanted, ask_mixture
from privclust.mixture.model import as_declared, as_matrices, precision_roots
from privclust.mixture.plan import PERPLEXITY, synthetic_mixture_rows
from privclust.mixture.predicting import MixtureAnswers
from privclust.mixture.task import MIXTURE
from privclust.opening.rows import Opened, PublicFacts
from privclust.parameters import check_memory
from privclust.plan import Plan, Rehearsal
from privclust.predicting import PrivateClusterMixin
from privclust.release.release import Release
from privclust.reports.values import count_of
from privclust.schema.schema import Schema
from privclust.unit import Unit
from privclust.unit.rows import RowUnit


class PrivateGaussianMixture(OpenedAgain, MixtureAnswers, PrivateClusterMixin, RowsEstimator):
    """A Gaussian mixture whose weights, means and covariances may be published.

    Its components are soft clusters that may be long, overlap, and differ in width. A part of the
    budget buys a first mixture; a few noisy steps of expectation and maximisation make it better.

    Parameters
    ----------
    n_components : int or "auto", default=1
        The number of components. ``"auto"`` takes, of 1 to 16, the one that describes the
        cells of the first mixture best; with few rows or much overlap it counts too few.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        What shapes components may have: any, one that all share, along the columns, or round.
    background : bool, default=False
        Whether rows may belong to no component: spread evenly over the bounds, they keep a few rows
        far away from spoiling densities, and get the label -1.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema or None
        Public bounds of every column; numbers only.
    bounds : tuple of (low, high) or None
        Shorthand for a schema: bounds that hold for all columns, or one value per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    missing_share : float, default=0.02
        The share of the budget that counts missing values for which a rule stands, in columns with
        ``missing=`` a constant or ``"omit"``; 0, or no such column, asks nothing.
    reg_covar : float, default=1e-07
        The least variance of a component along any direction, in squares of half a declared width.
    rescale : bool or None, default=None
        Look for the first mixture in units of the declared width of each column. ``None`` means
        True with a schema that has no ball, and False with bounds.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Released weights; they add up to one.
    weights_error_ : ndarray of shape (n_components,)
        Their standard errors: of the noise, and of the steps that were not made.
    background_weight_ : float
        The share of rows that belong to no component; zero without ``background``.
    means_ : ndarray of shape (n_components, n_features)
        Released means, within the declared bounds.
    means_error_ : ndarray of shape (n_components, n_features)
        The standard errors of their coordinates, likewise.
    covariances_ : ndarray
        Released covariances, of the same shape as scikit-learn's for each ``covariance_type``.
    precisions_, precisions_cholesky_ : ndarray
        Their inverses and the roots of these, likewise.
    hidden_ : ndarray of bool, of shape (n_components,)
        Which components noise hides.
    n_rows_ : float
        The noisy number of rows.
    n_rows_error_ : float
        Its standard error.
    n_components_ : int
        The number of components.
    component_scores_ : ndarray of shape (n_tried,) or None
        With ``n_components="auto"``, a score of each number from 1; the lowest was taken.
    n_steps_ : int
        The number of noisy steps.
    missing_counts_ : dict of str to float
        About how many values a rule stood for in each column; only where ``missing_share`` paid.
    missing_counts_error_ : float
        The standard error of each of these numbers.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides components or their shapes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Notes
    -----
    Answers about rows, such as ``predict_proba`` and ``bic``, are exact statements for the holder
    of the rows; they are not private and nothing of them is kept. scikit-learn's ``converged_``,
    ``n_iter_`` and ``lower_bound_`` are not there, because they would mean something else.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateGaussianMixture
    >>> rows = np.random.default_rng(0).normal([[2, 2], [6, 6]] * 5000, 0.3)
    >>> model = PrivateGaussianMixture(2, epsilon=1.0, bounds=(0, 8)).fit(rows)
    >>> model.covariances_.shape
    (2, 2, 2)
    """

    _kind = "mixture"
    _parameters: ClassVar[Any] = MIXTURE.variants[0].parameters

    def __init__(
        self,
        n_components: int | Literal["auto"] = 1,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        background: bool = False,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Any = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        missing_share: float = 0.02,
        reg_covar: float = 1e-7,
        rescale: bool | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.background = background
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.missing_share = missing_share
        self.reg_covar = reg_covar
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def release(self) -> Release:
        """Return the mixture in the form to publish: the release that the ledger recorded."""
        return PrivateEstimator.release(self)

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.
        """

        def drawn(schema: Schema, count: int, unit: RowUnit, seed: int) -> Rehearsal:
            return synthetic_mixture_rows(schema, self._n_or(ASSUMED), count, unit, seed)

        return self._plan_facts(n_rows, n_features).rehearse(drawn, PERPLEXITY)

    # The steps of a fit.
    def _open(self, X: Any, public: Any = None) -> Opened:
        if self.schema is not None:
            _check_numbers(Schema.of(self.schema))
        return super()._open(X, public)

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        _check_size(self._n_or(MOST_CHOSEN), door.domain.dimension)
        super()._check_before_charge(door, public)

    def _n_or(self, otherwise: int) -> int:
        """Return the number of components, or another one if it is to be chosen."""
        return otherwise if self.n_components == AUTO else int(self.n_components)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> MixtureResult:
        view = door.private(run.meter, run.seed)
        wanted = Wanted(
            None if self.n_components == AUTO else int(self.n_components),
            self.covariance_type,
            float(self.reg_covar),
            bool(self.background),
        )
        share, rest = split_for_missing(run.budget.whole, door.schema, self.missing_share)
        result = ask_mixture(view, share, wanted, run.public_rng)
        return replace(result, missing=ask_missing(door, run, rest))

    def _keep(self, facts: PublicFacts, result: MixtureResult, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, self._scaled = facts.schema, self._scaling(facts.schema)
        domain, fitted = region_of(self.schema_, **self._scaled), result.fitted
        lengths = domain.scales * domain.radius
        order = np.argsort(-fitted.mixture.weights, kind="stable")
        mixture = fitted.mixture.reorder(order)
        self.weights_ = mixture.weights
        self.means_ = domain.in_data_units(mixture.means)
        covariances = mixture.covariances * lengths[:, None] * lengths
        self.covariances_ = as_declared(covariances, self.covariance_type)
        roots = precision_roots(covariances)
        self.precisions_cholesky_ = as_declared(roots, self.covariance_type)
        precisions = roots @ roots.swapaxes(1, 2)
        self.precisions_ = as_declared(precisions, self.covariance_type)
        self.weights_error_ = np.minimum(result.weights_error[order], 1.0)
        widths = self.schema_.high - self.schema_.low
        self.means_error_ = np.minimum(result.means_error[order] * lengths, widths / 2)
        self.background_weight_ = 0.0 if fitted.background is None else fitted.background.weight
        self.hidden_ = np.logical_not(fitted.visible[order])
        self.n_rows_, self.n_rows_error_ = (
            float(result.number.value[0]),
            result.number.standard_error,
        )
        self.n_steps_, self.n_components_ = result.n_steps, len(order)
        self.component_scores_ = result.scores

    def _noisy_number(self, result: MixtureResult) -> Noisy:
        return result.number

    def _centres_and_sizes(self, result: MixtureResult) -> tuple[Floats, Noisy]:
        counts = np.sort(result.fitted.counts)[::-1]
        return self.means_, Noisy(counts, result.fitted.counts_error)

    def _release_fields(self) -> dict[str, Any]:
        return {
            "arrays": {
                "weights": self.weights_,
                "weights_error": self.weights_error_,
                "means": self.means_,
                "means_error": self.means_error_,
                "covariances": as_matrices(
                    self.covariances_, self.covariance_type, self.means_.shape
                ),
                "background_weight": np.array([self.background_weight_]),
                "hidden": self.hidden_.astype(np.int64),
                "n_rows": np.array([self.n_rows_]),
                "n_rows_error": np.array([self.n_rows_error_]),
            }
            | ({} if self.component_scores_ is None else {"scores": self.component_scores_}),
            "schema": self.schema_,
            "parameters": {
                "n_components": len(self.weights_),
                "covariance_type": self.covariance_type,
                "n_steps": self.n_steps_,
                **scaling_parameters(**self._scaled),
            },
        }


def _check_size(n_components: int, n_columns: int) -> None:
    if n_components > MOST_COMPONENTS or n_columns > MOST_COLUMNS:
        raise ParameterError(
            f"A mixture of {count_of(n_components, 'component')} in {n_columns} columns is beyond "
            f"{MOST_COMPONENTS} components or {MOST_COLUMNS} columns, up to which it is exact; "
            "ask for fewer, or use PrivateKMeans."
        )
    check_memory(8.0 * 64 * n_components * n_columns**2, "ask for fewer components or columns")


def _check_numbers(schema: Schema) -> None:
    if schema.categorical:
        raise SchemaError(
            f"Column {schema.categorical[0]!r} is declared as categorical, but a Gaussian mixture "
            "needs numbers; drop it, or use PrivateKMeans, which takes both."
        )
