"""The service: rows stay with the steward, analysts get plans, budgets and releases.

``privclust serve`` starts it (the extra ``service``). It stands on schemas, plans,
the ledger, releases and reports, and never imports what is behind the door. ``RemoteDataset`` is
the analyst's side of it, and needs no extra.
"""

from privclust._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
