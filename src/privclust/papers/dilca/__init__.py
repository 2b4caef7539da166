"""Distances of categories: Battaglia, Celano and Pensa (2021), after Ienco, Pensa and Meo (2012).

``Dilca`` and the measures of information are NOT PRIVATE; ``PrivateContextDilca`` and
``PrivateContextKMeans`` are the DP-DILCA family, Algorithms 1 to 5.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
