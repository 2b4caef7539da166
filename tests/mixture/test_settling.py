"""Errors of a mixture follow noise and the last change through the steps that were not made."""

from dataclasses import replace

import numpy as np
import pytest

from privclust.mixture import settling
from privclust.mixture.clipping import Clip
from privclust.mixture.model import Gaussians, responsibilities
from privclust.mixture.settling import LastStep, errors_of

NOISE = np.full(2, 0.02)


def two(gap: float) -> Gaussians:
    long = np.array([[0.02, 0.01], [0.01, 0.02]])
    return Gaussians(
        np.array([0.4, 0.6]), np.array([[0.0, 0.0], [gap, 0.0]]), np.array([long, 0.02 * np.eye(2)])
    )


def last_step(before: Gaussians, noise: np.ndarray = NOISE) -> LastStep:
    return LastStep(before, noise, noise, noise, noise)


def plain_step(mixture: Gaussians, rows: np.ndarray) -> Gaussians:
    shares = responsibilities(mixture.joint(rows))[0]
    sizes = shares.sum(axis=0)
    means = shares.T @ rows / sizes[:, None]
    gaps = rows[:, None] - means
    spread = np.einsum("nk,nki,nkj->kij", shares, gaps, gaps) / sizes[:, None, None]
    return Gaussians(sizes / len(rows), means, spread)


@pytest.mark.parametrize("gap", [0.15, 0.3])
def test_what_a_step_leaves_of_a_change_is_what_plain_steps_leave(monkeypatch, gap):
    monkeypatch.setattr(settling, "_STEPS", 1)
    monkeypatch.setattr(settling, "_FEWEST_ROWS", 100_000)
    rng, mixture = np.random.default_rng(0), two(gap)
    moved = replace(
        mixture,
        weights=np.array([0.41, 0.59]),
        means=mixture.means + 0.002 * rng.standard_normal((2, 2)),
        covariances=mixture.covariances + 0.0005 * np.array([[1, 0.5], [0.5, -1]]),
    )
    rows = mixture.draw(400_000, rng)[0]
    other, same = (plain_step(one, rows) for one in (moved, mixture))
    weights, means = errors_of(mixture, last_step(moved, np.zeros(2)), Clip(2, "full"), rng)
    np.testing.assert_allclose(means, np.abs(other.means - same.means), atol=2e-4)
    np.testing.assert_allclose(weights, np.abs(other.weights - same.weights), atol=1e-3)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_errors_are_those_of_the_noise_where_clusters_are_separate(kind):
    mixture, rng = two(5.0), np.random.default_rng(0)
    weights, means = errors_of(mixture, last_step(mixture), Clip(2, kind), rng)
    np.testing.assert_allclose(weights, 0.02 * mixture.weights, rtol=0.1)
    np.testing.assert_allclose(means, 0.02 * np.sqrt(0.02), rtol=0.1)


def test_errors_grow_where_components_overlap():
    near, far = (
        errors_of(two(gap), last_step(two(gap)), Clip(2, "full"), np.random.default_rng(0))
        for gap in (0.1, 5.0)
    )
    assert (near[0] > 2 * far[0]).all()
    assert (near[1] > 2 * far[1]).all()


def test_many_coordinates_are_followed_for_each_component_alone(monkeypatch):
    monkeypatch.setattr(settling, "_MOST_COORDINATES", 5)
    mixture = two(5.0)
    weights, means = errors_of(
        mixture, last_step(mixture), Clip(2, "full"), np.random.default_rng(0)
    )
    np.testing.assert_allclose(weights, 0.02 * mixture.weights, rtol=0.1)
    assert means.shape == (2, 2)
