"""Clusters of rows of numbers and categories: k-means, and summaries that answer for any k."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
