"""Privacy audits: does a mechanism lose more privacy than it claims?

Only public names live here. ``replay`` adds up exactly what the answers of one fit tell about a
pair of neighbours; ``audit`` watches the outputs of many. The generators and suites make the pairs.
"""

from privclust.audit.auditor import AuditReport, Verdict, Witness, audit
from privclust.audit.conformance import ReplayedAnswer, ReplayReport, replay
from privclust.audit.method_noise import MethodNoise
from privclust.audit.neighbours import (
    NeighbourPair,
    another_order,
    duplicate_mass,
    far_outlier,
    fewer_rows_than_clusters,
    matrix_pairs,
    missing_value,
    one_entry,
    point_pairs,
    rare_category,
    single_count_row,
    single_row,
    single_row_cluster,
    table_pairs,
)

__all__ = [
    "AuditReport",
    "MethodNoise",
    "NeighbourPair",
    "ReplayReport",
    "ReplayedAnswer",
    "Verdict",
    "Witness",
    "another_order",
    "audit",
    "duplicate_mass",
    "far_outlier",
    "fewer_rows_than_clusters",
    "matrix_pairs",
    "missing_value",
    "one_entry",
    "point_pairs",
    "rare_category",
    "replay",
    "single_count_row",
    "single_row",
    "single_row_cluster",
    "table_pairs",
]
