"""Private co-clustering of matrices of counts: the algorithms, and the estimators above them."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
