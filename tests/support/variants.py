"""Estimators by the name of their method: the family's own, or that of a paper."""

from __future__ import annotations

from privclust.categories.task import CATEGORICAL, DISTANCES
from privclust.source_target.task import SOURCE_TARGET

__all__ = ["categorical_kmeans", "dilca", "medoids"]

dilca = DISTANCES.model
categorical_kmeans = CATEGORICAL.model
medoids = SOURCE_TARGET.model
