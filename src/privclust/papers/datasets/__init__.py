"""Public data sets: generators, and readers of the files that papers on clustering are tested on.

What is read or made here is PUBLIC. Its readers look at values as they like, to list categories or
to take bounds from the rows. Never pass them rows of people: estimators read those by themselves.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
