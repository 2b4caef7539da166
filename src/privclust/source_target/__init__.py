"""Source-target clustering: new centres among public targets, given private existing ones."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
