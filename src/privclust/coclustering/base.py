"""What the private co-clustering estimators share: the door, labels, plan and release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust.budget import Share
from privclust.coclustering.association import tau, tau_weights
from privclust.coclustering.plan import error_ratio, synthetic_counts
from privclust.coclustering.release import coclustering_release
from privclust.coclustering.result import CoclusteringResult
from privclust.data.matrix.door import CountMatrix
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.estimator import PrivateEstimator
from privclust.exceptions import LowSignalWarning
from privclust.plan import Plan
from privclust.privacy.meter import Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.unit import MatrixRow, MatrixUnit, Unit, matrix_unit_from

__all__ = ["Coclusterer"]

Floats = NDArray[np.float64]

_REHEARSALS = 3
_MOST_REHEARSED = 20_000


class Coclusterer(ClusterMixin, PrivateEstimator):
    """Common parts of the co-clustering estimators; see a subclass for the parameters."""

    n_row_clusters: int
    n_column_clusters: int
    unit: Unit | str
    shape: tuple[int, int] | None
    rule: str

    def fit(self, X: Any, y: object = None) -> Self:
        """Co-cluster the matrix ``X`` and keep the released values.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            The private counts: a SciPy sparse matrix of any format, a dense array, or the path of
            an ``.npz`` or ``.mtx`` file; with ``shape`` also triples (row, column, count) as a
            data frame or the path of a CSV or Parquet file.
        y : ignored
        """
        with self._open(X) as matrix:
            return self._fit(matrix, _names(X, self.shape))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the row cluster of each row of ``X``, which must have the same columns."""
        check_is_fitted(self)
        if self.shape is None:
            self._compare_columns(X)
        with self._open(X) as matrix:
            return self._labels(matrix)

    def fit_predict(self, X: Any, y: object = None) -> NDArray[np.int32]:
        """Fit, and return the cluster of each row to the caller; these labels are not kept."""
        with self._open(X) as matrix:
            return self._fit(matrix, _names(X, self.shape))._labels(matrix)

    def plan(self, n_rows: int = 1000, n_columns: int = 1000, row_total: float = 100) -> Plan:
        """Rehearse the fit on a synthetic matrix; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows, n_columns : int
            About the shape of the matrix, from public knowledge; at most 20 000 rows are made.
        row_total : float
            About what a row adds up to.
        """
        self._check_parameters()
        n_rows = min(int(n_rows), _MOST_REHEARSED)
        known = {"ledger": None, "shape": None}
        rehearsal = type(self)(**{**self.get_params(deep=False), **known})
        ratios = []
        for seed in range(_REHEARSALS):
            made = synthetic_counts(
                (n_rows, n_columns), self.n_row_clusters, self.n_column_clusters, row_total, seed
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LowSignalWarning)
                rows = rehearsal.set_params(random_state=seed).fit_predict(made.counts)
            ratios.append(error_ratio(made, rows, rehearsal.column_labels_))
        statement = replace(rehearsal.privacy_, flaws=())
        measure = "error of guessing the row cluster of a count from its column"
        return Plan(statement, n_rows, float(np.mean(ratios)), measure)

    def release(self, column_names: Sequence[str] | None = None) -> Release:
        """Return what may be published.

        Parameters
        ----------
        column_names : sequence of str or None
            Public names of the columns, for the report; those of the data if it had names.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if column_names is None else column_names
        arrays = {
            "column_labels": self.column_labels_,
            "block_totals": self.block_totals_,
            "block_totals_error": self.block_totals_error_,
            "column_weights": self.column_weights_,
        }
        for name in ("row_labels", "row_profiles"):
            if hasattr(self, f"{name}_"):
                arrays[name] = getattr(self, f"{name}_")
        return coclustering_release(
            arrays, matrix_unit_from(self.unit), self._described(), self.privacy_, names
        )

    def _method(
        self, view: MatrixView | ProfilesView, budget: Share, rng: np.random.Generator
    ) -> CoclusteringResult:
        raise NotImplementedError

    def _described(self) -> dict[str, Any]:
        """Return the public parameters that a release tells."""
        return {
            "n_row_clusters": int(self.n_row_clusters),
            "n_column_clusters": int(self.n_column_clusters),
            "rule": self.rule,
            "tau": self.tau_,
            **({"warnings": list(self.warnings_)} if self.warnings_ else {}),
        }

    def _open(self, X: Any) -> CountMatrix:
        self._check_parameters()
        return CountMatrix(X, unit=matrix_unit_from(self.unit), shape=self.shape)

    def _fit(self, matrix: CountMatrix, names: Sequence[str] | None) -> Self:
        budget, (seed, rng) = self._budget(), self._seeds()
        self._warn_of_leaks()
        receipt = self._reserve(budget, matrix.unit)
        meter = Meter(budget)
        result = self._method(matrix.private(meter, seed), budget.whole, rng)
        self._remember_columns(names, matrix.n_columns)
        self._keep(result)
        self.privacy_ = PrivacyStatement.from_meter(
            meter, unit=matrix.unit, private=seed is None, receipt=receipt
        )
        self._settle()
        for message in self.warnings_:
            warnings.warn(message, LowSignalWarning, stacklevel=4)
        return self

    def _keep(self, result: CoclusteringResult) -> None:
        self.column_labels_ = result.columns.labels
        self.block_totals_ = result.block_totals
        self.block_totals_error_ = result.block_error
        self.tau_ = tau(result.block_totals)
        weights = result.column_weights
        if self.rule == "tau":
            weights = tau_weights(result.block_totals)[:, result.columns.labels].T
        self.column_weights_ = weights
        for name in ("row_labels_", "row_profiles_", "row_profiles_error_"):
            self.__dict__.pop(name, None)
        if result.rows is not None:
            self.row_labels_ = result.rows.labels
        if result.profiles is not None:
            self.row_profiles_ = result.profiles.value
            self.row_profiles_error_ = result.profiles.standard_error
        self.n_directions_ = result.directions
        self.warnings_ = self._doubts()

    def _doubts(self) -> tuple[str, ...]:
        """Say plainly if the clusters are likely to be noise, wholly or in part."""
        wanted = self.n_row_clusters - 1
        by_rows = isinstance(matrix_unit_from(self.unit), MatrixRow)
        if self.n_directions_ is None or self.n_directions_ >= (wanted if by_rows else 1):
            return ()
        if by_rows:
            return (
                f"Only {self.n_directions_} of the {wanted} directions that tell "
                f"{self.n_row_clusters} clusters apart stand out of the noise: there are too few "
                "rows per cluster at this ε, and some or all clusters are noise. Raise epsilon, "
                "ask for fewer clusters, or gather rows: whole rows need thousands per cluster.",
            )
        return (
            "No structure stands out of the noise at this ε; the clusters may be random. Raise "
            "epsilon, ask for fewer clusters or gather more data.",
        )

    def _labels(self, matrix: CountMatrix) -> NDArray[np.int32]:
        return matrix.labels(self.column_weights_).astype(np.int32)

    def _check_parameters(self) -> MatrixUnit:
        for name in ("n_row_clusters", "n_column_clusters"):
            number = getattr(self, name)
            whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
            if not whole or number < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}.")
        self._budget()
        return matrix_unit_from(self.unit)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _names(X: Any, shape: object) -> list[str] | None:
    """Return the names of the columns of a data frame with a column for each of the matrix."""
    names = getattr(X, "columns", None) if shape is None else None
    texts = None if names is None else list(names)
    return texts if texts and all(isinstance(name, str) for name in texts) else None
