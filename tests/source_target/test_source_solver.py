"""The solver: lazy greedy is greedy, swaps only help, and tiny problems are solved to the end."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from privclust.source_target import solution
from privclust.source_target.public_targets import PublicTargets
from privclust.source_target.solution import ExistingService, solve
from privclust.source_target.solver import (
    Gains,
    Problem,
    improve_by_swaps,
    lazy_greedy,
    solution_cost,
)


def random_problem(seed, n_objects=40, with_base=True, grid=False):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_objects, 2))
    points = np.round(points) if grid else points  # many duplicates and ties
    base = rng.uniform(0.2, 1.5, n_objects) if with_base else np.full(n_objects, np.inf)
    weights = rng.integers(0, 4, n_objects).astype(float) + (rng.random() < 0.5)
    weights[0] = 1
    return Problem(cdist(points, points).astype(np.float32), base, weights)


def plain_greedy(problem, n_chosen):
    """Compute every gain in every round; the lowest number wins a tie."""
    gains, chosen = Gains(problem), []
    for _ in range(n_chosen):
        found = [
            -1.0 if candidate in chosen else gains.of(candidate)
            for candidate in range(len(problem.distances))
        ]
        chosen.append(int(np.argmax(found)))
        gains.choose(chosen[-1])
    return chosen


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_lazy_greedy_chooses_in_the_order_of_plain_greedy(seed, with_base, grid):
    problem = random_problem(seed, with_base=with_base, grid=grid)
    assert lazy_greedy(problem, 12).chosen.tolist() == plain_greedy(problem, 12)


def test_lazy_greedy_computes_few_gains():
    problem = random_problem(0, n_objects=400)
    assert lazy_greedy(problem, 100).evaluations < 10 * 400


def test_costs_of_the_greedy_order_are_those_of_its_beginnings():
    problem = random_problem(1)
    found = lazy_greedy(problem, 5)
    costs = [solution_cost(problem, found.chosen[:k]) for k in range(6)]
    np.testing.assert_allclose(found.costs, costs, rtol=1e-6)


@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 6))
def test_swaps_end_where_no_single_swap_helps(seed, with_base, k):
    problem = random_problem(seed, n_objects=25, with_base=with_base)
    chosen = improve_by_swaps(problem, lazy_greedy(problem, k).chosen)
    cost = solution_cost(problem, chosen)
    assert len(set(chosen)) == k
    assert cost <= solution_cost(problem, lazy_greedy(problem, k).chosen) + 1e-12
    for place in range(k):
        for candidate in set(range(25)) - set(chosen):
            other = chosen.copy()
            other[place] = candidate
            assert solution_cost(problem, other) >= cost - 1e-6 * cost


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_tiny_problems_are_solved_as_by_brute_force(seed, k):
    problem = random_problem(seed, n_objects=9)
    best = min(solution_cost(problem, np.array(choice)) for choice in combinations(range(9), k))
    found = solution_cost(problem, improve_by_swaps(problem, lazy_greedy(problem, k).chosen))
    # A swap of one for one cannot leave every local optimum; more than 3 % above is a defect.
    assert found <= 1.03 * best
    if k == 1:
        assert found == pytest.approx(best, rel=1e-6)


def test_no_centre_is_put_where_the_source_already_is():
    targets = np.concatenate([np.full((50, 1), 0.0), np.full((3, 1), 10.0)])
    public = PublicTargets.of(targets)
    found = solve(public, ExistingService(np.where(targets[:, 0] == 0, 0.0, 10.0)[None]), 1)
    assert targets[found.chosen[0], 0] == 10


@pytest.mark.parametrize("judged", [False, True])
@given(seed=st.integers(0, 10**6))
def test_what_forced_centres_serve_needs_no_other(judged, seed):
    rng = np.random.default_rng(seed)
    clumps = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 20.0]])
    own = rng.permutation(np.arange(30) % 3)
    targets = clumps[own] + rng.normal(0, 0.1, (30, 2))
    forced = rng.choice(np.flatnonzero(own == 2), 1)  # the farthest clump, which is chosen first
    public = PublicTargets.of(targets, forced=forced)
    base = np.full((2, 30), np.inf)
    found = solve(public, ExistingService(base, base if judged else None), 3)
    assert found.chosen[0] == found.order[0] == forced[0]
    assert sorted(own[found.chosen]) == sorted(own[found.order]) == [0, 1, 2]
    distances = cdist(targets, targets)
    best = min(
        distances[[forced[0], *free]].min(axis=0).mean() for free in combinations(range(30), 2)
    )
    assert found.cost == pytest.approx(best, rel=1e-5)


def test_a_target_is_served_by_what_is_nearest_to_it():
    targets = np.array([[0.0, 0.0], [0.1, 0.0], [10.0, 0.0], [10.1, 0.0]])
    public, near = PublicTargets.of(targets), np.array([0.0, 0.1, 10.0, 10.1])
    found = solve(public, ExistingService(np.array([near, np.full(4, np.inf)])), 1)
    assert targets[found.chosen[0], 0] >= 10
    assert found.served.tolist() == [0.5, 0.5, 0, 0]  # in the second draw there is no source
    certain = solve(public, ExistingService(near[None]), 1)
    assert certain.served.tolist() == [1, 1, 0, 0]


def test_a_certain_source_needs_no_draws_and_an_uncertain_one_is_weighed():
    rng = np.random.default_rng(0)
    public = PublicTargets.of(rng.normal(size=(60, 2)))
    base = rng.uniform(0, 1, 60)
    once, often = (
        solve(public, ExistingService(np.repeat(base[None], n, axis=0)), 6).chosen for n in (1, 5)
    )
    assert once.tolist() == often.tolist()
    nothing = np.full((1, 60), np.inf)
    ignored = solve(public, ExistingService(nothing), 6).chosen
    hardly = np.concatenate([base[None], np.repeat(nothing, 10_000, axis=0)])
    assert solve(public, ExistingService(hardly), 6).chosen.tolist() == ignored.tolist()
    assert ignored.tolist() != once.tolist()


def test_large_problems_are_solved_on_cells_at_almost_the_same_cost(monkeypatch):
    rng = np.random.default_rng(0)
    public = PublicTargets.of(rng.normal(size=(600, 2)))
    existing = ExistingService(rng.uniform(0.3, 2, (2, 600)))
    exact = solve(public, existing, 8)
    monkeypatch.setattr(solution, "MOST_BYTES", 2**10)
    monkeypatch.setattr(solution, "_CELLS", 150)
    reduced = solve(public, existing, 8)
    assert exact.cost <= reduced.cost <= 1.05 * exact.cost
