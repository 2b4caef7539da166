"""``BlockMixin``: the blocks of a co-clustering as scikit-learn's biclusters, private or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BiclusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust._typing import AnyArray

__all__ = ["BlockMixin"]


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
