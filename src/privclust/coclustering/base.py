"""``Coclusterer``: what the private co-clustering estimators share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from privclust.coclustering.association import noisy_tau, tau_weights
from privclust.coclustering.blocks import BlockMixin
from privclust.coclustering.plan import GUESSING, MOST_REHEARSED, synthetic
from privclust.coclustering.predicting import MatrixLabels
from privclust.coclustering.result import CoclusteringResult
from privclust.data.matrix.door import CountMatrix
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.view import Noisy
from privclust.estimator import PrivateEstimator, Run
from privclust.notes import Note
from privclust.opening.matrices import OpenedMatrix, open_matrix
from privclust.opening.rows import PublicFacts
from privclust.parameters import check_memory, whole
from privclust.plan import Plan, rehearse
from privclust.release import About
from privclust.schema import Box, Schema
from privclust.unit import Unit, matrix_unit_from

__all__ = ["Coclusterer"]

# The most that an entry may be when no cap is declared.
_LARGEST_COUNT = float(2**31 - 1)


class Coclusterer(BlockMixin, MatrixLabels, PrivateEstimator):
    """Common parts of the co-clustering estimators; see a subclass for the parameters."""

    _kind = "coclustering"
    _checks: ClassVar[Any] = {"n_row_clusters": whole(), "n_column_clusters": whole()}
    # How many groups or prototypes there can be on the way for each row cluster.
    _groups_per_cluster: ClassVar[int] = 1

    n_row_clusters: int
    n_column_clusters: int
    unit: Unit | str
    shape: tuple[int, int] | None
    rule: str

    def plan(
        self, n_rows: int = 1000, n_features: int | None = None, *, row_total: float = 100
    ) -> Plan:
        """Rehearse the fit on a synthetic matrix; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows, n_features : int
            The approximate shape of the matrix, from public knowledge; at most 20 000 rows are
            made. The columns are those of ``shape``, or else 1000, if not given.
        row_total : float
            Roughly what a row adds up to.
        """
        self._check_parameters()
        whole()("n_rows", n_rows)
        declared = 1000 if self.shape is None else self.shape[1]
        shape = min(int(n_rows), MOST_REHEARSED), int(n_features or declared)
        sizes = int(self.n_row_clusters), int(self.n_column_clusters)
        return rehearse(
            self,
            lambda seed: synthetic(shape, *sizes, row_total, seed),
            n_rows=int(n_rows),
            measure=GUESSING,
            known={"shape": None},
        )

    # The way of a fit.
    def _open(self, X: Any, public: Any = None) -> OpenedMatrix:
        return open_matrix(X, unit=matrix_unit_from(self.unit), shape=self.shape)

    def _door(self, opened: OpenedMatrix) -> CountMatrix:
        return CountMatrix(opened)

    def _look_ahead(self, door: CountMatrix, public: Any = None) -> None:
        groups = self._groups_per_cluster * int(self.n_row_clusters)
        clusters = groups + int(self.n_column_clusters)
        known = sum(door.known_shape or ())
        check_memory(8.0 * (known + clusters) * clusters, "ask for fewer clusters")

    def _ask(self, door: CountMatrix, run: Run, public: Any = None) -> CoclusteringResult:
        result = self._ask_method(door.private(run.meter, run.seed), run)
        return replace(result, notes=self._doubts(result.directions))

    def _ask_method(self, view: MatrixView | ProfilesView, run: Run) -> CoclusteringResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _doubts(self, directions: int | None) -> tuple[Note, ...]:
        """Say plainly if the clusters are likely to be noise, wholly or in part."""
        wanted = int(self.n_row_clusters) - 1
        by_rows = matrix_unit_from(self.unit).whole_rows
        if directions is None or directions >= (wanted if by_rows else 1):
            return ()
        if by_rows:
            text = (
                f"Only {directions} of the {wanted} directions that separate "
                f"{self.n_row_clusters} clusters stand out from the noise, so there are too few "
                "rows per cluster at this ε and some or all clusters are noise; raise epsilon, ask "
                "for fewer clusters, or gather rows (whole rows need thousands per cluster)."
            )
            return (Note("clusters-hidden", text),)
        text = (
            "No structure stands out from the noise at this ε, so the clusters may be random; "
            "raise epsilon, ask for fewer clusters or gather more data."
        )
        return (Note("clusters-hidden", text),)

    def _noisy_number(self, result: CoclusteringResult) -> Noisy:
        """Return about how many counts, entries above zero or rows there are, at least."""
        most = matrix_unit_from(self.unit).cap or 1
        error = float(np.linalg.norm(result.block_error)) / most
        return Noisy(np.array([result.block_totals.sum() / most]), error)

    def _keep(self, facts: PublicFacts, result: CoclusteringResult, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        cap = matrix_unit_from(self.unit).cap
        largest = _LARGEST_COUNT if cap is None else float(cap)
        self.schema_ = Schema({"entry": Box(0, largest)}, note="One fact for all entries.")
        self.column_labels_ = result.columns.labels
        self.block_totals_ = result.block_totals
        self.block_totals_error_ = result.block_error
        self.tau_ = noisy_tau(result.block_totals, float(result.block_error.max()))
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
            self.row_profiles_error_ = np.full_like(
                result.profiles.value, result.profiles.standard_error
            )
        self.n_directions_ = result.directions

    def _published(self) -> dict[str, Any]:
        names = ("column_labels", "block_totals", "block_totals_error", "column_weights")
        optional = ("row_labels", "row_profiles")
        arrays = {
            name: getattr(self, f"{name}_")
            for name in (*names, *optional)
            if name in names or hasattr(self, f"{name}_")
        }
        return {
            "arrays": arrays,
            "schema": self.schema_,
            "parameters": self._described(),
            "about": About(names=tuple(getattr(self, "feature_names_in_", ()))),
        }

    def _described(self) -> dict[str, Any]:
        """Return the public parameters that a release tells."""
        return {
            "n_row_clusters": int(self.n_row_clusters),
            "n_column_clusters": int(self.n_column_clusters),
            "rule": self.rule,
            "tau": self.tau_,
        }
