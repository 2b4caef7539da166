"""What private existing centres offer: new centres for them, also as in the paper."""

from __future__ import annotations

from dataclasses import replace

from privclust.parameters import (
    FLAG,
    NOISE,
    POSITIVE,
    SERVICE,
    SHARE,
    WHOLE,
    Items,
    OneOf,
    Parameter,
)
from privclust.tasks import Task, Variant

COORDINATE_METRICS = ("euclidean", "manhattan", "cosine", "haversine")

N_CENTERS = Parameter("n_centers", WHOLE, 8, "Number of new centres.", option=("--centers", "-k"))
METRIC = Parameter(
    "metric",
    OneOf((*COORDINATE_METRICS, "precomputed")),
    "euclidean",
    "Such as haversine: degrees to kilometres.",
    label="Distance",
)
N_PROJECTED = Parameter(
    "n_projected",
    WHOLE,
    None,
    "Random dimensions to project to.",
    also=(None,),
    option=("--projected",),
    label="Random dimensions to project to",
)


def _public(name: str, of: str, default: tuple[int, ...] | None, label: str) -> Parameter:
    """Return a list of public values that belongs to a question to a service."""
    kind = Items(of)
    return Parameter(name, kind, default, label, seen=frozenset({SERVICE}), of_fit=True)


PUBLIC = (
    _public("candidates", "points", None, "Where new centres may be, if not at the points"),
    _public("sample_weight", "numbers", None, "How much each point counts"),
    _public("forbidden", "places", (), "Places in the list that must not be chosen, from 0"),
    _public("forced", "places", (), "Places in the list that must be chosen, from 0"),
)
NEAREST_PARAMETERS = (
    N_CENTERS,
    Parameter("method", OneOf(("nna", "nas")), "nna", "The algorithm.", label="Algorithm"),
    replace(METRIC, kind=OneOf(COORDINATE_METRICS)),
    N_PROJECTED,
    Parameter(
        "coreset",
        OneOf(("auto", "halving", "net")),
        "auto",
        "How sites are made.",
        also=(None,),
        label="How sites are made (nna, nas)",
    ),
    Parameter(
        "coreset_radius",
        SHARE,
        0.05,
        "Radius, in diameters of the target.",
        metavar="C",
        label="Distance of targets from sites, in diameters",
    ),
    Parameter(
        "n_nearest",
        WHOLE,
        150,
        "Sources to average; nas.",
        option=("--nearest",),
        metavar="T",
        label="Sources that each site averages (nas)",
        methods=("nas",),
    ),
    Parameter(
        "bound_share",
        SHARE,
        None,
        "Pay for a bound on the cost.",
        also=(None,),
        label="A bound on the mean distance (nna, nas) (share of the budget)",
    ),
    Parameter(
        "spread_share",
        SHARE,
        None,
        "Pay for Δ_t(S); nas.",
        also=(None,),
        label="Spread of the sources (nas) (share of the budget)",
        methods=("nas",),
    ),
    Parameter(
        "counts_share",
        SHARE,
        0.7,
        "Share of the counts; nna.",
        label="Counts (nna) (share of the budget)",
        methods=("nna",),
    ),
    Parameter(
        "false_cells",
        POSITIVE,
        0.05,
        "Empty cells that may pass; nna.",
        metavar="GAMMA",
        label="Empty cells that may pass for occupied (nna)",
        methods=("nna",),
    ),
    Parameter(
        "pull",
        FLAG,
        True,
        "Keep averages in cells; nna.",
        label="Keep averages in their cells (nna)",
        methods=("nna",),
    ),
    NOISE,
    *PUBLIC,
)

SOURCE_TARGET = Task(
    "source-target",
    "New centres for these",
    "Chooses new centres among public points that are far from the rows.",
    (
        Variant(
            "privclust.source_target:PrivateSourceTargetMedoids",
            (N_CENTERS, METRIC, N_PROJECTED, *PUBLIC),
            methods=("rings",),
        ),
        Variant(
            "privclust.papers.targets:PrivateNearestMedoids",
            NEAREST_PARAMETERS,
            methods=("nna", "nas"),
            paper="NAS and NNA (Schnapp and Sabato 2025)",
        ),
    ),
    "Choose new centres among public points, given private existing ones.",
    "Rehearse the choice of new centres with synthetic sources: questions, cost, noise, error.",
    clusters="n_centers",
    takes="targets",
    audited={"n_centers": 2},
)
COMMANDS = {"source-target": (SOURCE_TARGET,)}
