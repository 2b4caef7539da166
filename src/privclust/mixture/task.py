"""What mixtures offer: soft clusters with shapes."""

from __future__ import annotations

from privclust.clustering.task import AUTO, MISSING_SHARE, RESCALE
from privclust.parameters import FLAG, POSITIVE, WHOLE, OneOf, Parameter
from privclust.tasks import Task, Variant

N_COMPONENTS = Parameter(
    "n_components",
    WHOLE,
    1,
    "Number of components, or auto.",
    also=(AUTO,),
    option=("--components", "-k"),
    label="Number of components",
)
COVARIANCE_TYPE = Parameter(
    "covariance_type",
    OneOf(("full", "tied", "diag", "spherical")),
    "full",
    "Shapes of the components.",
    option=("--shapes",),
    label="Shapes of the components",
)
BACKGROUND = Parameter(
    "background",
    FLAG,
    False,
    "Whether rows may belong to no component.",
    label="Rows that belong to no component",
)
REG_COVAR = Parameter(
    "reg_covar",
    POSITIVE,
    1e-7,
    "Least variance, in squares of half a width.",
    label="Least variance, in squares of half a declared width",
)

MIXTURE = Task(
    "mixture",
    "Soft clusters (Gaussian mixture)",
    "Clusters that are long, overlap or differ in width, with a probability for each row.",
    (
        Variant(
            "privclust.mixture:PrivateGaussianMixture",
            (N_COMPONENTS, COVARIANCE_TYPE, BACKGROUND, MISSING_SHARE, REG_COVAR, RESCALE),
        ),
    ),
    "Fit a Gaussian mixture to private rows; its components may be published.",
    "Rehearse a mixture on synthetic rows: questions, cost, noise, error.",
    clusters="n_components",
    takes="numbers",
    audited={"n_components": 2},
)
COMMANDS = {"mixture": (MIXTURE,)}
