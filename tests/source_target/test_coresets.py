"""The two coresets, and the settings that the published methods leave open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from privclust.exceptions import ParameterError
from privclust.papers.targets.published import source_spread
from privclust.source_target.placement import coreset, greedy_net, method_sites
from support.variants import medoids

RNG = np.random.default_rng(0)
CLUMPS = np.concatenate([RNG.normal(c, 0.02, (60, 2)) for c in ((0, 0), (1, 0), (0.5, 1))])
SOURCE = CLUMPS[:60].repeat(10, axis=0)


@pytest.mark.parametrize("make", [coreset, greedy_net])
@pytest.mark.parametrize("radius", [0.01, 0.05, 0.3, 5.0])
def test_every_target_is_within_the_radius_of_the_coreset(make, radius):
    sites = CLUMPS[make(CLUMPS, radius)]
    assert cdist(CLUMPS, sites).min(axis=1).max() <= radius


def test_no_two_points_of_a_greedy_net_are_within_the_radius():
    sites = CLUMPS[greedy_net(CLUMPS, 0.05)]
    assert (cdist(sites, sites) + np.eye(len(sites)) > 0.05).all()
    assert len(sites) < len(coreset(CLUMPS, 0.05))


def test_copies_of_one_point_are_one_site():
    same = np.ones((5, 2))
    assert len(greedy_net(same, 0.1)) == 1
    assert len(method_sites(same, 0.1, None, few=True)) == 1


def test_each_method_takes_the_coreset_that_suits_it():
    few, fine = (method_sites(CLUMPS, 0.05, "auto", few=few) for few in (True, False))
    assert len(few) == len(greedy_net(CLUMPS, 0.05))
    assert len(fine) == len(coreset(CLUMPS, 0.05))


@pytest.mark.parametrize("method", ["nna", "nas"])
@pytest.mark.parametrize("construction", ["auto", "halving", "net", None])
def test_a_fit_takes_every_coreset_or_none(method, construction):
    model = medoids(2, epsilon=500, method=method, coreset=construction, random_state=0).fit(
        CLUMPS, source=SOURCE
    )
    assert len(model.centers_) == 2
    if construction is None and method == "nas":
        assert len(model.released_source_.positions) == len(CLUMPS)


@pytest.mark.filterwarnings("ignore::privclust.exceptions.PrivclustWarning")
def test_a_larger_share_of_false_cells_lets_more_of_them_through():
    few, many, all_of_them = (
        medoids(2, epsilon=1, method="nna", false_cells=expected, random_state=1).fit(
            CLUMPS, source=None
        )
        for expected in (1e-6, 5.0, 1e6)
    )
    assert len(few.released_source_.counts) == 0
    assert 0 < len(many.released_source_.counts) <= len(all_of_them.released_source_.counts)


def test_without_a_pull_averages_leave_their_cells():
    pulled, free = (
        medoids(2, epsilon=4, method="nna", pull=pull, counts_share=0.9, random_state=0)
        .fit(CLUMPS, source=SOURCE)
        .released_source_.positions
        for pull in (True, False)
    )
    assert cdist(pulled, CLUMPS).min(axis=1).max() < cdist(free, CLUMPS).min(axis=1).max()


def test_the_share_of_counts_moves_noise_from_counts_to_sums():
    less, more = (
        medoids(2, method="nna", counts_share=share)
        .fit(CLUMPS, source=SOURCE)
        .released_source_.count_error
        for share in (0.2, 0.8)
    )
    assert less > 3 * more


def test_nas_releases_its_spread_if_it_is_paid_for():
    model = medoids(
        2, epsilon=2000, method="nas", coreset=None, n_nearest=5, spread_share=0.5, random_state=0
    ).fit(CLUMPS, source=SOURCE)
    exact = source_spread(SOURCE, CLUMPS, 5)
    assert model.source_spread_ == pytest.approx(exact, abs=5 * model.source_spread_error_ + 0.02)
    assert model.release().parameters["source_spread"] == model.source_spread_
    assert model.privacy_.spent.pure == 2000
    again = model.set_params(spread_share=None).fit(CLUMPS, source=SOURCE)
    assert "source_spread" not in again.release().parameters


def test_only_nas_has_a_spread():
    with pytest.raises(ParameterError, match="spread_share"):
        medoids(2, method="nna", spread_share=0.1).fit(CLUMPS, source=SOURCE)
