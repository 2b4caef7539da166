"""A row adds to the lines of all components no more than is declared, whatever its company.

All rows of small grids are tried, in frames of every shape: the lengths of what a row adds to its
lines add up to at most the declared length, and some row nearly reaches it.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from privclust.data.encode import GRID_RADIUS
from privclust.data.points.components import PARTS, ComponentSums
from privclust.data.public import Noisy
from privclust.mixture.clipping import Clip
from privclust.mixture.lines import LineGrid
from privclust.mixture.model import Gaussians

KINDS = {"full": "full", "diagonal": "diag", "none": "spherical"}
every_shape = pytest.mark.parametrize("shapes", KINDS)
every_dimension = pytest.mark.parametrize("dimension", [1, 2, 3, 6])


def components(dimension, k=3, *, shapes="full", seed=0, **options):
    """Return public components of random places, widths and shapes."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(-0.6, 0.6, (k, dimension)) / np.sqrt(dimension)
    roots = 0.05 * rng.standard_normal((k, dimension, dimension)) + 0.2 * np.eye(dimension)
    roots = roots if shapes == "full" else roots * np.eye(dimension)
    frames = Gaussians(np.full(k, 1 / k), means, roots @ roots.swapaxes(1, 2))
    grid = LineGrid(Clip(dimension, KINDS[shapes]))
    asked = grid.components(frames, None, rng.normal(size=k))
    return replace(asked, **options)


def grid_of(dimension):
    """Return all rows of a grid in the box, as fine as keeps them few, and odd ones beside it."""
    steps = {1: 401, 2: 41, 3: 13, 6: 4}[dimension]
    axis = np.linspace(-1, 1, steps) / np.sqrt(dimension)
    rows = np.array(list(product(axis, repeat=dimension)))
    near = np.random.default_rng(1).uniform(-1e-5, 1e-5, (40, dimension))
    return np.rint(np.concatenate([rows, near]) * GRID_RADIUS)


def lines_of(statistic, rows):
    """Return what each row adds by itself, of shape (n_rows, n_components, n_entries)."""
    return np.array([statistic(row[None]) for row in rows])


def lengths_of(lines):
    return np.sqrt((lines.astype(object) ** 2).sum(axis=-1).astype(np.float64))


@every_shape
@every_dimension
def test_the_lengths_of_a_row_s_lines_add_up_to_what_is_declared_and_no_more(dimension, shapes):
    statistic = ComponentSums(components(dimension, shapes=shapes))
    declared = statistic.questions["components"].term.added.length
    lines = lines_of(statistic, grid_of(dimension))
    together = lengths_of(lines).sum(axis=1)
    assert together.max() <= declared
    assert together.max() >= (0.93 if shapes == "full" else 0.85) * declared
    # As a single vector, a row is no longer than that either.
    assert np.sqrt((lengths_of(lines) ** 2).sum(axis=1)).max() <= declared


@every_dimension
def test_tied_components_have_lines_and_a_shape_no_longer_than_declared(dimension):
    statistic = ComponentSums(components(dimension, tied=True))
    lines = lines_of(statistic, grid_of(dimension))
    for question in statistic.questions.values():
        parts = np.array([question.part(line) for line in lines])
        together = lengths_of(parts).sum(axis=1)
        assert 0.9 * question.term.added.length <= together.max() <= question.term.added.length


@pytest.mark.parametrize("background", [None, -2.0])
@every_dimension
def test_responsibilities_are_whole_parts_of_one(dimension, background):
    statistic = ComponentSums(components(dimension, background=background))
    counts = lines_of(statistic, grid_of(dimension))[:, :, 0] / statistic.of.factors[0]
    assert (counts >= 0).all()
    assert (counts == np.rint(counts)).all()
    total = counts.sum(axis=1)
    assert (total == PARTS).all() if background is None else total.max() <= PARTS
    assert background is None or total.min() < PARTS


@every_shape
@every_dimension
def test_a_row_adds_the_same_alone_and_in_company(dimension, shapes):
    statistic = ComponentSums(components(dimension, k=4, shapes=shapes))
    rows = grid_of(dimension)
    alone = lines_of(statistic, rows).sum(axis=0)
    shuffled = rows[np.random.default_rng(2).permutation(len(rows))]
    assert (statistic(rows) == alone).all()
    assert (statistic(shuffled) == alone).all()
    parts = np.array_split(shuffled, [1, 8, 9, 70])
    assert (sum(statistic(part) for part in parts) == alone).all()


def test_a_length_a_thousandth_too_small_would_be_noticed():
    statistic = ComponentSums(components(2, k=1, shapes="none"))
    declared = statistic.questions["components"].term.added.length
    together = lengths_of(lines_of(statistic, grid_of(2))).sum(axis=1)
    assert 0.999 * declared < together.max() <= declared


@every_shape
@every_dimension
def test_the_lines_agree_with_floats(dimension, shapes):
    """They are what expectation and maximisation needs, up to the grids that they are on."""
    asked = components(dimension, shapes=shapes)
    statistic, rows = ComponentSums(asked), grid_of(dimension)
    grid = LineGrid(Clip(dimension, KINDS[shapes]))
    found = grid.read(Noisy(statistic(rows) * statistic.questions["components"].step, 1.0))
    places = np.einsum("kij,nkj->nki", asked.axes, rows[:, None] / GRID_RADIUS - asked.means)
    squares = (places**2).sum(axis=2)
    odds = np.exp(asked.heights - squares / 2)
    shares = odds / odds.sum(axis=1, keepdims=True)
    clipped = places * np.minimum(1, asked.radius / np.sqrt(squares))[:, :, None]
    n = len(rows)
    assert np.allclose(found.counts.value, shares.sum(axis=0), atol=2e-3 * n)
    sums = np.einsum("nk,nki->ki", shares, clipped)
    assert np.allclose(found.sums.value, sums, atol=0.02 * n)
    levels = np.minimum(squares, asked.reach**2) - asked.reach**2 / 2
    assert np.allclose(found.squares.value, (shares * levels).sum(axis=0), atol=0.01 * n)
    if shapes != "none" and dimension > 1:
        first = (clipped[:, :, 0] ** 2 - clipped[:, :, 1] ** 2) / np.sqrt(2)
        assert np.allclose(found.shapes.value[:, 0], (shares * first).sum(axis=0), atol=0.05 * n)
    if shapes == "full" and dimension > 1:
        pair = np.sqrt(2) * clipped[:, :, 0] * clipped[:, :, 1]
        assert np.allclose(
            found.shapes.value[:, dimension - 1], (shares * pair).sum(axis=0), atol=0.05 * n
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"means": np.full((3, 2), 1.0)}, "unit ball"),
        ({"axes": np.full((3, 2, 2), 1e5)}, "2\\^-13"),
        ({"axes": np.zeros((3, 3, 3))}, "2\\^10"),
        ({"radius": 0.5}, "radius"),
        ({"steps": 257}, "steps"),
    ],
)
def test_what_exactness_rests_on_is_checked(change, words):
    with pytest.raises(ValueError, match=words):
        replace(components(2), **change)
