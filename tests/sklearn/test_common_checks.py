"""scikit-learn's own checks, on every estimator of the library.

Each stands here once, seeded and at a huge ε, so that the checks are about conventions alone: those
are kept by what all methods of an estimator share (``estimator.py`` and its own class). Nothing is
skipped but what would need labels of training rows to be kept.
"""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import privclust
from privclust import (
    Bins,
    MatrixEntry,
    PrivateBounds,
    PrivateCoclustering,
    PrivateDensity,
    PrivateDilca,
    PrivateGaussianMixture,
    PrivateKMeans,
    PrivateSourceTargetMedoids,
    PrivateSummary,
)
from privclust.estimator import PrivateEstimator
from privclust.exceptions import NotPrivateWarning
from privclust.papers import dilca, targets, tau, zones
from privclust.papers.dilca import Dilca, PrivateContextDilca, PrivateContextKMeans
from privclust.papers.targets import PrivateNearestMedoids, SourceTargetMedoids
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.papers.tau.published import TauCoclustering
from privclust.papers.zones.private import PrivateZoneKMeans
from privclust.papers.zones.published import KMeansGuarantee, SubclusterGuarantee
from privclust.source_target.estimator import SourceTargetEstimator

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:privclust"),
    pytest.mark.filterwarnings("ignore::privclust.exceptions.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::privclust.exceptions.SourceWarning"),
    pytest.mark.filterwarnings("ignore::privclust.exceptions.LowSignalWarning"),
]

SEEDED = {"epsilon": 1e6, "random_state": 0}
POINTS = {"bounds": (-1e3, 1e3), **SEEDED}
FRACTIONS = MatrixEntry(cap=2**10, step=2**-10)
CODES = Bins([0, 1, 2, 3, 5, 8, 13], missing="category")
ESTIMATORS = [
    PrivateDilca(schema=CODES, **SEEDED),
    PrivateContextDilca(schema=CODES, **SEEDED),
    PrivateContextKMeans(3, schema=CODES, **SEEDED),
    Dilca(schema=CODES),
    PrivateKMeans(3, **POINTS),
    PrivateZoneKMeans(3, **POINTS),
    PrivateSummary(**POINTS),
    PrivateBounds(**SEEDED),
    PrivateDensity(**POINTS),
    PrivateGaussianMixture(2, **POINTS),
    PrivateCoclustering(3, 2, unit=FRACTIONS, **SEEDED),
    PrivateTauCoclustering(3, 2, unit=FRACTIONS, **SEEDED),
    TauCoclustering(3, 2, random_state=0),
    PrivateSourceTargetMedoids(3, **SEEDED),
    PrivateNearestMedoids(3, **SEEDED),
    SourceTargetMedoids(3),
]
with pytest.warns(NotPrivateWarning):
    ESTIMATORS += [KMeansGuarantee(3, **SEEDED), SubclusterGuarantee(3, **SEEDED)]

NO_LABELS = (
    "It asks for labels_, but the labels of the training rows are exact statements about private "
    "rows and are not kept."
)


# Checks that bring more than three columns, of which no grid is counted.
WIDE = dict.fromkeys(
    (
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_dtype_object",
        "check_array_api_input",
        "check_fit2d_1sample",
    ),
    "It brings more columns than the three that a density takes.",
)


# It asks for the tags of a classifier of whatever has predict_proba and takes sparse rows.
NO_CLASSIFIER = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "It takes everything with predict_proba for a classifier; a mixture is none.",
)


def not_for(estimator):
    if isinstance(estimator, PrivateDensity):
        return WIDE
    if isinstance(estimator, PrivateGaussianMixture):
        return NO_CLASSIFIER | {"check_clustering": NO_LABELS}
    # The targets of a source-target fit are public, and so are their labels.
    rows_are_public = isinstance(estimator, SourceTargetEstimator)
    hides_rows = isinstance(estimator, PrivateEstimator) and not rows_are_public
    return {"check_clustering": NO_LABELS} if hides_rows else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_for)
def test_scikit_learns_own_checks(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it one check would skip itself
    check(estimator)


def test_no_estimator_is_left_out():
    public = [
        getattr(home, name)
        for home in (privclust, dilca, targets, tau, zones)
        for name in home.__all__
    ]
    estimators = {
        item for item in public if inspect.isclass(item) and issubclass(item, BaseEstimator)
    }
    assert {type(estimator) for estimator in ESTIMATORS} == estimators
