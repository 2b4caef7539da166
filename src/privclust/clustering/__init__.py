"""Private k-means: the algorithms as pure post-processing of noisy answers, and the estimators."""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
