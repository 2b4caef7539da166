"""What a density offers: clusters of any shape, in one to three columns of numbers."""

from __future__ import annotations

from privclust.clustering.task import MISSING_SHARE
from privclust.parameters import SHARE, Parameter
from privclust.tasks import Task, Variant

# Of most densities.
USUAL_LEAST = 0.01
LEAST = Parameter(
    "least",
    SHARE,
    None,
    "Smallest share of the rows that is a cluster.",
    also=(None,),
    shown="found by a first look",
    label="Smallest share of the rows that is a cluster",
)
DENSITY = Task(
    "density",
    "Clusters of any shape (density)",
    "Where the rows are dense, in up to three columns of numbers, and which clusters stand out.",
    (Variant("privclust.density:PrivateDensity", (LEAST, MISSING_SHARE)),),
    "Count private rows in the cells of a grid; clusters of any shape are then free.",
    "Rehearse a density on synthetic rows: questions, cost, noise, agreement to expect.",
    takes="numbers",
    most=3,
)
COMMANDS = {"density": (DENSITY,)}
