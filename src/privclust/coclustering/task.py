"""What a matrix of counts offers: clusters of rows and columns, also as in the paper."""

from __future__ import annotations

from dataclasses import replace

from privclust.parameters import NOISE, SHARE, WHOLE, OneOf, Parameter
from privclust.tasks import Task, Variant

N_ROW_CLUSTERS = Parameter(
    "n_row_clusters", WHOLE, 5, "Number of row clusters.", option=("--row-clusters",)
)
N_COLUMN_CLUSTERS = Parameter(
    "n_column_clusters",
    WHOLE,
    5,
    "Number of column clusters.",
    option=("--column-clusters",),
    label="Clusters of columns",
)
RULE = Parameter(
    "rule",
    OneOf(("prototypes", "tau")),
    "prototypes",
    "How rows are labelled.",
    label="How rows are labelled",
)
TAU_PARAMETERS = (
    replace(N_ROW_CLUSTERS, also=("auto",)),
    replace(N_COLUMN_CLUSTERS, also=("auto",)),
    Parameter(
        "n_rounds", WHOLE, "auto", "Rounds, 4 in the paper.", also=("auto",), option=("--rounds",)
    ),
    Parameter("choice_share", SHARE, 0.9, "Share of the choices.", also=("auto",), metavar="H"),
    NOISE,
)

COCLUSTER = Task(
    "cocluster",
    "Clusters of rows and columns",
    "Groups rows and columns of a matrix at once, and shows roughly what is in each block.",
    (
        Variant(
            "privclust.coclustering:PrivateCoclustering",
            (N_ROW_CLUSTERS, N_COLUMN_CLUSTERS, RULE),
            methods=("tables",),
        ),
        Variant(
            "privclust.papers.tau:PrivateTauCoclustering",
            TAU_PARAMETERS,
            methods=("tau",),
            paper="DP-τCC (Battaglia and Pensa 2025)",
            in_service=False,
        ),
    ),
    "Co-cluster a matrix of private counts. Clusters and block totals may be published.",
    "Rehearse a co-clustering on a synthetic matrix: questions, cost, noise, error to expect.",
    clusters="n_row_clusters",
    fewest=0,
    takes="matrix",
    audited={"n_row_clusters": 2, "n_column_clusters": 2},
)
COMMANDS = {"cocluster": (COCLUSTER,)}
