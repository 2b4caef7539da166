"""Empirical privacy audit: does a mechanism lose more privacy than it claims?

Only public names live here. ``audit`` is the entry; the generators and suites make the
neighbouring data sets that it runs a mechanism on.
"""

from privclust.audit.auditor import AuditReport, Verdict, Witness, audit
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
    "NeighbourPair",
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
    "single_count_row",
    "single_row",
    "single_row_cluster",
    "table_pairs",
]
