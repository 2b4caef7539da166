"""What the view of sources adds up, and that no neighbour changes it by more than was paid for."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from privclust.budget import Budget
from privclust.data.sites.distances import METRICS
from privclust.data.sites.kernels import nearest_rows
from privclust.data.sites.public import SOURCE_STEPS, Rings, TargetSpace
from privclust.exceptions import BudgetExceededError
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from source_target.source_doubles import BUDGETS, RINGS, TARGETS, ask, view_of
from support.transcripts import (
    allowed_change,
    amount_lost,
    change,
    loss_between,
    recorded_draws,
)

QUESTIONS = ["histogram", "cells", "averages", "distance"]
UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 2)]


def extreme_rows(rng, count):
    corners = rng.choice([-3.0, 4.0], (count, 2))
    kinds = [corners, corners * 1e100, rng.uniform(-3, 4, (count, 2)), TARGETS[rng.integers(4)]]
    return np.array([np.broadcast_to(kinds[rng.integers(4)], (count, 2))[i] for i in range(count)])


def neighbours(unit, rng):
    rows, more = extreme_rows(rng, rng.integers(1, 8)), extreme_rows(rng, 4)
    if isinstance(unit, Person):
        people = np.append(rng.integers(1, 4, len(rows)), np.zeros(4, int))
        frame = pd.DataFrame(np.concatenate([rows, more]), columns=["a", "b"]).assign(who=people)
        frame = frame.iloc[rng.permutation(len(frame))]
        return frame, frame[frame["who"] > 0]
    if isinstance(unit, ReplaceRow):
        return rows, np.concatenate([more[:1], rows[1:]])
    return rows, np.insert(rows, rng.integers(len(rows) + 1), more[0], axis=0)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("currency", BUDGETS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_step_between_neighbours_loses_more_than_the_share(question, currency, unit):
    rng = np.random.default_rng(3)
    largest = 0
    for _ in range(20):
        draws = []
        for rows in neighbours(unit, rng):
            view, share = view_of(rows, BUDGETS[currency], unit=unit)
            with recorded_draws() as seen:
                ask(view, question, share)
            draws.append(seen)
        lost = amount_lost(loss_between(*draws), currency)
        assert lost <= BUDGETS[currency].amount
        largest = max(largest, lost)
    assert largest > 0


@pytest.mark.parametrize("currency", BUDGETS)
@pytest.mark.parametrize("question", ["histogram", "cells"])
def test_the_sensitivity_is_attained(question, currency):
    """More noise than needed would pass the test above and waste the budget."""
    draws = []
    for data in (np.empty((0, 2)), np.array([[4.0, 4.0]])):
        view, share = view_of(data, BUDGETS[currency])
        with recorded_draws() as seen:
            ask(view, question, share)
        draws.append(seen)
    lost = amount_lost(loss_between(*draws), currency)
    assert lost >= 0.95 * BUDGETS[currency].amount


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_partition_into_blocks_gives_the_same_answer(question):
    rows = np.random.default_rng(0).uniform(-3, 4, (50, 2)).round(1)  # with ties
    exact = []
    for block_rows in (1, 7, 50):
        view, share = view_of(rows, Budget(1), block_rows=block_rows)
        with recorded_draws() as seen:
            ask(view, question, share)
        exact.append([draw.exact for draw in seen])
    for other in exact[1:]:
        for left, right in zip(exact[0], other, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_source_without_rows_is_answered_like_any_other(question):
    view, share = view_of(np.empty((0, 2)), Budget(1))
    assert np.isfinite(ask(view, question, share)).all()


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_asked_beyond_the_budget(question):
    view, share = view_of(np.zeros((1, 2)), Budget(1))
    ask(view, question, share)
    with recorded_draws() as seen, pytest.raises(BudgetExceededError):
        ask(view, question, share)
    assert not seen


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "haversine"])
def test_a_row_is_in_the_bin_of_its_nearest_site_and_distance(metric):
    rng = np.random.default_rng(1)
    targets, rows = rng.uniform(0.2, 3, (30, 2)), rng.uniform(-3, 4, (200, 2))
    space = TargetSpace(METRICS[metric].embed(targets), METRICS[metric])
    reach = np.quantile(cdist(space.targets, space.targets), [0.2, 0.5])
    rings = Rings(np.append(0, reach), (space.targets[:3], space.targets[3:8]))
    view, share = view_of(rows, Budget(1), space=space)
    with recorded_draws() as seen:
        view.ask_histogram("bins", rings, share)
    norm = "cityblock" if metric == "manhattan" else "euclidean"
    places = METRICS[metric].embed(rows)
    shells = np.searchsorted(rings.edges, cdist(places, space.targets, norm).min(axis=1)) - 1
    expected = np.zeros(9, int)
    for place, shell in zip(places, shells, strict=True):
        if shell == 2:
            expected[-1] += 1
        else:
            sites = rings.sites[max(shell, 0)]
            expected[3 * max(shell, 0) + cdist([place], sites, norm).argmin()] += 1
    np.testing.assert_array_equal(seen[0].exact, expected)


def test_rows_beyond_the_bounds_are_counted_outside():
    view, share = view_of(np.array([[0.0, 0.0], [50.0, 0.0], [0.0, -3.1]]), Budget(1))
    with recorded_draws() as seen:
        view.ask_histogram("bins", RINGS, share)
    assert seen[0].exact.tolist() == [1, 0, 0, 0, 2]


def test_a_very_far_row_within_very_wide_bounds_is_beyond_the_last_shell():
    grid = TargetSpace(TARGETS).to_grid(np.array([[1e300, -1e300]]))
    assert np.linalg.norm(grid) > 8 * SOURCE_STEPS


def test_precomputed_distances_are_binned_by_their_smallest():
    space = TargetSpace(np.empty((3, 0)), METRICS["precomputed"])
    rings = Rings(np.array([0, 1.0, 2.0]), (np.array([0, 2]), np.array([1])))
    rows = np.array([[0.5, 0.9, 3.0], [3.0, 0.1, 2.9], [1.5, 3.0, 1.6], [3.0, 3.0, 3.0]])
    view, share = view_of(rows, Budget(1), space=space)
    with recorded_draws() as seen:
        view.ask_histogram("bins", rings, share)
    assert seen[0].exact.tolist() == [1, 1, 1, 1]


def test_averages_take_the_nearest_rows_and_the_site_where_rows_lack():
    space, site = TargetSpace(TARGETS), TARGETS[:1]
    rows = np.array([[0.1, 0.0], [0.9, 0.9], [0.0, 0.2]])
    grid = space.clipped_grid(site)
    for n_nearest, expected in ((2, rows[[0, 2]].sum(axis=0)), (5, rows.sum(axis=0))):
        sums = nearest_rows(space, grid, rows, n_nearest).padded_sums(grid)
        in_units = sums * space.radius / SOURCE_STEPS + n_nearest * space.centre
        np.testing.assert_allclose(in_units[0], expected, atol=1e-5)


def test_distances_are_those_of_the_nearest_rows_and_the_farthest_where_rows_lack():
    rows = np.array([[0.0, 0.5], [1.0, 1.0]])
    view, share = view_of(rows, Budget(1000))
    radius = TargetSpace(TARGETS).radius
    found = view.ask_nearest_distance("q", TARGETS, 3, share).value[0]
    expected = np.concatenate([cdist(TARGETS, rows), np.full((4, 1), 2 * radius)], axis=1).mean()
    assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("n_nearest", [2, 3])
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("currency", BUDGETS)
def test_the_sensitivity_of_distances_is_attained_by_sources_at_the_only_site(
    currency, unit, n_nearest
):
    """All rows of a person count at a site that asks for so many, and a person has two."""
    site, opposite = TARGETS[:1], TARGETS[3:]
    pair = {
        "add-remove-row": (np.empty((0, 2)), site),
        "replace-row": (opposite, site),
        "person": [
            pd.DataFrame(rows, columns=["a", "b"]).assign(who="one")
            for rows in (np.empty((0, 2)), np.repeat(site, 2, axis=0))
        ],
    }[unit.name]
    draws = []
    for rows in pair:
        view, share = view_of(rows, BUDGETS[currency], unit=unit)
        with recorded_draws() as seen:
            view.ask_nearest_distance("q", site, n_nearest, share)
        draws += seen
    found = change(draws[0].mechanism, draws[0].exact, draws[1].exact)
    assert 0.999999 < found / allowed_change(draws[0].mechanism) <= 1


def test_no_public_scale_depends_on_the_source():
    """The flaw to avoid: one outlier among the sources must not move the grid of the others."""
    near = np.full((20, 2), 0.5)
    exact = []
    for rows in (near, np.concatenate([near, [[4.0, 4.0]]])):
        view, share = view_of(rows, Budget(1))
        with recorded_draws() as seen:
            ask(view, "cells", share)
        exact.append(seen[1].exact)
    moved = np.abs(exact[1] - exact[0]).max(axis=1)
    assert (moved > 0).sum() == 1  # the outlier joins one cell; the other is left as it was
