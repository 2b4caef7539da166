"""Co-clustering by τ: Battaglia and Pensa (2025), after Battaglia, Peiretti and Pensa (2024).

``TauCoclustering`` is Fast-τCC, NOT PRIVATE; ``PrivateTauCoclustering`` is DP-τCC, repaired.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
