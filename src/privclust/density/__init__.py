"""Noisy counts of a grid over one to three columns, and clusters of any shape in them."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
