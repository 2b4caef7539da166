"""DP-τCC of Battaglia and Pensa (2025), repaired: the clusters themselves are chosen privately.

Alternate between choosing the cluster of every column and of every row by the exponential
mechanism, with the utilities of Fast-τCC, and a noisy table of block totals that defines the
utilities. Compared with the paper, it is repaired: all rounds that are paid for are run, the first
table uses the start's own row clusters, whose blocks are equally wide, and a cluster whose noisy
total is zero is ignored.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.coclustering.association import tau_weights
from privclust.coclustering.estimator import Coclusterer
from privclust.coclustering.result import CoclusteringResult
from privclust.coclustering.task import TAU_PARAMETERS
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.exceptions import ParameterError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.papers.tau.automatic import COUNT_SHARE, MOST_CLUSTERS, join_alike, start_from_signal
from privclust.unit import Unit, matrix_unit_from

# The share of every half-step that goes to the choice of clusters; the rest pays for the table.
CHOICE = 0.9
# The share of entries of the blind start's block matrix that are switched.
_SWITCHED = 0.01


def ask_tau_clusters(
    view: MatrixView,
    budget: Share,
    n_row_clusters: int,
    n_column_clusters: int,
    rng: np.random.Generator,
    *,
    n_rounds: int,
    choice: float = CHOICE,
    noise: str = "exact",
    joins: bool = False,
) -> CoclusteringResult:
    """Co-cluster the matrix of ``view`` within ``budget``.

    ``joins``: whether clusters that noise explains are joined in the end.
    """
    weigh = tau_weights if noise == "published" else _live_weights
    even = noise != "published"
    rows, row_weights = random_start(view.shape, n_row_clusters, n_column_clusters, rng, even=even)
    for number, share in enumerate(budget.split([1] * n_rounds), start=1):
        halves = share.split([1, 1])
        (for_columns, for_table), (for_rows, for_totals) = (
            half.split([choice, 1 - choice]) for half in halves
        )
        columns = view.ask_column_choices(
            f"column clusters, round {number}", row_weights, for_columns
        )
        table = view.ask_block_table(f"first table, round {number}", rows, columns, for_table)
        weights = weigh(table.value)[:, columns.labels]
        rows = view.ask_row_choices(f"row clusters, round {number}", weights.T, for_rows)
        totals = view.ask_block_table(f"block totals, round {number}", rows, columns, for_totals)
        row_weights = weigh(totals.value.T)[:, rows.labels].T
    blocks, block_error = totals.value, np.full(totals.value.shape, totals.standard_error)
    if joins:
        blocks, block_error, rows, columns = join_alike(totals, rows, columns)
    column_weights = tau_weights(blocks)[:, columns.labels].T
    return CoclusteringResult(
        block_totals=blocks,
        block_error=block_error,
        columns=columns,
        column_weights=column_weights,
        rows=rows,
    )


def ask_sizes_and_clusters(
    view: MatrixView,
    budget: Share,
    epsilon: float,
    rng: np.random.Generator,
    *,
    n_rounds: int | str = "auto",
    choice: float | str = "auto",
    noise: str = "exact",
) -> CoclusteringResult:
    """Co-cluster, and find the numbers of clusters; ``"auto"`` is what a noisy number says."""
    for_count = budget.take(COUNT_SHARE)
    rows, columns = (Groups(np.zeros(length, np.intp), 1) for length in view.shape)
    counted = view.ask_block_table("number of counts", rows, columns, for_count)
    start = start_from_signal(float(counted.value[0, 0]), view.shape, epsilon)
    return ask_tau_clusters(
        view,
        budget.remainder(for_count),
        start.n_clusters,
        start.n_clusters,
        rng,
        n_rounds=start.n_rounds if n_rounds == "auto" else int(n_rounds),
        choice=start.choice if choice == "auto" else float(choice),
        noise=noise,
        joins=True,
    )


def _live_weights(table: Floats) -> Floats:
    """Return the weights of the clusters, one per row of the table, whose noisy total is not zero.

    A cluster that is left out gets no members in the next choice, so nothing needs relabelling.
    """
    live = np.maximum(table, 0).sum(axis=1) > 0
    return tau_weights(table)[live if live.any() else slice(None)]


def random_start(
    shape: tuple[int, int],
    n_row_clusters: int,
    n_column_clusters: int,
    rng: np.random.Generator,
    *,
    even: bool = True,
) -> tuple[Groups, Floats]:
    """Return random row clusters, and how much each row happens to favour each column cluster.

    The paper draws a block matrix of ones with one percent of its entries switched; only the
    numbers of ones in each row and block are needed of it, and those are binomial. If the clusters
    do not divide the columns, some of its blocks are wider and draw more than their share, which
    in narrow matrices lasts; ``even`` makes all as wide as the widest.
    """
    n_rows, n_columns = shape
    n_columns = n_columns + -n_columns % n_column_clusters if even else n_columns
    rows = rng.permutation(np.arange(n_rows) % n_row_clusters)
    sizes = np.bincount(np.arange(n_columns) % n_column_clusters, minlength=n_column_clusters)
    # With fewer clusters on one side, the blocks start over from the first.
    most = max(n_row_clusters, n_column_clusters)
    blocks = np.zeros((n_row_clusters, n_column_clusters), bool)
    blocks[np.arange(most) % n_row_clusters, np.arange(most) % n_column_clusters] = True
    switched = rng.binomial(sizes, _SWITCHED, (n_rows, n_column_clusters))
    ones = np.where(blocks[rows], sizes - switched, switched)
    return Groups(rows, n_row_clusters), tau_weights(ones.T.astype(np.float64)).T


_FEWEST_ROUNDS, _MOST_ROUNDS = 2, 8


class PrivateTauCoclustering(Coclusterer):
    """DP-τCC of Battaglia and Pensa (2025), repaired: clusters chosen by exponential mechanisms.

    This is the published algorithm, for comparison; :class:`PrivateCoclustering` gives the same
    guarantee and far better clusters.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : int or "auto", default=5
        The numbers of clusters to start with; clusters can vanish. With ``"auto"`` for both, which
        the paper does not have, a noisy number of counts says how many to begin with, and clusters
        that noise explains are joined.
    epsilon, delta : float
        The privacy loss allowed; δ = 0 for pure ε.
    unit : {"count", "entry"} or MatrixEntry, default="count"
        What is hidden; see :class:`PrivateCoclustering`.
    n_rounds : int or "auto", default="auto"
        I, the number of rounds the budget is divided among; the paper has 4. ``"auto"`` is about
        2 + 2 ε, from 2 to 8, which is best on the paper's data; if the numbers of clusters are
        ``"auto"`` as well, it follows from the noisy number of counts.
    choice_share : float or "auto", default=0.9
        h, the share of each round that pays for choosing clusters; the rest pays for the table.
        ``"auto"``, only with those of the clusters, leaves to the table what its cells need.
    noise : {"exact", "published"}, default="exact"
        Whether a cluster whose noisy total is zero is left out of the choices, or stays a
        candidate, as equation 4.10 of the paper has it, and draws lines away from the others.
    budget, shape, random_state, ledger, dataset
        See :class:`PrivateCoclustering`.

    Attributes
    ----------
    column_labels_, block_totals_, block_totals_error_, row_labels_, column_weights_, tau_
        See :class:`PrivateCoclustering`; the row labels are choices of the exponential mechanism.
    rows_, columns_, biclusters_, n_directions_, schema_, n_features_in_, feature_names_in_
        See :class:`PrivateCoclustering`.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    warnings_ : tuple of str
        The warnings of the fit.

    References
    ----------
    Battaglia, Pensa, "Differentially Private Associative Co-clustering" (SDM 2025), and its
    supplement.
    """

    rule = "tau"
    _parameters: ClassVar[Any] = TAU_PARAMETERS

    def __init__(
        self,
        n_row_clusters: int | Literal["auto"] = 5,
        n_column_clusters: int | Literal["auto"] = 5,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        unit: Unit | str = "count",
        n_rounds: int | Literal["auto"] = "auto",
        choice_share: float | Literal["auto"] = CHOICE,
        noise: Literal["exact", "published"] = "exact",
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
        self.n_rounds = n_rounds
        self.choice_share = choice_share
        self.noise = noise
        self.shape = shape
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _check_combinations(self) -> None:
        if matrix_unit_from(self.unit).whole_rows:
            raise ParameterError('DP-τCC cannot protect whole rows; use unit="count" or "entry".')
        auto = [size == "auto" for size in (self.n_row_clusters, self.n_column_clusters)]
        if any(auto) and not all(auto):
            raise ParameterError(
                'DP-τCC finds both numbers of clusters or none; set n_row_clusters="auto" and '
                'n_column_clusters="auto", or give both.'
            )
        if all(auto) and self.noise == "published":
            raise ParameterError(
                "The paper is given its numbers of clusters, so nothing was published for those "
                'that are found; give both, or leave noise="exact".'
            )
        if self.choice_share == "auto" and not all(auto):
            raise ParameterError(
                'choice_share="auto" needs n_row_clusters="auto" and n_column_clusters="auto"; '
                "set them, or give a share."
            )

    @property
    def _finds_sizes(self) -> bool:
        return bool(self.n_row_clusters == "auto")

    def _most_clusters(self) -> tuple[int, int]:
        return (MOST_CLUSTERS,) * 2 if self._finds_sizes else super()._most_clusters()

    def _ask_method(self, view: MatrixView | ProfilesView, run: Run) -> CoclusteringResult:
        assert isinstance(view, MatrixView)  # noqa: S101  # _check_combinations refuses rows
        if self._finds_sizes:
            return ask_sizes_and_clusters(
                view,
                run.budget.whole,
                float(self._budget().epsilon),
                run.public_rng,
                n_rounds=self.n_rounds,
                choice=self.choice_share,
                noise=self.noise,
            )
        return ask_tau_clusters(
            view,
            run.budget.whole,
            *self._most_clusters(),
            run.public_rng,
            n_rounds=self._rounds(),
            choice=float(self.choice_share),
            noise=self.noise,
        )

    def _rounds(self) -> int:
        if self.n_rounds != "auto":
            return int(self.n_rounds)
        wanted = round(2 + 2 * float(self._budget().epsilon))
        return int(np.clip(wanted, _FEWEST_ROUNDS, _MOST_ROUNDS))

    def _released_parameters(self) -> dict[str, Any]:
        asked = len(self.privacy_.queries) - self._finds_sizes
        return {"method": "tau", "n_rounds": asked // 4, **super()._released_parameters()}
