"""k-means with a k that the rows choose: a summary, its choice of k, and its centres."""

from __future__ import annotations

import numpy as np

from privclust.budget import Share
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.kmeans.result import KMeansResult
from privclust.notes import Note, signal_of
from privclust.schema import Schema
from privclust.summary.choosing import chosen
from privclust.summary.clustering import clustered, most_clusters
from privclust.summary.result import SummaryResult
from privclust.summary.summarising import ask_summary

__all__ = ["ask_with_chosen_k"]

_SIZES = 0.03  # of the budget, for sizes whose errors are all alike

_UNCLEAR = "There is no clear number of clusters; {k} were taken, as the cells suggest"
_HIDDEN = "The number of clusters cannot be seen at this budget; 1 was taken."


def ask_with_chosen_k(
    view: PointsView, budget: Share, rng: np.random.Generator, schema: Schema | None = None
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``; the number of clusters is chosen.

    For ``n_clusters="auto"``: the number is ``len(result.centres)``, and a warning says so if it is
    not clear. A schema tells which coordinates of the view are shares of categories.
    """
    for_sizes = budget.take(_SIZES)
    result = ask_summary(view, budget.remainder(for_sizes), rng)
    k, verdict, clear = _number(result, schema)
    notes = result.notes if clear else (*result.notes, Note("k-unclear", verdict))
    found = clustered(result.cells, k)
    centres, frame = (
        view.domain.feasible(found.centers),
        Projection(np.zeros(view.domain.dimension)),
    )
    sizes = view.ask_clusters("cluster sizes", frame, centres, 1.0, counts=for_sizes).counts
    return KMeansResult(centres, found.centers_error, sizes, "summary", notes, verdict)


def _number(result: SummaryResult, schema: Schema | None) -> tuple[int, str, bool]:
    """Return the number of clusters, what to say about it, and whether it is clear."""
    # Where noise hides the rows, cells were made up, and with two there is nothing to choose by.
    if signal_of(result.notes) != "seen" or most_clusters(result.cells) <= 2:
        return 1, _HIDDEN, False
    choice = chosen(result.cells, schema=schema, whole_curve=False)
    if choice.n_clusters is not None:
        return choice.n_clusters, choice.verdict, True
    words = _UNCLEAR.format(k=choice.suggestion)
    return choice.suggestion, f"{words}; a PrivateSummary shows the curve to choose by.", False
