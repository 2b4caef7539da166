"""The bound on the cost: it holds, it says something, and noise alone does not make it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from privclust.data.public import Noisy
from privclust.data.sites.kernels import RingCounts
from privclust.data.sites.public import Rings, TargetSpace
from privclust.distributions import noise_like
from privclust.papers.targets import PrivateNearestMedoids
from privclust.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from privclust.source_target import PrivateSourceTargetMedoids
from privclust.source_target.certificate import CONFIDENCE, distance_bounds
from privclust.source_target.placement import CoordinateCells, DistanceCells

RNG = np.random.default_rng(0)
TOWNS = RNG.uniform(0, 1, (200, 2))
NEAR = RNG.normal(0.3, 0.08, (3000, 2))
ONE = Fraction(1)
NOISES = {"pure": DiscreteLaplace(4 * ONE, ONE), "zcdp": DiscreteGaussian(36 * ONE, ONE)}


def true_cost(model, targets, source):
    return cdist(targets, np.concatenate([source, model.centers_])).min(axis=1).mean()


def exact_counts(space, rings, source):
    """Count sources by the definition of the bins, without the code behind the door."""
    to_targets = cdist(source, space.targets).min(axis=1)
    shells = np.searchsorted(rings.edges, to_targets, side="right") - 1
    counts = np.zeros(rings.n_bins)
    for row, shell in zip(source, shells, strict=True):
        inside = shell < len(rings.sites)
        own = cdist(row[None], rings.sites[shell])[0].argmin() if inside else 0
        counts[rings.offsets[shell] + own if inside else -1] += 1
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_bounds_hold_where_counts_are_exact(seed):
    """Every target is as near to some source as its bound says, whatever the partition."""
    rng = np.random.default_rng(seed)
    space = TargetSpace(rng.normal(0, 1, (60, 3)))
    source = rng.normal(rng.normal(0, 1, 3), 0.7, (25, 3))
    edges = np.cumsum([0, *rng.uniform(0.1, 0.8, 2), 20])
    rings = Rings(edges, tuple(rng.normal(0, 1, (rng.integers(1, 9), 3)) for _ in edges[1:]))
    counts = Noisy(100 * exact_counts(space, rings, source), 1.0)
    bounds = distance_bounds(CoordinateCells(space), rings, counts, DiscreteLaplace(ONE, ONE))
    assert np.isfinite(bounds).all()
    assert (cdist(space.targets, source).min(axis=1) <= bounds).all()


def test_bounds_of_precomputed_distances_are_those_of_coordinates():
    space, source = TargetSpace(TOWNS), NEAR[:50]
    numbers = np.arange(0, 200, 20)
    rings = Rings(np.array([0, 0.05, 0.2]), (TOWNS[numbers],) * 2)
    counts = Noisy(100 * exact_counts(space, rings, source), 1.0)
    noise = DiscreteLaplace(ONE, ONE)
    table = cdist(TOWNS, TOWNS).astype(np.float32)
    by_number = Rings(rings.edges, (numbers,) * 2)
    found = distance_bounds(DistanceCells(space, table), by_number, counts, noise)
    wanted = distance_bounds(CoordinateCells(space), rings, counts, noise)
    assert found == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("currency", NOISES)
def test_noise_alone_passes_for_a_source_as_rarely_as_is_said(currency):
    """Without sources there is no bound; noise makes one in at most one run of twenty, and half
    as much noise as there is would make many."""
    space, noise = TargetSpace(TOWNS), NOISES[currency]
    rings = Rings(np.array([0, 0.1]), (TOWNS[:40],))
    error, often = noise.standard_error(), {}
    for factor in (1, 2):
        drawn = np.rint(noise_like(currency, factor * error, (3000, 41), np.random.default_rng(1)))
        bounds = [
            distance_bounds(CoordinateCells(space), rings, Noisy(one, error), noise)[0]
            for one in drawn
        ]
        often[factor] = np.isfinite(bounds).mean()
    assert often[1] <= 1 - CONFIDENCE
    assert often[2] > 3 * (1 - CONFIDENCE)


@pytest.mark.parametrize("given", [{}, {"delta": 1e-6}, {"metric": "manhattan"}])
def test_rings_bound_the_true_cost_and_by_less_than_no_source_would(given):
    held, gained = 0, 0
    for _ in range(12):
        model = PrivateSourceTargetMedoids(3, epsilon=3, **given).fit(TOWNS, source=NEAR)
        order = {"manhattan": "cityblock"}.get(given.get("metric"), "euclidean")
        everything = np.concatenate([NEAR, model.centers_])
        held += cdist(TOWNS, everything, order).min(axis=1).mean() <= model.cost_bound_
        gained += model.cost_bound_ < cdist(TOWNS, model.centers_, order).min(axis=1).mean()
    assert held >= 11  # of twelve; a wrong one has a chance below one in twenty
    assert gained == 12


@pytest.mark.parametrize("method", ["nna", "nas"])
def test_published_methods_pay_for_a_bound_within_their_budget(method):
    model = PrivateNearestMedoids(3, epsilon=5, method=method, bound_share=0.3, coreset_radius=0.1)
    model.fit(TOWNS, source=NEAR)
    alone = cdist(TOWNS, model.centers_).min(axis=1).mean()
    assert true_cost(model, TOWNS, NEAR) <= model.cost_bound_ <= alone
    assert model.privacy_.epsilon <= 5
    assert any("near the coreset" in charge.query for charge in model.privacy_.queries)
    assert model.set_params(bound_share=None).fit(TOWNS, source=NEAR).cost_bound_ is None


def test_the_counts_of_the_certificate_are_those_behind_the_door():
    """The bins that the bound reasons about are the ones that are counted."""
    model = PrivateSourceTargetMedoids(2, epsilon=1)
    space = TargetSpace(TOWNS)
    rings = Rings(np.array([0, 0.05, 0.2]), (TOWNS[:9], TOWNS[9:15]))
    door = model._door(model._open(NEAR, public_of(model)))
    kernel = RingCounts(door.domain, space, rings)
    assert (kernel(NEAR) == exact_counts(space, rings, NEAR)).all()


def public_of(model):
    from privclust.source_target.public_targets import PublicTargets

    return PublicTargets.of(TOWNS, metric=model.metric)
