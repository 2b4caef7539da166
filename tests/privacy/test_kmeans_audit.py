"""Audits of PrivateKMeans: no event refutes its claim, and planted flaws are found.

There are three levels. Each question of the view is audited alone, where halved noise shows at
once. The transcript of a whole run, that is all noisy answers, is audited by its own likelihood
ratio, and for each transcript the loss is added up exactly. The fitted model is audited as a user
would see it; it is computed from the transcript and shows far less of what was paid for, so that
halved noise cannot be seen in it, but missing noise can.

All noise is seeded by the auditor, so every test is decided.
"""

from unittest.mock import PropertyMock, patch

import numpy as np
import pandas as pd
import pytest
from doubles import (
    HalvedNoise,
    loss_of,
    recorded_draws,
    replaced_draws,
    replayed_draws,
    view_of,
)
from sklearn.base import clone

from privclust import PrivateKMeans, Schema
from privclust.audit import audit, duplicate_mass, emptied_cluster, far_outlier
from privclust.audit.neighbours import NeighbourPair
from privclust.budget import Budget
from privclust.data.points.view import Projection
from privclust.kmeans.cells import by_cells
from privclust.kmeans.lloyd import lloyd
from privclust.privacy.mechanisms import BallLaplace, DiscreteLaplace
from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.unit import AddRemoveRow, Person, ReplaceRow

UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 2)]
METHODS = ["cells", "lloyd"]

QUESTIONS = ["count", "counts", "offsets", "square", "moments"]

# A large δ: at a tiny one, the chance of what a halved Gaussian noise would betray is tiny as well.
BUDGETS = {"pure": Budget(1), "zcdp": Budget(2, 0.2)}


def skipping_the_empty(original, mechanism, exact, noise):
    """The planted flaw: what is exactly zero gets no noise."""
    return np.where(exact == 0, 0, original(mechanism, exact, noise))


# One question of the view


def pair_for(unit, question):
    """Return neighbours that differ as much as they can in the answer to the question."""
    base = np.full((3, 1), -1.0)
    if isinstance(unit, ReplaceRow):
        # From the other cluster, from the other side of the same one, or from its centre.
        old = {"counts": -1.0, "offsets": 0.01}.get(question, 0.5)
        return np.append(base, [[old]], axis=0), np.append(base, [[1.0]], axis=0)
    if isinstance(unit, AddRemoveRow):
        return base, np.append(base, [[1.0]], axis=0)
    people = pd.DataFrame({"x0": [-1.0, -1, -1, 1, 1, 1], "who": [1, 2, 2, 3, 3, 3]})
    return people[:3], people


def ask(view, question, share):
    if question == "count":
        return view.count("count", share).value
    if question == "moments":
        return view.second_moments(
            "moments", Projection(np.zeros(1), radius=1.0), share
        ).value.ravel()
    centres = np.array([[-0.5], [0.5]])
    answer = view.clusters("clusters", Projection(np.zeros(1)), centres, 0.5, **{question: share})
    return getattr(answer, question).value.ravel()


def question_of(question, unit, budget, noise=ExactNoise):
    """Return a batch of independent answers to one question, each paid for with the budget."""

    def answers(data, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        plenty = Budget(10**9, budget.delta)
        schema = Schema.from_bounds(-1, 1, n_columns=1)
        view = view_of(data, schema, unit, budget=plenty, noise=noise(bits))
        return np.array([ask(view, question, budget.whole) for _ in range(runs)])

    return answers


def audit_question(question, unit, currency, noise=ExactNoise):
    budget = BUDGETS[currency]
    fit, pair = question_of(question, unit, budget, noise), pair_for(unit, question)
    return audit(fit, pair, budget, runs=1500, batch=True, random_state=0)


ASKED = [
    *((question, unit, "pure") for question in QUESTIONS for unit in UNITS),
    *((question, AddRemoveRow(), "zcdp") for question in QUESTIONS),
    *((question, ReplaceRow(), "zcdp") for question in ("counts", "offsets")),
]

# Replacing a row leaves the number of rows as it is, and in one column moves a sum of squares by
# half of what the noise of second moments is made for.
WITH_NOISE_TO_SPARE = [("count", ReplaceRow()), ("moments", ReplaceRow())]


@pytest.mark.parametrize(("question", "unit", "currency"), ASKED, ids=str)
def test_no_question_is_refuted(question, unit, currency):
    report = audit_question(question, unit, currency)
    assert report.verdict == "not refuted"
    if (question, unit) not in WITH_NOISE_TO_SPARE:
        assert report.epsilon_lower > 0.2


@pytest.mark.parametrize(
    ("question", "unit", "currency"),
    [asked for asked in ASKED if asked[:2] not in WITH_NOISE_TO_SPARE],
    ids=str,
)
def test_halved_noise_of_a_question_is_found(question, unit, currency):
    assert audit_question(question, unit, currency, HalvedNoise).verdict == "violated"


@pytest.mark.parametrize("question", ["counts", "offsets"])
def test_an_empty_cluster_without_noise_is_found_in_a_question(question):
    with replaced_draws(skipping_the_empty):
        report = audit_question(question, AddRemoveRow(), "pure")
    assert report.verdict == "violated"
    assert report.epsilon_lower > 3


# The transcript of a whole run


ALGORITHMS = {"cells": by_cells, "lloyd": lloyd}


def run(method, view, budget, n_clusters, seed):
    return ALGORITHMS[method](view, budget.whole, n_clusters, np.random.default_rng(seed))


def log_ratio(draw, other):
    """Return by how much likelier the answer is on the first data than on the second."""
    mechanism = draw.mechanism
    near, far = ((one.answer - one.exact).astype(float) for one in (draw, other))
    if isinstance(mechanism, DiscreteLaplace):
        return (abs(far).sum() - abs(near).sum()) / float(mechanism.scale)
    if isinstance(mechanism, BallLaplace):
        lengths = np.linalg.norm(far, axis=1).sum() - np.linalg.norm(near, axis=1).sum()
        return lengths / float(mechanism.scale)
    return ((far**2).sum() - (near**2).sum()) / (2 * float(mechanism.variance))


def transcripts_of(method, pair, budget, noise=ExactNoise):
    """Return the log-likelihood ratio of the pair for a batch of independent runs."""
    left, right = pair
    plenty = Budget(10**9, budget.delta)

    def ratios(data, runs, rng):
        is_left = len(data) == len(left)
        view = view_of(data, budget=plenty, noise=noise(SeededBits(int(rng.integers(2**62)))))
        other = view_of(right if is_left else left, budget=plenty)
        sign = 1 if is_left else -1
        found = []
        for _ in range(runs):
            seed = int(rng.integers(2**62))
            with recorded_draws() as draws:
                run(method, view, budget, 1, seed)
            with replayed_draws([draw.answer for draw in draws]) as others:
                run(method, other, budget, 1, seed)
            found.append(sign * sum(map(log_ratio, draws, others)))
        return np.array(found)

    return ratios


TRANSCRIPT_PAIR = (np.full((30, 1), -1.0), np.array([[-1.0]] * 30 + [[1.0]]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("halved", [False, True])
def test_transcripts_are_refuted_only_if_noise_is_halved(method, halved):
    # In zCDP the losses of many answers add up to that of one Gaussian answer, so that all of them
    # together show as much; in pure ε the worst of all answers at once is too rare to be seen.
    noise, budget = HalvedNoise if halved else ExactNoise, BUDGETS["zcdp"]
    fit = transcripts_of(method, TRANSCRIPT_PAIR, budget, noise)
    report = audit(fit, TRANSCRIPT_PAIR, budget, runs=600, batch=True, random_state=0)
    assert report.verdict == ("violated" if halved else "not refuted")


def people_pair(pair):
    """Return a pair of data frames that differ by the rows of one person, more than count."""
    rows = np.concatenate([pair.left, pair.right[-1:].repeat(4, axis=0)])
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame["who"] = np.minimum(np.arange(len(frame)), len(pair.left))
    return NeighbourPair(pair.name, frame[: len(pair.left)], frame)


def pairs_for(unit):
    """Return neighbours in the box (-1, 1) with two columns."""
    name = unit.name if isinstance(unit, ReplaceRow) else "add-remove-row"
    low, high = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    crowd = np.random.default_rng(0).uniform(-1, -0.5, (8, 2))
    pairs = [
        duplicate_mass(low, high, copies=30, unit=name),
        far_outlier(crowd, low, high, distance=1e6, unit=name),
        emptied_cluster([low, high], copies=200, unit=name),
    ]
    return [people_pair(pair) for pair in pairs] if isinstance(unit, Person) else pairs


def estimator(method, unit, budget, **changes):
    options = {"epsilon": budget.epsilon, "delta": budget.delta, "bounds": (-1, 1), **changes}
    return PrivateKMeans(2, method=method, unit=unit, random_state=0, **options)


def losses_of_transcripts(model, pairs, seeds):
    """Return the exact loss of transcripts of a fit, between the two data sets of each pair."""
    for pair in pairs:
        for seed in seeds:
            model = clone(model).set_params(random_state=seed)
            with recorded_draws() as draws:
                model.fit(pair.left)
            with replayed_draws([draw.answer for draw in draws]) as others:
                model.fit(pair.right)
            assert [draw.mechanism for draw in draws] == [other.mechanism for other in others]
            answers = zip(draws, others, strict=True)
            yield sum(loss_of(a.mechanism, a.exact, b.exact) for a, b in answers)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_losses_of_a_transcript_add_up_to_at_most_the_budget(method, unit, delta):
    budget = Budget(1, delta)
    model = estimator(method, unit, budget)
    losses = list(losses_of_transcripts(model, pairs_for(unit), range(4)))
    assert max(losses) <= budget.amount
    assert max(losses) >= budget.amount / 4


@pytest.mark.parametrize("method", METHODS)
def test_a_transcript_exceeds_the_budget_if_only_one_row_of_a_person_is_thought_of(method):
    unit, budget = Person("who", 2), Budget(1)
    with patch.object(Person, "rows_changed", PropertyMock(return_value=1)):
        losses = losses_of_transcripts(estimator(method, unit, budget), pairs_for(unit), range(4))
        assert max(losses) > budget.amount


def test_questions_that_depend_on_the_data_are_noticed():
    def steps_by_exact_count(view, budget, n_clusters, n_rows):
        return 2 + int(view._rows.sum(lambda rows: np.array([len(rows)])).n_rows) % 2

    model = estimator("lloyd", AddRemoveRow(), Budget(1))
    with patch("privclust.kmeans.lloyd._n_steps", steps_by_exact_count):
        losses = losses_of_transcripts(model, pairs_for(AddRemoveRow()), [0])
        with pytest.raises(AssertionError):
            list(losses)


# The fitted model


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_no_fitted_model_is_refuted(method, unit, delta):
    budget = Budget(1, delta)
    pair = pairs_for(unit)[0]
    report = audit(estimator(method, unit, budget), pair, budget, runs=300, random_state=0)
    assert report.verdict == "not refuted"


def drawing_as_always(original, mechanism, exact, noise):
    return original(mechanism, exact, noise)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("skipped", [False, True])
def test_a_fitted_model_is_refuted_if_an_empty_cluster_gets_no_noise(method, skipped):
    budget, pair = Budget(1), pairs_for(AddRemoveRow())[2]
    model = estimator(method, AddRemoveRow(), budget)
    with replaced_draws(skipping_the_empty if skipped else drawing_as_always):
        report = audit(model, pair, budget, runs=300, random_state=0)
    assert report.verdict == ("violated" if skipped else "not refuted")


def test_a_fitted_model_is_refuted_if_there_is_no_noise():
    budget, pair = Budget(1), pairs_for(AddRemoveRow())[0]
    with replaced_draws(lambda original, mechanism, exact, noise: exact):
        for method in METHODS:
            model = estimator(method, AddRemoveRow(), budget)
            assert audit(model, pair, budget, runs=300, random_state=0).verdict == "violated"
