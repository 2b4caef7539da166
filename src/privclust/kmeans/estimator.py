"""``PrivateKMeans``: the scikit-learn shell around the private k-means algorithms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust.base import PrivateEstimator
from privclust.data.door import PointRows, schema_from_bounds
from privclust.kmeans.lloyd import lloyd
from privclust.kmeans.rehearsal import as_table, best_inertia, synthetic_rows
from privclust.kmeans.subcluster import subcluster
from privclust.plan import Plan
from privclust.privacy.ledger import Ledger
from privclust.privacy.meter import Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.schema import Schema
from privclust.unit import Person, Unit, unit_from

__all__ = ["PrivateKMeans"]

Floats = NDArray[np.float64]

_REHEARSALS = 3
_MOST_REHEARSED = 100_000

_METHODS = {"auto": subcluster, "subcluster": subcluster, "lloyd": lloyd}


class PrivateKMeans(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, PrivateEstimator
):
    """k-means clustering whose centres and sizes may be published.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    schema : Schema or None
        Public bounds of every column.
    bounds : tuple of (low, high) or None
        The short form of a schema: bounds for all columns, or one per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    method : {"auto", "subcluster", "lloyd"}, default="auto"
        ``"subcluster"`` counts many small cells first and clusters them; ``"lloyd"`` is the noisy
        Lloyd iteration of the literature. ``"auto"`` is ``"subcluster"``.
    rescale : bool, default=False
        Measure distances in units of the declared width of each column. Use it instead of a
        scaler, which would leak, when columns have different units.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Released centres, within the declared bounds.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they may be negative.
    cluster_sizes_error_ : float
        The standard error of each of them.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    schema_ : Schema
        The schema used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the data had names.

    Notes
    -----
    Labels of the training rows and their inertia are exact statements about private rows. They are
    not kept: ``fit_predict`` and ``score`` return them to whoever holds the rows.

    Examples
    --------
    >>> from privclust import PrivateKMeans
    >>> model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (3, 2)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        method: Literal["auto", "subcluster", "lloyd"] = "auto",
        rescale: bool = False,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.method = method
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def fit(self, X: Any, y: object = None) -> Self:
        """Cluster the rows of ``X`` and keep the released centres.

        Parameters
        ----------
        X : array, sparse matrix, data frame, Arrow data or path of a CSV or Parquet file
            The private rows.
        y : ignored
        """
        with self._open(X) as rows:
            return self._fit(rows)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as rows:
            return self._labels(rows)

    def fit_predict(self, X: Any, y: object = None) -> NDArray[np.int32]:
        """Fit, and return the label of each row to the caller; the labels are not kept."""
        with self._open(X) as rows:
            return self._fit(rows)._labels(rows)

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row to each released centre."""
        with self._open_again(X) as rows:
            return rows.distances(self.cluster_centers_)

    def score(self, X: Any, y: object = None) -> float:
        """Return minus the inertia of the rows; an exact statement about them, not a release."""
        with self._open_again(X) as rows:
            return -rows.inertia(self.cluster_centers_)

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are made.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds tell it.
        """
        self._check_parameters()
        unit = unit_from(self.unit)
        schema = self.schema or schema_from_bounds(self.bounds, None, n_features)
        n_rows = min(int(n_rows), _MOST_REHEARSED)
        known = {"schema": schema, "bounds": None, "ledger": None}
        rehearsal = type(self)(**{**self.get_params(deep=False), **known})
        ratios = []
        for seed in range(_REHEARSALS):
            rows = synthetic_rows(schema, self.n_clusters, n_rows, seed)
            rehearsal.set_params(random_state=seed).fit(as_table(rows, schema, unit))
            best = best_inertia(rows / rehearsal._widths(schema), self.n_clusters)
            ratios.append(-rehearsal.score(as_table(rows, schema, unit)) / best)
        statement = replace(rehearsal.privacy_, private=True)
        return Plan(statement, n_rows, float(np.mean(ratios)), "inertia")

    def release(self) -> Release:
        """Return what may be published: centres, sizes and the privacy statement."""
        check_is_fitted(self)
        return Release(
            kind="kmeans",
            arrays={
                "cluster_centers": self.cluster_centers_,
                "cluster_sizes": self.cluster_sizes_,
                "cluster_sizes_error": np.full(self.n_clusters, self.cluster_sizes_error_),
            },
            schema=self.schema_,
            parameters={
                "n_clusters": int(self.n_clusters),
                "method": self.method,
                "rescale": bool(self.rescale),
            },
            privacy=self.privacy_,
        )

    def _open(self, X: Any) -> PointRows:
        self._check_parameters()
        return PointRows(
            X,
            schema=self.schema,
            bounds=self.bounds,
            unit=unit_from(self.unit),
            rescale=self.rescale,
        )

    def _open_again(self, X: Any) -> PointRows:
        """Open new rows; a schema and an id column are looked for by name, at the door."""
        check_is_fitted(self)
        unit, schema = unit_from(self.unit), self.schema_
        if self.schema is None and not isinstance(unit, Person):
            self._compare_columns(X)
        if not hasattr(self, "feature_names_in_"):
            return PointRows(X, bounds=(schema.low, schema.high), rescale=self.rescale)
        ignore = [unit.id_column] if isinstance(unit, Person) else []
        return PointRows(X, schema=schema, rescale=self.rescale, ignore=ignore)

    def _fit(self, rows: PointRows) -> Self:
        budget, (seed, rng) = self._budget(), self._seeds()
        self._warn_of_leaks()
        receipt = self._reserve(budget, rows.unit)
        meter = Meter(budget)
        view = rows.private(meter, seed)
        result = _METHODS[self.method](view, budget.whole, self.n_clusters, rng)
        centres = rows.domain.to_data_units(result.centres)
        self._remember_columns(rows.names, rows.n_columns)
        self.schema_ = rows.schema
        self.cluster_centers_ = np.clip(centres, rows.schema.low, rows.schema.high)
        self.cluster_sizes_ = result.sizes.value
        self.cluster_sizes_error_ = result.sizes.standard_error
        self.privacy_ = PrivacyStatement.from_meter(
            meter, unit=rows.unit, private=seed is None, receipt=receipt
        )
        self._n_features_out = self.n_clusters
        self._settle()
        return self

    def _labels(self, rows: PointRows) -> NDArray[np.int32]:
        return rows.labels(self.cluster_centers_)

    def _widths(self, schema: Schema) -> Floats:
        """Return the unit in which each column is measured."""
        widths: Floats = schema.high - schema.low
        return widths if self.rescale else np.ones_like(widths)

    def _check_parameters(self) -> None:
        whole = isinstance(self.n_clusters, (int, np.integer))
        if not whole or isinstance(self.n_clusters, bool) or self.n_clusters < 1:
            raise ValueError(
                f"n_clusters must be a whole number of at least 1, got {self.n_clusters!r}."
            )
        if self.method not in _METHODS:
            raise ValueError(f"method must be one of {sorted(_METHODS)}, got {self.method!r}.")
        self._budget()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
