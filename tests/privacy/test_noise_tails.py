"""What is said of the tails of noise, against sums over the exact probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privclust.distributions import log_density, quantile, tail
from privclust.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace

VALUES = np.arange(-4000, 4001)
NOISES = [
    DiscreteLaplace(Fraction(1, 2), Fraction(1)),
    DiscreteLaplace(Fraction(20), Fraction(1)),
    DiscreteGaussian(Fraction(9), Fraction(1)),
    DiscreteGaussian(Fraction(10_000), Fraction(1)),
]


def probabilities(noise: DiscreteLaplace | DiscreteGaussian) -> np.ndarray:
    """Return the chance of each value, from the definition of the distribution."""
    if isinstance(noise, DiscreteLaplace):
        weights = np.exp(-np.abs(VALUES) / float(noise.scale))
    else:
        weights = np.exp(-(VALUES**2) / (2 * float(noise.variance)))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_tails_are_the_chances_of_such_values_and_larger_ones(noise: DiscreteLaplace) -> None:
    chances = probabilities(noise)
    beyond = chances[::-1].cumsum()[::-1]
    spread = int(3 * noise.standard_error()) + 1
    shown = np.flatnonzero(np.abs(VALUES) <= spread)
    exact = isinstance(noise, DiscreteLaplace)
    np.testing.assert_allclose(
        tail(noise, VALUES[shown].astype(float)), beyond[shown], atol=1e-12 if exact else 3e-3
    )


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_log_densities_are_those_of_the_noise_but_for_a_constant(noise: DiscreteLaplace) -> None:
    gaps = np.arange(-30.0, 31.0)
    logs = np.log(np.maximum(probabilities(noise)[4000 - 30 : 4000 + 31], 1e-300))
    told = log_density(noise, gaps)
    np.testing.assert_allclose(told - told[30], logs - logs[30], atol=1e-9)


@pytest.mark.parametrize("noise", [NOISES[1], NOISES[3]], ids=str)
@pytest.mark.parametrize("chance", [0.3, 0.05, 0.001])
def test_a_quantile_is_exceeded_with_its_chance(noise: DiscreteLaplace, chance: float) -> None:
    beyond = tail(noise, np.array([quantile(noise, chance)]))[0]
    assert beyond == pytest.approx(chance, rel=0.1)


@pytest.mark.parametrize("noise", [NOISES[1], NOISES[3]], ids=str)
def test_among_many_cells_one_is_about_as_large_as_the_largest_that_is_told(
    noise: DiscreteLaplace,
) -> None:
    for count in (10, 1000):
        assert 0.1 < count * tail(noise, np.array([noise.largest_among(count)]))[0] < 1
