"""``PrivateCoclustering``, and what every private co-clustering shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BiclusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust._typing import AnyArray
from privclust.budget import Budget
from privclust.coclustering.association import noisy_tau, tau_weights
from privclust.coclustering.plan import GUESSING, MOST_REHEARSED, synthetic
from privclust.coclustering.predicting import MatrixLabels
from privclust.coclustering.result import CoclusteringResult
from privclust.coclustering.row_method import MOST_PROTOTYPES, ask_row_clusters
from privclust.coclustering.table_method import MOST_GROUPS, ask_table_clusters
from privclust.coclustering.task import COCLUSTER, N_COLUMN_CLUSTERS, N_ROW_CLUSTERS
from privclust.data.matrix.view import CountMatrix, MatrixView, ProfilesView
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note
from privclust.opening.matrices import OpenedMatrix, open_matrix
from privclust.opening.rows import PublicFacts
from privclust.parameters import WHOLE, check_memory
from privclust.plan import Plan, rehearse
from privclust.release.document import About
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit import Unit, matrix_unit_from


class BlockMixin(BiclusterMixin):
    """A model with ``row_labels_``, ``column_labels_`` and ``block_totals_``.

    Its biclusters (``biclusters_``, ``get_indices`` and so on) are the blocks, row cluster by
    row cluster.
    """

    row_labels_: AnyArray
    column_labels_: AnyArray
    block_totals_: AnyArray

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Which rows each block has, of shape (n_blocks, n_rows)."""
        check_is_fitted(self)
        if not hasattr(self, "row_labels_"):
            raise AttributeError(
                "When whole rows are protected only their holder can label them, so no block lists "
                "its rows; use predict(X)."
            )
        n_row_clusters, n_column_clusters = self.block_totals_.shape
        members = self.row_labels_ == np.arange(n_row_clusters)[:, None]
        return np.repeat(members, n_column_clusters, axis=0)

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Which columns each block has, of shape (n_blocks, n_columns)."""
        check_is_fitted(self)
        n_row_clusters, n_column_clusters = self.block_totals_.shape
        members = self.column_labels_ == np.arange(n_column_clusters)[:, None]
        return np.tile(members, (n_row_clusters, 1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


# The most that an entry may be when no cap is declared.
_LARGEST_COUNT = float(2**31 - 1)


class Coclusterer(BlockMixin, MatrixLabels, PrivateEstimator):
    """Common parts of the co-clustering estimators; see a subclass for the parameters."""

    _kind = "coclustering"
    _parameters: ClassVar[Any] = (N_ROW_CLUSTERS, N_COLUMN_CLUSTERS)
    # The most intermediate groups or prototypes for each row cluster.
    _groups_per_cluster: ClassVar[int] = 1

    n_row_clusters: Any
    n_column_clusters: Any
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
            The approximate sum of a row.
        """
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        declared = 1000 if self.shape is None else self.shape[1]
        shape = min(int(n_rows), MOST_REHEARSED), int(n_features or declared)
        return rehearse(
            self,
            lambda seed: synthetic(shape, *self._most_clusters(), row_total, seed),
            n_rows=int(n_rows),
            measure=GUESSING,
            known={"shape": None},
        )

    def _most_clusters(self) -> tuple[int, int]:
        """Return the largest numbers of clusters of rows and of columns."""
        return int(self.n_row_clusters), int(self.n_column_clusters)

    # The steps of a fit.
    def _open(self, X: Any, public: Any = None) -> OpenedMatrix:
        return open_matrix(X, unit=matrix_unit_from(self.unit), shape=self.shape)

    def _door(self, opened: OpenedMatrix) -> CountMatrix:
        return CountMatrix(opened)

    def _check_before_charge(self, door: CountMatrix, public: Any = None) -> None:
        n_row_clusters, n_column_clusters = self._most_clusters()
        clusters = self._groups_per_cluster * n_row_clusters + n_column_clusters
        known = sum(door.known_shape or ())
        check_memory(8.0 * (known + clusters) * clusters, "ask for fewer clusters")

    def _ask(self, door: CountMatrix, run: Run, public: Any = None) -> CoclusteringResult:
        result = self._ask_method(door.private(run.meter, run.seed), run)
        return replace(result, notes=self._warnings(result.directions))

    def _ask_method(self, view: MatrixView | ProfilesView, run: Run) -> CoclusteringResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _warnings(self, directions: int | None) -> tuple[Note, ...]:
        """Return a warning if the clusters are likely to be noise, wholly or in part."""
        wanted = self._most_clusters()[0] - 1
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
        """Return a lower estimate of the number of counts, entries above zero or rows."""
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

    def _release_fields(self) -> dict[str, Any]:
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
            "parameters": self._released_parameters(),
            "about": About(names=tuple(getattr(self, "feature_names_in_", ()))),
        }

    def _released_parameters(self) -> dict[str, Any]:
        """Return the public parameters in a release."""
        n_row_clusters, n_column_clusters = self.block_totals_.shape
        return {
            "n_row_clusters": n_row_clusters,
            "n_column_clusters": n_column_clusters,
            "rule": self.rule,
            "tau": self.tau_,
        }


class PrivateCoclustering(Coclusterer):
    """Co-clustering of a matrix of counts by noisy tables; its clusters may be published.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : int, default=5
        The numbers of clusters.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; the unit ``"row"`` needs a tiny number such as 1e-6.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    unit : {"count", "entry", "row"} or MatrixEntry, default="count"
        What is hidden: one count more or less in one entry; any change of one entry, of which at
        most a cap counts (``MatrixEntry(cap)``; ``"entry"`` counts presence only); or a whole row.
    rule : {"prototypes", "tau"}, default="prototypes"
        How ``predict`` scores a row: by the share of every single column in each row cluster, or by
        the block totals alone, which is the rule of Fast-τCC.
    shape : tuple of int or None, default=None
        The public shape of the matrix, if it is given as triples.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any entry is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    column_labels_ : ndarray of shape (n_columns,)
        The released cluster of each column.
    block_totals_, block_totals_error_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Noisy sums of the blocks and their standard errors. With the unit ``"row"`` every row counts
        as one, divided among the column clusters as its entries are, and belongs to the row cluster
        that ``predict`` returns to its holder.
    row_profiles_ : ndarray of shape (n_row_clusters, n_columns)
        Noisy sums of each column over each row cluster, with ``row_profiles_error_``.
    row_labels_ : ndarray of shape (n_rows,)
        A released cluster of each row, found in a noisy table and less accurate than what
        ``predict`` returns to the holder of the row. Profiles, block totals and τ are sums over
        these labels. Not available with the unit ``"row"``.
    column_weights_ : ndarray of shape (n_columns, n_row_clusters)
        How much one count in a column favours each row cluster.
    rows_, columns_, biclusters_ : ndarray of bool, of shape (n_blocks, n_rows or n_columns)
        The rows and columns of each block, in scikit-learn's form; not available with the unit
        ``"row"``.
    tau_ : float
        An estimate of Goodman and Kruskal's τ, rows given columns, from the released block totals;
        what their noise adds on average is subtracted.
    n_directions_ : int
        How many directions of a noisy table stand out from the noise. The fit warns if there are
        none, and with the unit ``"row"`` also if there are too few to separate the clusters.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides the clusters.
    schema_ : Schema
        What is declared about every entry: how large it may be.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

    Notes
    -----
    ``predict`` and ``fit_predict`` score rows with released values and return the labels to the
    holder of the rows. The labels are exact statements about these rows, and are not kept.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust.coclustering import PrivateCoclustering
    >>> counts = np.kron(np.eye(2, dtype=int) * 9, np.ones((30, 20), dtype=int))
    >>> model = PrivateCoclustering(2, 2, epsilon=1.0).fit(counts)
    >>> model.column_labels_.shape, model.block_totals_.shape
    ((40,), (2, 2))
    """

    _parameters: ClassVar[Any] = COCLUSTER.variants[0].parameters
    _groups_per_cluster = max(MOST_GROUPS, MOST_PROTOTYPES)

    def __init__(
        self,
        n_row_clusters: int = 5,
        n_column_clusters: int = 5,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        unit: Unit | str = "count",
        rule: Literal["prototypes", "tau"] = "prototypes",
        shape: tuple[int, int] | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.unit = unit
        self.rule = rule
        self.shape = shape
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _check_combinations(self) -> None:
        if matrix_unit_from(self.unit).whole_rows:
            if not self._budget().delta:
                raise ParameterError('The unit "row" needs delta above 0, such as 1e-6; set it.')
            if self.rule == "tau":
                raise ParameterError('The unit "row" labels rows by prototypes; drop rule="tau".')

    def _ask_method(self, view: MatrixView | ProfilesView, run: Run) -> CoclusteringResult:
        sizes = self._most_clusters()
        if isinstance(view, ProfilesView):
            return ask_row_clusters(view, run.budget.whole, *sizes, run.public_rng)
        return ask_table_clusters(view, run.budget.whole, *sizes, run.public_rng)

    def _released_parameters(self) -> dict[str, Any]:
        return {"method": "tables", **super()._released_parameters()}
