"""privclust: cluster sensitive data and publish the result with a proof of privacy.

Public names are imported when they are first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privclust.base import LeakWarning
    from privclust.budget import Budget
    from privclust.categorical import PrivateCategoricalKMeans, PrivateDilca
    from privclust.coclustering import PrivateCoclustering, PrivateTauCoclustering
    from privclust.kmeans import PrivateKMeans, SubclusterKMeans
    from privclust.plan import Plan
    from privclust.ledger import Ledger, LedgerError
    from privclust.privacy.statement import PrivacyStatement
    from privclust.release import Release
    from privclust.schema import Ball, Bins, Box, Categories, Schema
    from privclust.transfer import PrivateSourceTargetMedoids
    from privclust.unit import AddRemoveRow, OneCount, OneEntry, OneRow, Person, ReplaceRow

__version__ = "0.1.0"

__all__ = [
    "AddRemoveRow",
    "Ball",
    "Bins",
    "Box",
    "Budget",
    "Categories",
    "LeakWarning",
    "Ledger",
    "LedgerError",
    "OneCount",
    "OneEntry",
    "OneRow",
    "Person",
    "Plan",
    "PrivacyStatement",
    "PrivateCategoricalKMeans",
    "PrivateCoclustering",
    "PrivateDilca",
    "PrivateKMeans",
    "PrivateSourceTargetMedoids",
    "PrivateTauCoclustering",
    "Release",
    "ReplaceRow",
    "Schema",
    "SubclusterKMeans",
]

_HOMES = {
    "privclust.base": ("LeakWarning",),
    "privclust.budget": ("Budget",),
    "privclust.categorical": ("PrivateCategoricalKMeans", "PrivateDilca"),
    "privclust.coclustering": ("PrivateCoclustering", "PrivateTauCoclustering"),
    "privclust.kmeans": ("PrivateKMeans", "SubclusterKMeans"),
    "privclust.plan": ("Plan",),
    "privclust.ledger": ("Ledger", "LedgerError"),
    "privclust.privacy.statement": ("PrivacyStatement",),
    "privclust.release": ("Release",),
    "privclust.schema": ("Ball", "Bins", "Box", "Categories", "Schema"),
    "privclust.transfer": ("PrivateSourceTargetMedoids",),
    "privclust.unit": ("AddRemoveRow", "OneCount", "OneEntry", "OneRow", "Person", "ReplaceRow"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
