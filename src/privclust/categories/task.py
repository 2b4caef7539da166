"""What categorical data offer: distances between categories, and clusters by them."""

from __future__ import annotations

from dataclasses import replace

from privclust.parameters import FLAG, NOISE, POSITIVE, SHARE, WHOLE, Items, OneOf, Parameter
from privclust.tasks import Task, Variant

PAPER = "DP-DILCA (Battaglia, Celano and Pensa 2021)"
PUBLISHED = ("baseline", "mean-su", "max-relevance", "max-dependency", "greedy-dependency")
RULES = ("max-relevance", "mean-su", "relevant-non-redundant", "all")


def _method(*choices: str, of_the_paper: str = "") -> Parameter:
    elsewhere = dict.fromkeys(PUBLISHED, f"privclust.papers.dilca.{of_the_paper}")
    kind = OneOf(choices, elsewhere if of_the_paper else {})
    return Parameter("method", kind, choices[0], "How the metric is learned.", label="Algorithm")


CONTEXT_RULE = Parameter(
    "context_rule",
    OneOf(RULES),
    "max-relevance",
    "Which columns others are compared by.",
    label="Columns that others are compared by",
)
CONTEXT_SIZE = Parameter(
    "context_size", WHOLE, 3, "Columns in a context.", label="How many of them"
)
SIGMA = Parameter("sigma", POSITIVE, 1.0, "Factor on the mean; mean-su.", label="Sigma")
SELECTION_SHARE = Parameter(
    "selection_share",
    SHARE,
    0.3,
    "Share of the contexts.",
    metavar="H",
    label="Choosing them (share of the budget)",
)
TARGETS = Parameter(
    "targets",
    Items("columns"),
    None,
    "A column that gets distances; repeat it.",
    option=("--target",),
    label="Only for these columns",
)
ORDINAL = Parameter(
    "ordinal",
    Items("columns"),
    (),
    "A column whose order counts; repeat it.",
    label="Their order counts",
)
PER_TARGET = Parameter(
    "budget_per_target",
    FLAG,
    False,
    "Spend the budget on each target.",
    option=("--per-target",),
    label="ε for each column, not for all",
)
N_CLUSTERS = Parameter(
    "n_clusters",
    WHOLE,
    8,
    "Number of clusters.",
    option=("--clusters", "-k"),
    shown="none",
)
METRIC_SHARE = Parameter(
    "metric_share",
    SHARE,
    0.5,
    "Share of the metric.",
    label="Learning the distances (share of the budget)",
)
# Options of contexts in the order of a form; the papers' classes take no rule besides their method.
OWN = (CONTEXT_RULE, CONTEXT_SIZE, SIGMA)
OF_THE_PAPER = (replace(CONTEXT_SIZE, also=("auto",)), SELECTION_SHARE, SIGMA)

DISTANCES = Task(
    "distances",
    "Distances between categories",
    "How alike the values of each column are, by what they occur with.",
    (
        Variant(
            "privclust.categories:PrivateDilca",
            (
                _method("auto", "pairs", "tree", of_the_paper="PrivateContextDilca"),
                *OWN,
                TARGETS,
                ORDINAL,
            ),
            methods=("auto", "pairs", "tree"),
        ),
        Variant(
            "privclust.papers.dilca:PrivateContextDilca",
            (
                replace(_method(*PUBLISHED), default="max-relevance"),
                *OF_THE_PAPER,
                NOISE,
                PER_TARGET,
                TARGETS,
                ORDINAL,
            ),
            methods=PUBLISHED,
            paper=PAPER,
        ),
    ),
    fewest=2,
    takes="categories",
)
CATEGORICAL = Task(
    "categorical",
    "Clusters of categories",
    "Groups of rows of categories, by distances learned from the data.",
    (
        Variant(
            "privclust.clustering:PrivateKMeans",
            (N_CLUSTERS, _method("auto")),
            methods=("auto",),
            fixed={"metric": "dilca"},
        ),
        Variant(
            "privclust.papers.dilca:PrivateContextKMeans",
            (
                N_CLUSTERS,
                replace(_method(*PUBLISHED), default="max-relevance"),
                *OF_THE_PAPER,
                NOISE,
                METRIC_SHARE,
            ),
            methods=PUBLISHED,
            paper=PAPER,
        ),
    ),
    "Learn distances between categories and, with -k, clusters, to be published.",
    "Rehearse a categorical fit on synthetic rows: questions, cost, noise.",
    clusters="n_clusters",
    fewest=2,
    takes="categories",
    audited={"n_clusters": 3},
)
# Without a number of clusters, the metric alone.
COMMANDS = {"categorical": (CATEGORICAL, DISTANCES)}
