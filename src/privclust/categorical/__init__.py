"""Categorical data: a private metric on rows of categories, and clusters on it."""

from privclust.categorical.clusters import PrivateCategoricalKMeans
from privclust.categorical.estimator import PrivateDilca
from privclust.data.table_door import schema_of_dtypes

__all__ = ["PrivateCategoricalKMeans", "PrivateDilca", "schema_of_dtypes"]
