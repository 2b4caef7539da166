"""Baselines: algorithms that papers compare with, made private, only for comparison.

They go through the door and spend a budget like every private estimator, and keep what they claim,
which their public code does not. NOT RECOMMENDED: each is worse than the estimator that its
docstring names in its place. Algorithms without privacy are in :mod:`privclust.papers`.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
