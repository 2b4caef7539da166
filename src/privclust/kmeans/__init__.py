"""Private k-means: the algorithms as pure post-processing of noisy answers, and the estimators."""

from privclust.kmeans.estimator import PrivateKMeans
from privclust.kmeans.result import LowSignalWarning
from privclust.kmeans.subcluster_kmeans import SubclusterKMeans

__all__ = ["LowSignalWarning", "PrivateKMeans", "SubclusterKMeans"]
