"""Categorical data: a private metric on rows of categories, and clusters under it."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
