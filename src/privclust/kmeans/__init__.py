"""Private k-means: the algorithms as pure post-processing of noisy answers, and the estimator."""

from privclust.kmeans.estimator import PrivateKMeans

__all__ = ["PrivateKMeans"]
