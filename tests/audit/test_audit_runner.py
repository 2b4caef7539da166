"""Runs are independent of each other, in one process and in several."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from privclust.audit.auditor import audit
from privclust.audit.runner import Subject, draw, is_estimator, takes_rng

RUNS = 40


class NoisyMean(BaseEstimator):
    """Draws from wherever its parameter says."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, rows, labels=None):
        source = self.random_state
        if source is None:
            self.mean_ = np.random.standard_normal()
        elif isinstance(source, np.random.Generator | np.random.RandomState):
            self.mean_ = source.standard_normal()
        else:
            self.mean_ = np.random.default_rng(source).standard_normal()
        return self


class ClosedOver(BaseEstimator):
    """Draws from the global generators alone."""

    def fit(self, rows):
        self.numpy_ = np.random.standard_normal()
        self.python_ = random.random()
        return self


def gaussian(data, rng):
    return data + rng.standard_normal()


def values(outputs, path="output"):
    return outputs.columns[path, np.ndarray]


def drawn(mechanism, data_sets=(0, 0), runs=RUNS, seed=0, n_jobs=1):
    return draw(mechanism, data_sets, runs, np.random.SeedSequence(seed), n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_two_runs_draw_the_same_from_rng(n_jobs):
    left, right = drawn(Subject(gaussian), n_jobs=n_jobs)
    assert left.runs == right.runs == RUNS
    assert len({*values(left), *values(right)}) == 2 * RUNS


@pytest.mark.system
def test_the_number_of_processes_does_not_change_the_draws():
    alone, together = drawn(Subject(gaussian)), drawn(Subject(gaussian), n_jobs=2)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(values(one), values(other))


def test_the_seed_decides_the_draws():
    first, again = drawn(Subject(gaussian)), drawn(Subject(gaussian))
    other = drawn(Subject(gaussian), seed=1)
    np.testing.assert_array_equal(values(first[0]), values(again[0]))
    assert not np.isin(values(other[0]), values(first[0])).any()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_global_generators_do_not_repeat(n_jobs):
    left, right = drawn(Subject(ClosedOver()), n_jobs=n_jobs)
    for path in ("numpy_", "python_"):
        assert len({*values(left, path), *values(right, path)}) == 2 * RUNS


def test_global_generators_of_the_caller_are_left_alone():
    np.random.seed(0)
    random.seed(0)
    expected = np.random.RandomState(0).standard_normal(), random.Random(0).random()
    drawn(Subject(gaussian))
    assert (np.random.standard_normal(), random.random()) == expected


@pytest.mark.parametrize(
    "source",
    [None, 7, np.random.default_rng(7), np.random.RandomState(7)],
    ids=["none", "seed", "generator", "random state"],
)
@pytest.mark.parametrize("nested", [False, True])
def test_each_clone_gets_fresh_randomness(source, nested):
    estimator = make_pipeline(NoisyMean(source)) if nested else NoisyMean(source)

    def mean(fitted):
        return fitted[-1].mean_ if nested else fitted.mean_

    left, right = drawn(Subject(estimator, functions=(mean,)), [np.zeros((2, 1))] * 2)
    measured = [
        value.item()
        for side in (left, right)
        for value in next(
            column for (path, _), column in side.columns.items() if path == "feature 0 (mean)"
        )
    ]
    assert len(set(measured)) == 2 * RUNS


def test_a_fit_that_writes_into_its_input_does_not_change_the_next_run():
    def greedy(data):
        data += 1
        return data

    left, right = drawn(Subject(greedy), [np.zeros(2), np.ones(2)])
    np.testing.assert_array_equal(values(left), np.ones((RUNS, 2)))
    np.testing.assert_array_equal(values(right), np.full((RUNS, 2), 2.0))


@pytest.mark.parametrize("make", [np.array, list, tuple])
def test_a_batch_gives_the_same_outputs_in_any_container(make):
    def batch(data, runs):
        return make([data + position for position in range(runs)])

    (outputs,) = drawn(Subject(batch, batch=True), [5.0], runs=16 * 3)
    np.testing.assert_array_equal(values(outputs), np.tile([5.0, 6.0, 7.0], 16))


@pytest.mark.parametrize("answer", [[1.0], np.zeros((1, 4)), 3.0])
def test_a_batch_of_the_wrong_length_is_refused(answer):
    with pytest.raises(ValueError, match=r"must return 3 outputs .* returned 1"):
        drawn(Subject(lambda data, runs: answer, batch=True), runs=16 * 3)


def test_exceptions_are_outputs_only_if_they_are_caught():
    def failing(data):
        raise KeyError(data)

    (outputs,) = drawn(Subject(failing), ["age"])
    ((_, raised),) = outputs.columns.items()
    assert set(raised) == {("KeyError", "'age'")}
    with pytest.raises(KeyError):
        drawn(Subject(failing, catch=False))


@pytest.mark.system
def test_large_data_can_be_written_to_in_worker_processes():
    def greedy(data, rng):
        data += 1
        return data[:2].copy()

    (outputs,) = drawn(Subject(greedy, catch=False), [np.zeros(200_000)], runs=2, n_jobs=2)
    np.testing.assert_array_equal(values(outputs), np.ones((2, 2)))


def test_estimators_and_callables_are_told_apart():
    assert is_estimator(NoisyMean())
    assert not is_estimator(NoisyMean)
    assert not is_estimator(gaussian)
    assert takes_rng(gaussian)
    assert not takes_rng(abs)
    assert not takes_rng(lambda data, **options: data)
    assert not takes_rng(dict.fromkeys)


def noisy_and_loud(data, rng):
    warnings.warn("again", UserWarning, stacklevel=1)
    return data + rng.normal()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_runs_do_not_repeat_their_warnings(n_jobs, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(Subject(noisy_and_loud), n_jobs=n_jobs)
    assert "again" not in capfd.readouterr().err


def test_an_audit_tells_how_many_runs_are_done():
    told = []
    audit(gaussian, (0.0, 1.0), 5, 300, random_state=0, progress=lambda *both: told.append(both))
    done = [count for count, _ in told]
    assert done == sorted(set(done))
    assert told[-1] == (600, 600)
    assert len(told) > 20
