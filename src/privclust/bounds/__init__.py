"""Bounds of columns of unknown range, as a question of its own."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
