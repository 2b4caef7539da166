"""The auditor finds planted flaws, clears their correct twins, and never exceeds the truth.

Every mechanism draws from the generator that the auditor hands it, so each test is decided by its
seed. Mechanisms that are meant to be correct release integers or numbers on a grid: with NumPy's
floating-point noise the low bits alone would refute them, as one of the tests shows.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from privclust.audit.auditor import audit
from privclust.budget import Budget

RUNS = 30_000
GRID = 1024


def discrete_laplace(epsilon, size, rng):
    """Integers with P(x) proportional to exp(-epsilon |x|)."""
    stop = -np.expm1(-epsilon)
    return rng.geometric(stop, size) - rng.geometric(stop, size)


def grid_laplace(epsilon):
    """A Laplace mechanism for a number of sensitivity 1, on multiples of 1/1024."""

    def release(number, runs, rng):
        return (number * GRID + discrete_laplace(epsilon / GRID, runs, rng)) / GRID

    return release


# A Laplace with halved noise


def test_halved_noise_is_found():
    report = audit(grid_laplace(2.0), (0, 1), 1, RUNS, batch=True, random_state=0)
    assert report.verdict == "violated"
    assert 1.5 < report.epsilon_lower <= 2.0


def test_full_noise_is_not_refuted():
    report = audit(grid_laplace(1.0), (0, 1), 1, RUNS, batch=True, random_state=0)
    assert report.verdict == "not refuted"
    assert 0.8 < report.epsilon_lower <= 1.0


# A mechanism that skips noise for an empty group


def group_counts(skip_empty):
    def release(groups, rng):
        counts = np.bincount(groups, minlength=3)
        noisy = counts + discrete_laplace(1.0, 3, rng)
        return np.where(counts == 0, 0, noisy) if skip_empty else noisy

    return release


GROUP_PAIR = (np.array([0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 2]))


def test_an_empty_group_without_noise_is_found():
    report = audit(group_counts(skip_empty=True), GROUP_PAIR, 1, 6_000, random_state=0)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 4
    assert report.witness.event in ("output[2] == 0", "output[2] != 0")


def test_an_empty_group_with_noise_is_not_refuted():
    report = audit(group_counts(skip_empty=False), GROUP_PAIR, 1, 6_000, random_state=0)
    assert report.verdict == "not refuted"
    assert report.epsilon_lower > 0.5


def group_means(skip_empty):
    """Leave out an empty group from a dictionary, or report it with noise like the others."""

    def release(groups, rng):
        counts = np.bincount(groups, minlength=3)
        released = range(3) if not skip_empty else np.flatnonzero(counts)
        return {
            int(group): int(counts[group] + discrete_laplace(1.0, 1, rng)[0]) for group in released
        }

    return release


@pytest.mark.parametrize("skip_empty", [True, False])
def test_an_empty_group_that_is_left_out_is_found(skip_empty):
    report = audit(group_means(skip_empty), GROUP_PAIR, 1, 3_000, random_state=0)
    assert report.verdict == ("violated" if skip_empty else "not refuted")
    assert not skip_empty or "output.keys" in report.witness.features


# A floating-point Laplace, seen through its low bits


def float_laplace(number, runs, rng):
    return number + rng.laplace(scale=1.0, size=runs)


def test_floating_point_noise_is_found_through_its_low_bits():
    report = audit(float_laplace, (0.0, 1.0), 1, RUNS, batch=True, random_state=0)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 4
    assert any("last bit" in feature for feature in report.witness.features)


def test_floating_point_noise_is_not_refuted_without_low_bits():
    chosen = ("values", "shapes", "exceptions")
    report = audit(float_laplace, (0.0, 1.0), 1, RUNS, features=chosen, batch=True, random_state=0)
    assert report.verdict == "not refuted"
    assert report.epsilon_lower > 0.8


def single_precision_laplace(number, runs, rng):
    return np.float32(number) + rng.laplace(size=runs).astype(np.float32)


def test_single_precision_noise_is_found_through_its_low_bits():
    report = audit(single_precision_laplace, (0.0, 1.0), 1, RUNS, batch=True, random_state=0)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 4


# A budget split in swapped order


def count_once_and_sum_four_times(share_of_count, share_of_each_sum):
    """One count and four sums of one row's value 1; the shares must satisfy c + 4 s = 1."""

    def release(number_of_rows, runs, rng):
        epsilons = [share_of_count] + [share_of_each_sum] * 4
        noise = [discrete_laplace(epsilon, runs, rng) for epsilon in epsilons]
        return number_of_rows + np.column_stack(noise)

    return release


def test_a_budget_split_in_swapped_order_is_found():
    swapped = count_once_and_sum_four_times(0.12, 0.52)
    report = audit(swapped, (10, 11), 1, RUNS, batch=True, random_state=0)
    assert report.verdict == "violated"
    assert 1.2 < report.epsilon_lower <= 0.12 + 4 * 0.52


def test_a_budget_split_in_order_is_not_refuted():
    in_order = count_once_and_sum_four_times(0.52, 0.12)
    report = audit(in_order, (10, 11), 1, RUNS, batch=True, random_state=0)
    assert report.verdict == "not refuted"
    assert 0.5 < report.epsilon_lower <= 1.0


# Correct mechanisms, many times over


def randomised_response(bit, runs, rng):
    lies = rng.random(runs) < 1 / (1 + np.e)
    return np.where(lies, 1 - bit, bit)


def grid_gaussian(number, runs, rng):
    return np.round((number + rng.standard_normal(runs)) * GRID) / GRID


def unrelated(number, runs, rng):
    return rng.integers(100, size=(runs, 3))


# A Gaussian of standard deviation 1 and sensitivity 1 has ε = 1 at exactly this δ.
GAUSSIAN_DELTA = stats.norm.cdf(-0.5) - np.e * stats.norm.cdf(-1.5)

# The last two are repeated less often: a finer grid is no other noise, and where nothing is to be
# learned no bound comes near zero.
CORRECT = {
    "discrete Laplace": (
        lambda n, runs, rng: n + discrete_laplace(1.0, runs, rng),
        Budget(1),
        1.0,
        60,
    ),
    "randomised response": (randomised_response, Budget(1), 1.0, 60),
    "Gaussian": (grid_gaussian, Budget(1, GAUSSIAN_DELTA), 1.0, 60),
    "Laplace": (grid_laplace(1.0), Budget(1), 1.0, 20),
    "unrelated to the data": (unrelated, Budget(1), 0.0, 20),
}


@pytest.mark.parametrize(
    ("mechanism", "claimed", "truth", "repeats"), CORRECT.values(), ids=CORRECT.keys()
)
def test_the_bound_never_exceeds_the_truth_however_often(mechanism, claimed, truth, repeats):
    bounds = [
        audit(mechanism, (0, 1), claimed, 3_000, 0.99, batch=True, random_state=seed).epsilon_lower
        for seed in range(repeats)
    ]
    assert max(bounds) <= truth
    # A bound that never rises could not fail the line above.
    assert np.median(bounds) >= 0.5 * truth
