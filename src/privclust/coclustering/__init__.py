"""Private co-clustering of matrices of counts: the algorithms, and the estimators above them."""

from privclust.coclustering.estimator import (
    NoStructureWarning,
    PrivateCoclustering,
    PrivateTauCoclustering,
)

__all__ = ["NoStructureWarning", "PrivateCoclustering", "PrivateTauCoclustering"]
