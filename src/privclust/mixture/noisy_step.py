"""A noisy step of expectation and maximisation: one vector for each component leaves.

The vectors are read as what each component lacks in its own frame: a move, a factor of its size and
a change of shape. Each is believed as far as its noise allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering.refine import clip_lengths
from privclust.data.points.public import Components
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.mixture.clipping import Clip
from privclust.mixture.lines import ComponentTotals, LineGrid
from privclust.mixture.model import Gaussians, restrict
from privclust.mixture.settling import LastStep

# A count below this number of its errors does not show its component.
_VISIBLE = 2.0
# What one step may do to a component: variances in its frame, and a move in lengths of a row.
_LEAST, _MOST, _FARTHEST = 0.2, 5.0, 3.0
# The factor of a component's size is looked for within these.
_SIZES = 0.05, 20.0
_SMALLEST = 1e-300


@dataclass(frozen=True)
class Background:
    """Rows that belong to no component, spread evenly over the declared bounds."""

    weight: float  # their share of the rows
    volume: float  # of the bounds
    number: Noisy  # of rows

    @property
    def log_density(self) -> float:
        """Of such rows, times their share."""
        return float(np.log(self.weight / self.volume))

    def with_counts(self, counts: Floats, error: float) -> Background:
        """Return the same with the rows that the components leave."""
        n_rows = max(1.0, float(self.number.value[0]))
        doubt = np.hypot(error * np.sqrt(len(counts)), self.number.standard_error)
        left = 1 - float(counts.sum()) / n_rows
        return replace(self, weight=float(np.clip(left, min(doubt / n_rows, 0.01), 0.5)))


@dataclass(frozen=True)
class Fitted:
    """A mixture on its way through the steps, in the coordinates of the unit ball."""

    mixture: Gaussians
    counts: Floats  # (n_components,): noisy numbers of rows, of all steps so far
    counts_error: float  # the standard error of each of them; infinite before the first step
    last: LastStep
    background: Background | None = None

    @classmethod
    def at_start(cls, mixture: Gaussians, background: Background | None = None) -> Fitted:
        """Return a mixture before its first step."""
        none, unknown = np.zeros(mixture.n_components), np.full(mixture.n_components, np.inf)
        last = LastStep(mixture, unknown, unknown, unknown, unknown)
        return cls(mixture, none, np.inf, last, background)

    @property
    def visible(self) -> Floats:
        """Whether the noise shows each component."""
        return np.asarray(self.counts > _VISIBLE * self.counts_error)

    def with_counts(self, counts: Noisy) -> Fitted:
        """Return the same with counts of one more step, which say how heavy components are.

        Older counts are those of another mixture. By how much counts moved beyond their noise says
        how far they are believed.
        """
        mean, noise = self.counts, max(counts.standard_error, 1e-9) ** 2
        older = self.counts_error**2
        if np.isfinite(older):
            moved = float(((counts.value - mean) ** 2).mean()) - older - noise
            older += max(0.0, moved)
            mean = mean + older / (older + noise) * (counts.value - mean)
            noise *= older / (older + noise)
        else:
            mean = counts.value
        error = float(np.sqrt(noise))
        shown = np.maximum(mean, error)
        return replace(
            self,
            mixture=replace(self.mixture, weights=shown / shown.sum()),
            counts=mean,
            counts_error=error,
            background=self.background and self.background.with_counts(mean, error),
        )


def ask_step(
    view: PointsView, name: str, share: Share, fitted: Fitted, clip: Clip, least: float
) -> Fitted:
    """Ask one question, and move, scale and reshape the components by its answer."""
    tied = clip.kind == "tied"
    shares = _split(share, clip) if tied else (share,)
    grid = LineGrid.within(clip, max(view.offset_error(one, 1.0, 1) for one in shares))
    answer = grid.read(**view.ask_components(name, _components(fitted, grid), *shares))
    before, fitted = fitted.mixture, fitted.with_counts(answer.counts)
    rows = np.maximum(fitted.counts, _VISIBLE * fitted.counts_error)
    step = _step_tied if tied else _step_apart
    moved, moves, shapes = step(fitted, answer, rows, clip, least)
    sizes = answer.squares.standard_error / rows / clip.effect.slope
    last = LastStep(before, fitted.counts_error / rows, moves, shapes, sizes)
    return replace(fitted, mixture=moved, last=last)


def _components(fitted: Fitted, grid: LineGrid) -> Components:
    mixture, around, level = fitted.mixture, fitted.background, None
    heights = np.log(mixture.weights) + np.linalg.slogdet(mixture.axes)[1]
    if around is not None:
        heights += np.log(1 - around.weight)
        level = around.log_density + mixture.dimension / 2 * np.log(2 * np.pi)
    return grid.components(mixture, level, heights)


def _split(share: Share, clip: Clip) -> tuple[Share, ...]:
    """Divide a share between the places of tied components and the shape that they share."""
    places = clip.parts[0] + clip.parts[1] if share.currency == "zcdp" else 0.5
    return share.split([round(places, 6), round(1 - places, 6)])


def _step_apart(
    fitted: Fitted, answer: ComponentTotals, rows: Floats, clip: Clip, least: float
) -> tuple[Gaussians, Floats, Floats]:
    """Return the mixture after a step, and the noise of its moves and shapes in the frames."""
    scales = _scales(answer.squares, rows, clip)
    place, shape = clip.effect.gains(np.clip(scales, 0.1, _MOST))
    moves, move_error = _per_row(answer.sums, rows * place)
    shapes, shape_error = _per_row(answer.shapes, rows * shape)
    moves = moves * _belief(moves, move_error**2)[:, None]
    shapes *= _belief(shapes, shape_error**2)[:, None]
    moves = clip_lengths(moves, _FARTHEST * np.sqrt(clip.dimension))
    moves = np.where(fitted.visible[:, None], moves, 0)
    inner = _inner(scales, shapes, clip) - moves[:, :, None] * moves[:, None]
    inner = np.where(fitted.visible[:, None, None], _within(inner), np.eye(clip.dimension))
    return _move(fitted.mixture, moves, inner, clip, least), move_error, shape_error


def _step_tied(
    fitted: Fitted, answer: ComponentTotals, rows: Floats, clip: Clip, least: float
) -> tuple[Gaussians, Floats, Floats]:
    """Return the same for components that share their shape."""
    total = np.array([rows.sum()])
    scale = _scales(answer.squares, total, clip)
    of_place, of_shape = clip.effect.gains(np.clip(scale, 0.1, _MOST))
    moves, move_error = _per_row(answer.sums, rows * of_place)
    shape, shape_error = _per_row(answer.shapes, total * of_shape)
    moves *= _belief(moves, move_error**2)[:, None]
    moves = clip_lengths(moves, _FARTHEST * np.sqrt(clip.dimension))
    moves = np.where(fitted.visible[:, None], moves, 0)
    shape *= _belief_alone(shape[0], shape_error[0] ** 2)
    between = np.einsum("k,ki,kj->ij", rows / rows.sum(), moves, moves)
    inner = np.repeat(_within(_inner(scale, shape, clip) - between), len(rows), axis=0)
    return _move(fitted.mixture, moves, inner, clip, least), move_error, shape_error


def _move(mixture: Gaussians, moves: Floats, inner: Floats, clip: Clip, least: float) -> Gaussians:
    """Return the mixture after what every component lacks in its frame."""
    roots = mixture.roots
    means = mixture.means + np.einsum("kij,kj->ki", roots, moves)
    covariances = roots @ inner @ roots.swapaxes(1, 2)
    covariances = restrict(covariances, mixture.weights, clip.kind, least)
    return Gaussians(mixture.weights, clip_lengths(means, 1.0), covariances)


def _scales(squares: Noisy, rows: Floats, clip: Clip) -> Floats:
    """Return the factor of each component's size, as far as noise allows."""
    means = squares.value / rows + clip.reach**2 / 2
    logs = np.log(np.clip(clip.effect.scale_of(means), *_SIZES))
    noise = (squares.standard_error / rows / clip.effect.slope) ** 2 + 2 / (clip.dimension * rows)
    belief = np.maximum(0, 1 - noise / np.maximum(logs**2, _SMALLEST))
    return np.asarray(np.exp(logs * belief))


def _per_row(sums: Noisy, rows: Floats) -> tuple[Floats, Floats]:
    """Return mean vectors, and the standard error of each."""
    return sums.value / rows[:, None], sums.standard_error / rows


def _belief(found: Floats, noise: Floats) -> Floats:
    """Return how far each vector is believed, by the size that all of them together suggest."""
    if not found.size:
        return np.ones(len(found))
    counts = (noise + np.median(noise)) ** -2.0
    prior = max(0.0, float(counts @ ((found**2).mean(axis=1) - noise) / counts.sum()))
    return np.asarray(prior / (prior + np.maximum(noise, _SMALLEST)))


def _belief_alone(found: Floats, noise: float) -> float:
    """Return how far a single vector is believed."""
    square, freedom = max(float(found @ found), _SMALLEST), max(len(found) - 2, 0.7)
    return max(0.0, 1 - freedom * noise / square)


def _inner(scales: Floats, shapes: Floats, clip: Clip) -> Floats:
    """Return covariances in the frames, about the means of the frames."""
    sizes = np.clip(scales, _LEAST, _MOST)[:, None, None] * np.eye(clip.dimension)
    return np.asarray(sizes + np.tensordot(shapes, clip.directions, 1))


def _within(inner: Floats) -> Floats:
    """Return covariances none of whose variances is beyond what one step may do."""
    values, vectors = np.linalg.eigh(inner)
    held = np.clip(values, _LEAST, _MOST)[:, None] * vectors
    return np.asarray(held @ vectors.swapaxes(1, 2))
