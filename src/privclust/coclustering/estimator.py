"""``PrivateCoclustering`` and ``PrivateTauCoclustering``: parameters, and the method they run."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from privclust.budget import Budget
from privclust.coclustering.base import Coclusterer
from privclust.coclustering.profiles import MOST_PROTOTYPES, ask_row_clusters
from privclust.coclustering.result import CoclusteringResult
from privclust.coclustering.tables import MOST_GROUPS, ask_table_clusters
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.estimator import Run
from privclust.exceptions import ParameterError
from privclust.ledger import Ledger
from privclust.parameters import one_of
from privclust.unit import Unit, matrix_unit_from

__all__ = ["PrivateCoclustering"]


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
        none, and with the unit ``"row"`` also if there are too few to tell the clusters apart.
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
    ``predict`` and ``fit_predict`` score rows with released values and return the labels to whoever
    holds the rows. The labels are exact statements about these rows, and are not kept.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust.coclustering import PrivateCoclustering
    >>> counts = np.kron(np.eye(2, dtype=int) * 9, np.ones((30, 20), dtype=int))
    >>> model = PrivateCoclustering(2, 2, epsilon=1.0).fit(counts)
    >>> model.column_labels_.shape, model.block_totals_.shape
    ((40,), (2, 2))
    """

    _checks: ClassVar[Any] = {**Coclusterer._checks, "rule": one_of("prototypes", "tau")}
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

    def _check_together(self) -> None:
        if matrix_unit_from(self.unit).whole_rows:
            if not self._budget().delta:
                raise ParameterError('The unit "row" needs delta above 0, such as 1e-6; set it.')
            if self.rule == "tau":
                raise ParameterError('The unit "row" labels rows by prototypes; drop rule="tau".')

    def _ask_method(self, view: MatrixView | ProfilesView, run: Run) -> CoclusteringResult:
        sizes = int(self.n_row_clusters), int(self.n_column_clusters)
        if isinstance(view, ProfilesView):
            return ask_row_clusters(view, run.budget.whole, *sizes, run.choices)
        return ask_table_clusters(view, run.budget.whole, *sizes, run.choices)

    def _described(self) -> dict[str, Any]:
        return {"method": "tables", **super()._described()}
