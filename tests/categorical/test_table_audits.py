"""Every variant of the private metric is audited; with half the noise the audit must object.

The audits run on the view with its exact counts kept, so that thousands of runs are cheap; what is
audited is what the variant learns, noise and all. One attribute is the only target, so that the
whole budget is spent around it.
"""

from __future__ import annotations

import numpy as np
import pytest
from table_views import seeded, view_of

from privclust.audit import audit
from privclust.budget import Budget
from privclust.categorical.pairs import pairs, tree
from privclust.categorical.published import (
    Options,
    baseline,
    max_dependency,
    max_relevance,
    mean_su,
)
from privclust.privacy.meter import Meter

SIZES = (2, 2, 2)
COMMON = [(0, 0, 0)] * 6
PAIR = (np.array(COMMON), np.array([*COMMON, (1, 1, 1)]))
OPTIONS = Options(targets=(0,), context_size=1, selection_share=0.2)
METHODS = {
    "pairs": pairs,
    "tree": tree,
    "baseline": baseline,
    "mean-su": mean_su,
    "max-relevance": max_relevance,
    "max-dependency": max_dependency,
}
OURS = ("pairs", "tree")
PUBLISHED = [name for name in METHODS if name not in OURS]
RUNS = 1500

# Shrinking hides most of a loss that is spread over tables of a few rows; one table of many rows
# shows it.
MANY = np.array([(0, 0), (0, 1), (1, 0), (1, 1)] * 50)
ONE_TABLE = (MANY, np.concatenate([MANY, [(1, 1)]]))


def learner(method, budget, flawed):
    """What a variant learns in each of many runs on the same rows, as numbers."""

    def learn(rows, runs, rng):
        view = view_of(rows, SIZES, budget=budget)
        view._noise, outputs = seeded(rng, flawed), []
        for _ in range(runs):
            view._meter = Meter(budget)
            learned = method(view, budget.whole, OPTIONS)
            (estimate,) = learned.estimates.values()
            context = learned.contexts[0]
            # Contexts differ in size; the tables of a padded context keep outputs alike.
            cells = np.zeros((2, 4))
            for place, other in enumerate((1, 2)):
                if other in context or len(estimate.layout.pairs) == 3:
                    cells[place] = estimate.layout.table(estimate.counts, (0, other)).ravel()
            outputs.append([*cells.ravel(), *(float(other in context) for other in (1, 2))])
        return np.array(outputs)

    return learn


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("name", METHODS)
def test_no_variant_loses_more_than_it_claims(name, delta):
    budget = Budget(2, delta)
    fit = learner(METHODS[name], budget, flawed=False)
    report = audit(fit, PAIR, budget, 450, batch=True, random_state=1)
    assert report.verdict == "not refuted"


@pytest.mark.parametrize("name", PUBLISHED)
def test_half_the_noise_of_a_published_variant_is_found(name):
    budget = Budget(2)
    fit = learner(METHODS[name], budget, flawed=True)
    report = audit(fit, PAIR, budget, RUNS, batch=True, random_state=1)
    assert report.verdict == "violated"


def one_table_learner(method, budget, flawed):
    def learn(rows, runs, rng):
        view = view_of(rows, (2, 2), budget=budget)
        view._noise, outputs = seeded(rng, flawed), []
        for _ in range(runs):
            view._meter = Meter(budget)
            (estimate,) = method(view, budget.whole, OPTIONS).estimates.values()
            outputs.append([*estimate.counts, *estimate.margins, estimate.n_rows])
        return np.array(outputs)

    return learn


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("flawed", [False, True])
def test_half_the_noise_on_one_table_is_found_and_the_full_noise_is_not_refuted(name, flawed):
    budget = Budget(2)
    fit = one_table_learner(METHODS[name], budget, flawed)
    # The tree has nothing to choose here, so a part of its budget shows no loss: look longer.
    runs = 2 * RUNS if flawed and name == "tree" else RUNS
    report = audit(fit, ONE_TABLE, budget, runs, batch=True, random_state=1)
    assert report.verdict == ("violated" if flawed else "not refuted")


# The published code of MeanSU divides by the exact entropies.


def entropy_of(counts):
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def mean_su_context(exact_denominator):
    """Algorithm 3 for one target and two candidates, on a grid of 2^-20 bits.

    The planted copy of the published code adds noise to the entropies of the numerator only.
    """

    def context(rows, runs, rng):
        n = len(rows)
        columns = [np.bincount(column, minlength=2) for column in rows.T]
        joints = [np.bincount(2 * rows[:, 0] + rows[:, x], minlength=4) for x in (1, 2)]
        exact = np.array([entropy_of(counts) for counts in (*columns, *joints)])
        sensitivity = (1 / np.log(2) + np.log2(n + 1)) / n  # the published bound
        stop = -np.expm1(-1 / (sensitivity * len(exact) * 2**20))
        steps = rng.geometric(stop, (2, runs, len(exact)))
        noisy = exact + (steps[0] - steps[1]) / 2**20
        below = np.broadcast_to(exact, noisy.shape) if exact_denominator else noisy
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.stack(
                [2 * (1 - noisy[:, 2 + x] / (below[:, 0] + below[:, x])) for x in (1, 2)],
                axis=1,
            )
            return (shares >= shares.mean(axis=1, keepdims=True)).astype(float)

    return context


# The target and the first candidate are constant; one more row makes them vary.
CONSTANT = np.array([(0, 0, 0), (0, 0, 1)] * 10)
VARYING = np.concatenate([CONSTANT, [(1, 1, 0)]])


def test_exact_entropies_in_the_denominator_have_no_finite_loss():
    report = audit(mean_su_context(True), (CONSTANT, VARYING), 1, 6000, batch=True, random_state=0)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 4


def test_noisy_entropies_in_the_denominator_are_not_refuted():
    fit = mean_su_context(False)
    report = audit(fit, (CONSTANT, VARYING), 1, 6000, batch=True, random_state=0)
    assert report.verdict == "not refuted"
