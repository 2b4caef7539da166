"""Published algorithms that are private once repaired, for comparison: none is the best choice.

They go through the door and spend a budget like every private estimator. Algorithms without privacy
are in :mod:`privclust.reference`.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
