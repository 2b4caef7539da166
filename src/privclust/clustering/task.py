"""What clustering of rows offers: k-means, as in the paper too, and summaries."""

from __future__ import annotations

from privclust.parameters import FLAG, SHARE, WHOLE, Number, OneOf, Parameter
from privclust.tasks import Task, Variant

AUTO = "auto"
# How many clusters are sought if no number is given, and assumed by a plan if it is to be chosen.
DEFAULT_CLUSTERS = 8
METHODS = (AUTO, "cells", "cautious", "grid", "lloyd")

N_CLUSTERS = Parameter(
    "n_clusters",
    WHOLE,
    None,
    "Number of clusters, or auto.",
    also=(AUTO, None),
    option=("--clusters", "-k"),
    shown=str(DEFAULT_CLUSTERS),
)
METHOD = Parameter(
    "method",
    OneOf(METHODS, former={"subcluster": "cells"}),
    AUTO,
    "The algorithm.",
    label="Algorithm",
)
METRIC = Parameter(
    "metric",
    OneOf((AUTO, "mismatch", "dilca")),
    AUTO,
    "Distances between categories.",
    label="Distance of categories",
)
PROFILE_SHARE = Parameter(
    "profile_share",
    SHARE,
    None,
    "Budget share for histograms of clusters.",
    also=(None,),
    label="Histograms of each cluster (share of the budget)",
)
MISSING_SHARE = Parameter(
    "missing_share",
    Number(1, or_zero=True),
    0.02,
    "To count missing values.",
    label="Counts of missing values (share of the budget)",
)
SCALE = Parameter(
    "scale",
    OneOf(("declared", "measured")),
    "declared",
    "What numbers count in.",
    label="How widely numbers spread",
)
RESCALE = Parameter(
    "rescale",
    FLAG,
    None,
    "Count in widths.",
    also=(None,),
    label="Distances in units of declared widths",
    shown="with a schema",
)

SYNTHETIC = Parameter(
    "synthetic",
    SHARE,
    False,
    "Tables for synthetic rows too: yes, or their share of the budget.",
    also=(False, True),
    label="Tables for synthetic rows",
    metavar="yes|SHARE",
)

ZONE_PARAMETERS = (
    Parameter("n_clusters", WHOLE, 8, "Number of clusters.", option=("--clusters", "-k")),
    Parameter("n_candidates", WHOLE, 4, "Points of a zone.", option=("--candidates",)),
    Parameter("internal_k", WHOLE, None, "Sub-clusters of a zone.", also=(None,)),
    Parameter("n_steps", WHOLE, 3, "Iterations.", option=("--steps",)),
    Parameter("choice_share", SHARE, 0.2, "Share of the choices."),
    Parameter("last_share", SHARE, 0.3, "Share of the last step."),
    RESCALE,
)

KMEANS = Task(
    "kmeans",
    "Clusters (k-means)",
    "Groups of similar rows: their centres and roughly how many rows each has.",
    (
        Variant(
            "privclust.clustering:PrivateKMeans",
            (N_CLUSTERS, METHOD, METRIC, SCALE, PROFILE_SHARE, MISSING_SHARE, RESCALE),
            methods=METHODS,
        ),
        Variant(
            "privclust.papers.zones:PrivateZoneKMeans",
            ZONE_PARAMETERS,
            methods=("zones",),
            paper="convergent zones (Joshi and Thakkar 2022)",
            in_service=False,
        ),
    ),
    "Cluster private rows; centres and sizes may be published.",
    "Rehearse a k-means fit on synthetic rows: questions, cost, noise, error.",
    clusters="n_clusters",
    audited={"n_clusters": 3},
)
SUMMARISE = Task(
    "summarise",
    "Summary for many questions",
    "Spends the budget once; clusters for every number are then free.",
    (
        Variant(
            "privclust.clustering:PrivateSummary",
            (METRIC, SCALE, PROFILE_SHARE, MISSING_SHARE, SYNTHETIC, RESCALE),
        ),
    ),
    "Summarise private rows once; the summary answers for any number of clusters.",
    "Rehearse a summary on synthetic rows: questions, cost, noise, error to expect.",
)
COMMANDS = {"kmeans": (KMEANS,), "summarise": (SUMMARISE,)}
