"""How far a mixture may be from where further steps without noise would take it.

Where components overlap, a step of expectation and maximisation takes back only a part of what a
mixture is wrong by. The noise of the last step, and what that step still moved, are therefore
followed through the steps that were not made. What a step leaves of an error is known from the
mixture itself: it is the share of the information that is missing because nobody knows which
component a row belongs to (Dempster, Laird and Rubin 1977). All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.mixture.clipping import Clip
from privclust.mixture.model import Gaussians, responsibilities

# The number of further steps that are followed.
_STEPS = 32
# Rows of the mixture by which the effect of a step is measured: for each coordinate, at least, and
# as many as leave this number of numbers to be held.
_ROWS_EACH, _FEWEST_ROWS, _MOST_NUMBERS = 12, 3000, 2**23
# Beyond this number of coordinates shapes stay as they are; beyond it still, components do not
# interact.
_MOST_COORDINATES = 600


@dataclass(frozen=True)
class LastStep:
    """A mixture before the last step, and standard errors of that step in its frames."""

    before: Gaussians
    counts: Floats  # (n_components,): of the number of rows, as a share of it
    moves: Floats  # (n_components,): of a coordinate of a place
    shapes: Floats  # (n_components,): of a coordinate of a shape
    sizes: Floats  # (n_components,): of the factor of a size


def errors_of(
    mixture: Gaussians, last: LastStep, clip: Clip, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return standard errors of weights and means: of noise, and of steps that were not made."""
    d, shapes = mixture.dimension, _shapes(mixture, clip)
    noise, change = _noise(last, len(shapes), d), _change(mixture, last.before, shapes)
    found = [*_follow_all(mixture, shapes, noise, change, rng)]
    weights, means = np.zeros(mixture.n_components), np.zeros(mixture.means.shape)
    for j, (root, (spread, drift)) in enumerate(zip(mixture.roots, found, strict=True)):
        weights[j] = mixture.weights[j] * np.hypot(np.linalg.norm(spread[0]), drift[0])
        places = slice(1, 1 + d)
        means[j] = np.hypot(np.linalg.norm(root @ spread[places], axis=1), root @ drift[places])
    return weights, means


def _shapes(mixture: Gaussians, clip: Clip) -> Floats:
    """Return the matrices along which shapes change; none if that is too much, or shared."""
    k, d = mixture.means.shape
    if clip.kind == "tied" or k * (2 + d + clip.n_directions) > _MOST_COORDINATES:
        return np.empty((0, d, d))
    return np.concatenate([np.eye(d)[None] / np.sqrt(d), clip.directions])


def _noise(last: LastStep, n_shapes: int, dimension: int) -> Floats:
    """Return the noise of every coordinate, a line for each component."""
    sizes = last.sizes * np.sqrt(dimension / 2)
    columns = [last.counts, *[last.moves] * dimension]
    columns += [sizes, *[last.shapes / np.sqrt(2)] * (n_shapes - 1)] if n_shapes else []
    return np.column_stack(columns)


def _change(mixture: Gaussians, before: Gaussians, shapes: Floats) -> Floats:
    """Return what the last step changed, in the same coordinates."""
    axes = mixture.axes
    moves = np.einsum("kij,kj->ki", axes, mixture.means - before.means)
    inner = axes @ (mixture.covariances - before.covariances) @ axes.swapaxes(1, 2)
    turned = np.einsum("kij,sij->ks", inner, shapes) / np.sqrt(2)
    return np.column_stack([np.log(mixture.weights / before.weights), moves, turned])


def _follow_all(
    mixture: Gaussians, shapes: Floats, noise: Floats, change: Floats, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Yield, for each component, what noise and the last change have become of its coordinates."""
    k, width = noise.shape
    apart = 1 if noise.size > _MOST_COORDINATES else k
    wanted = max(_FEWEST_ROWS, _ROWS_EACH * apart * width)
    n_rows = min(wanted, max(2 * width, _MOST_NUMBERS // noise.size))
    lines, roots = _lines(mixture, shapes, n_rows, rng), np.sqrt(mixture.weights)[:, None]
    for its in (slice(first, first + apart) for first in range(0, k, apart)):
        scaled = (lines[:, its] / roots[its]).reshape(n_rows, -1)
        known = scaled.T @ scaled / n_rows
        of_noise, of_change = _sums_of_powers(np.eye(len(known)) - known)
        spread = of_noise * (roots[its] * noise[its]).ravel()
        drift = of_change @ (roots[its] * change[its]).ravel()
        for j, root in enumerate(roots[its, 0]):
            own = slice(j * width, (j + 1) * width)
            yield spread[own] / root, drift[own] / root


def _lines(mixture: Gaussians, shapes: Floats, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return how the log density of random rows changes with each coordinate of each component."""
    rows = mixture.draw(n_rows, rng)[0]
    shares = responsibilities(mixture.joint(rows))[0][:, :, None]
    places = np.einsum("kij,nkj->nki", mixture.axes, rows[:, None] - mixture.means)
    turned = np.einsum("nki,sij,nkj->nks", places, shapes, places, optimize=True)
    turned = (turned - np.trace(shapes, axis1=1, axis2=2)) / np.sqrt(2)
    return np.concatenate([np.ones_like(shares), places, turned], axis=2) * shares


def _sums_of_powers(left: Floats) -> tuple[Floats, Floats]:
    """Return what all steps add up to, of an error made before the first and of a last change."""
    values, vectors = np.linalg.eigh(left)
    powers = np.clip(values, 0, 1)[:, None] ** np.arange(_STEPS + 1)
    of_noise, of_change = powers[:, :-1].sum(axis=1), powers[:, 1:].sum(axis=1)
    return (vectors * of_noise) @ vectors.T, (vectors * of_change) @ vectors.T
