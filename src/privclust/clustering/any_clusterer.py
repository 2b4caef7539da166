"""Any clusterer of scikit-learn on released cells: it sees synthetic rows, or cells with weights.

Clusterers of the kind of k-means take weights and need only means, so the cells themselves
serve them best. All others look at how dense rows are, and cells would look evenly dense to them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from privclust._typing import Floats, Indices
from privclust.clustering.weighted_kmeans import nearest_centre
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError

# Synthetic rows that a clusterer is fitted to; many take the square of it.
N_ROWS = 3000


def check_clusterer(estimator: Any) -> None:
    """Raise unless an estimator labels what it is fitted to."""
    wanted = "give a clusterer or mixture of scikit-learn, such as HDBSCAN()"
    if isinstance(estimator, type):
        raise ParameterError(f"estimator must be an instance, got the class itself; {wanted}.")
    if isinstance(estimator, PrivateEstimator):
        raise ParameterError(
            f"{type(estimator).__name__} is private itself, and what is released needs no more "
            f"noise; {wanted}."
        )
    if not isinstance(estimator, BaseEstimator) or not hasattr(estimator, "fit_predict"):
        raise ParameterError(
            f"An estimator of type {type(estimator).__name__} labels nothing; {wanted}."
        )


def words_of_clusterer(estimator: Any) -> str:
    """Return the call that makes the estimator, for a release."""
    return " ".join(repr(estimator).split())


def cluster_cells_by(
    estimator: Any, cells: Floats, weights: Floats, draw_rows: Callable[[], Floats]
) -> Indices:
    """Return the label of each cell by a copy of the estimator, the heaviest cluster first.

    -1 is noise, as far as the estimator knows any. A cell has the label that is predicted for it
    or, where nothing can be predicted, that of most synthetic rows nearest to it.
    """
    fitted = clone(estimator)
    if _is_like_kmeans(fitted):
        found = np.asarray(fitted.fit(cells, sample_weight=weights).predict(cells))
    else:
        rows = draw_rows()
        of_rows = np.asarray(fitted.fit_predict(rows))
        found = _by_majority(cells, rows, of_rows)
        if hasattr(fitted, "predict"):
            found = np.asarray(fitted.predict(cells))
    return number_by_weight(found, weights)


def _is_like_kmeans(estimator: Any) -> bool:
    return (
        hasattr(estimator, "predict")
        and "sample_weight" in inspect.signature(estimator.fit).parameters
    )


def _by_majority(cells: Floats, rows: Floats, labels: Indices) -> Indices:
    """Return the label of most rows of each cell; of the nearest row if it has none."""
    names, codes = np.unique(labels, return_inverse=True)
    votes = np.zeros((len(cells), len(names)))
    np.add.at(votes, (nearest_centre(rows, cells), codes), 1)
    empty = np.flatnonzero(votes.sum(axis=1) == 0)
    votes[empty, codes[nearest_centre(cells[empty], rows)]] = 1
    return np.asarray(names[votes.argmax(axis=1)])


def number_by_weight(labels: Indices, weights: Floats) -> Indices:
    """Return labels from the heaviest cluster on; -1 stays."""
    names = np.unique(labels[labels >= 0])
    sizes = np.array([weights[labels == name].sum() for name in names])
    order = names[np.argsort(-sizes, kind="stable")]
    places = {int(name): number for number, name in enumerate(order)}
    return np.array([places.get(int(label), -1) for label in labels], np.intp)
