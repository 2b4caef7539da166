"""The guard: a choice must beat ignoring the source in every draw, and the source is used if so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from privclust.source_target.solver import (
    Problem,
    choose_with_safeguard,
    improve_by_swaps,
    lazy_greedy,
    to_expected_costs,
)

RNG = np.random.default_rng(0)
CLUMPS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [9.0, 9.0]])
TARGETS = np.concatenate([centre + RNG.normal(0, 0.3, (25, 2)) for centre in CLUMPS])
DISTANCES = cdist(TARGETS, TARGETS).astype(np.float32)
N = len(TARGETS)
NOTHING = np.full(N, np.inf)


def ignoring():
    return Problem(DISTANCES.copy(), NOTHING, np.ones(N))


def served_from(*places):
    return cdist(TARGETS, np.array(places)).min(axis=1) if places else NOTHING


def chosen_with(draws, judges=None, n_chosen=3):
    draws = np.array(draws)
    return choose_with_safeguard(ignoring(), draws, draws if judges is None else judges, n_chosen)


def alone(n_chosen=3):
    return lazy_greedy(ignoring(), n_chosen).chosen


def cost(chosen, base):
    return np.minimum(DISTANCES[chosen].min(axis=0), base).mean()


def test_a_source_that_every_draw_shows_is_used():
    base = served_from(CLUMPS[3])
    choice = chosen_with([base] * 4)
    for chosen in (choice.order, choice.improved):
        assert not (chosen >= 75).any()  # no centre where the source is
        assert cost(chosen, base) < cost(alone(), base) / 2


def test_without_a_source_the_targets_are_clustered_alone():
    choice = chosen_with([NOTHING] * 3)
    np.testing.assert_array_equal(choice.order, alone())
    np.testing.assert_array_equal(choice.improved, improve_by_swaps(ignoring(), alone()))


@pytest.mark.parametrize("n_chosen", [1, 3, 6])
def test_a_source_that_one_judge_does_not_see_is_not_relied_on(n_chosen):
    base = served_from(CLUMPS[3])
    judges = np.array([base] * 31 + [NOTHING])
    choice = choose_with_safeguard(ignoring(), np.array([base] * 16), judges, n_chosen)
    # The order is judged by its first 1, 2 and 5, and by all, together.
    numbers = {k for k in (1, 2, 5) if k < n_chosen} | {n_chosen}
    gains = [cost(alone(n_chosen)[:k], NOTHING) - cost(choice.order[:k], NOTHING) for k in numbers]
    assert sum(gains) >= -1e-6
    improved = improve_by_swaps(ignoring(), alone(n_chosen))
    assert cost(choice.improved, NOTHING) <= cost(improved, NOTHING)


@pytest.mark.parametrize("seed", range(5))
def test_no_draw_finds_the_choice_worse_than_ignoring_the_source(seed):
    rng = np.random.default_rng(seed)
    draws = np.array([served_from(*rng.uniform(-1, 10, (3, 2))) for _ in range(8)])
    choice = chosen_with(draws, n_chosen=4)
    # The order is judged by its first 1, 2 and 4 together, the improved choice by itself.
    gains = [
        sum(cost(alone(4)[:k], draw) - cost(choice.order[:k], draw) for k in (1, 2, 4))
        for draw in draws
    ]
    assert min(gains) >= -1e-6
    improved = improve_by_swaps(ignoring(), alone(4))
    assert all(cost(choice.improved, draw) <= cost(improved, draw) + 1e-6 for draw in draws)


def test_the_mean_cost_is_that_over_the_draws():
    draws = np.array([served_from(CLUMPS[0]), NOTHING])
    problem = to_expected_costs(DISTANCES.copy(), draws, np.ones(N))
    expected = np.mean([np.minimum(DISTANCES, draw) for draw in draws], axis=0)
    np.testing.assert_allclose(problem.distances, expected, rtol=1e-5)


def test_the_table_of_the_problem_that_ignores_the_source_is_left_as_it_is():
    problem = ignoring()
    choose_with_safeguard(problem, served_from(CLUMPS[3])[None], served_from(CLUMPS[0])[None], 3)
    np.testing.assert_array_equal(problem.distances, DISTANCES)
