"""Source-target clustering: Schnapp and Sabato (2025).

``SourceTargetMedoids`` and the measures Δ_t(S) and Diff are NOT PRIVATE; ``PrivateNearestMedoids``
is NAS and NNA; :mod:`~privclust.papers.targets.theory` has the bounds as numbers.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
