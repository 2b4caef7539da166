"""Audits of the private metric by sampling: one for each mechanism, and one of a whole variant.

What every question and variant can tell is known exactly (``test_table_transcripts``). A run is
seen with all its answers; the statistic is the evidence that a transcript adds up.
"""

from __future__ import annotations

import numpy as np
import pytest

from privclust.audit.auditor import audit
from privclust.budget import Budget
from privclust.categories.learn import Options
from support.audits import evidence_at_once, evidence_bound
from support.noise import seeded_noise
from support.table_runs import (
    ADD,
    ASKED,
    METHODS,
    NEIGHBOURS,
    QUESTIONS,
    REPLACE,
    TREES,
    choose_tree,
    transcript_of,
    views_of,
)

BUDGETS = {"pure": Budget("1.5"), "zcdp": Budget(2, "0.1")}


def refuted(method, sizes, pair, budget, threshold, runs, *, halved, at_once=True):
    """Tell whether evidence beyond a threshold shows more than the budget."""
    views = views_of(pair, sizes, ADD, budget, seeded_noise(0, halved=halved))

    def evidence(side, runs):
        if at_once:
            return evidence_at_once(lambda view: method(view, budget.whole), views, side, runs)
        return [transcript_of(method, views, side, budget).evidence for _ in range(runs)]

    return evidence_bound(evidence, budget, threshold, runs) > budget.epsilon


# How often evidence lies beyond the threshold on the right and on the left: 95 % and 5 % (pure), or
# 92 % and 6 % (zCDP), if noise is halved; 83 % and 17 %, or 73 % and 27 %, if it is not.
@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("currency", BUDGETS)  # discrete Laplace, discrete Gaussian
def test_a_table_is_refuted_only_if_its_noise_is_halved(currency, halved):
    (sizes, pair), budget = ASKED["tables", ADD], BUDGETS[currency]
    assert refuted(QUESTIONS["tables"], sizes, pair, budget, 0.0, 1500, halved=halved) == halved


# Among two or three candidates a pick loses less than half of what is claimed for it, so that half
# the noise stays within the claim; these are weighed otherwise.
@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("question", ["relevance", "context"])  # noisy top k, exponential
def test_picks_weigh_as_much_as_their_noise_says(question, halved):
    """On the right, how much likelier answers are on the left is one on average.

    With halved noise it is 0.77 with a standard deviation of 0.64: ten standard errors away in so
    many runs. A limit of five is passed by chance once in a million either way.
    """
    (sizes, pair), budget = ASKED[question, REPLACE], BUDGETS["pure"]
    views = views_of(pair, sizes, REPLACE, budget, seeded_noise(0, halved=halved))
    weights = np.exp(
        -evidence_at_once(lambda view: QUESTIONS[question](view, budget.whole), views, 1, 800)
    )
    gap = abs(weights.mean() - 1) / (weights.std() / np.sqrt(len(weights)))
    assert (gap > 5) == halved


# Scores differ by even numbers only; with this much to spend, the first two pairs are seldom picked
# on the left, yet often enough to be counted: in 1 % of runs where it is 33 % on the right if noise
# is halved, in 7 % and 30 % if it is not.
@pytest.mark.parametrize("halved", [False, True])
def test_the_choice_of_a_tree_is_refuted_only_if_its_noise_is_halved(halved):
    budget, runs = Budget("2.5"), 2000 if halved else 300
    asked = choose_tree, (2, 2, 2), TREES[ADD], budget
    # Which pair is picked second depends on the first.
    assert refuted(*asked, 1.3, runs, halved=halved, at_once=False) == halved


# There is one target, so that the budget is spent around it. Evidence beyond 1.5 happens in 25 % of
# runs on the right and in 1 % on the left if noise is halved, in 12 % and 4 % if it is not.
WHOLE_OPTIONS = Options(targets=(0,), context_size=1, selection_share=0.2)


@pytest.mark.parametrize("halved", [False, True])
def test_a_whole_variant_is_refuted_only_if_its_noise_is_halved(halved):
    def method(view, share):
        return METHODS["pairs"](view, share, WHOLE_OPTIONS)

    asked = method, (2, 2, 2), NEIGHBOURS[ADD], Budget(2)
    assert refuted(*asked, 1.5, 1000, halved=halved) == halved


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
