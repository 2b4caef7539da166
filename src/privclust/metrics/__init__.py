"""The papers' measures, to judge results on rows that one holds: EXACT, never for release.

They compare what was released with the rows themselves, or with what an algorithm without privacy
finds in them, and protect nothing.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
