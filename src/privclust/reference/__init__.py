"""Algorithms without privacy, for comparison: never on data that must stay private.

Nothing here takes a ledger or a budget. An algorithm that claims privacy in its paper and has none
warns when it is made.
"""

from privclust.metrics.kmeans import cost_gap
from privclust.reference.dilca import Dilca
from privclust.reference.information import entropy, mutual_information, symmetric_uncertainty
from privclust.reference.kmeans_guarantee import KMeansGuarantee, SubclusterGuarantee
from privclust.reference.source_target import SourceTargetMedoids
from privclust.reference.source_target_measures import cost_difference, source_spread
from privclust.reference.tau_coclustering import TauCoclustering

__all__ = [
    "Dilca",
    "KMeansGuarantee",
    "SourceTargetMedoids",
    "SubclusterGuarantee",
    "TauCoclustering",
    "cost_difference",
    "cost_gap",
    "entropy",
    "mutual_information",
    "source_spread",
    "symmetric_uncertainty",
]
