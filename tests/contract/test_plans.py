"""The plan of every estimator foretells what a small budget costs, and is no better than it is."""

from __future__ import annotations

import warnings

import pytest

from privclust import MatrixCount, PrivateSourceTargetMedoids
from support.estimators import ESTIMATORS, EstimatorRecord


def planned(record: EstimatorRecord, epsilon: object):
    """Return a plan for 500 rows; a matrix needs to know how many columns it has."""
    shape = {"n_features": 40} if MatrixCount() in record.units else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return record.make(epsilon=epsilon).plan(500, **shape)


@pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
def test_a_plan_expects_more_error_of_a_smaller_budget(record):
    little, much = (planned(record, epsilon).error_ratio for epsilon in (0.01, 20))
    assert little > 1.2 * much > 0


def test_no_choice_of_new_centres_is_expected_to_be_better_than_without_privacy():
    (record,) = (it for it in ESTIMATORS if it.kind is PrivateSourceTargetMedoids)
    assert planned(record, 0.01).error_ratio > 1.2
    assert 0.999 <= planned(record, 20).error_ratio < 1.1
