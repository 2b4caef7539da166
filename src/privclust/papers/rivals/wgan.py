"""``PrivateWGAN``: DP-WGAN, correct and small, a rival of source-target clustering.

The critic has one hidden layer and is improved in full steps: every row's gradient is clipped by
itself, all of them are added up, and noise hides any one. The generator sees only the critic, so it
costs nothing. The public code (dpwgan 2019) differs: there one noise value is shared by a whole
layer, gradients are not clipped row by row, and nothing is accounted for.

No rows are sampled. Sampling saves time, and its amplified promise is neither pure nor zCDP, so the
meter could not add it to anything else. ``proofs/rivals.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.estimator import KMeansEstimator
from privclust.clustering.result import KMeansResult
from privclust.clustering.weighted_kmeans import weighted_kmeans
from privclust.data.papers.door import PaperRows
from privclust.data.papers.public import Critic
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Projection
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import Opened
from privclust.parameters import WHOLE, Parameter
from privclust.schema.schema import Schema
from privclust.unit import Unit

# DP-WGAN, correct and small: a generator learned from private gradients of a critic.

_COUNT, _SIZES = 0.02, 0.03
_HIDDEN, _LATENT = 32, 4
_CLIP = 1.0
# Parameters of the critic stay within this, so that its slope stays bounded; and in every step it
# forgets a share of what it learned, because a critic that remembers drives the generator in
# circles.
_BOX, _FORGOTTEN = 2.0, 0.2
_BATCH, _GENERATOR_RATE, _GENERATOR_STEPS = 512, 0.01, 3
_DRAWN = 2000


@dataclass(frozen=True)
class Generator:
    """A network with one hidden layer that turns normal noise into points of the unit ball."""

    first: Floats  # (n_latent + 1, n_hidden)
    second: Floats  # (n_hidden + 1, n_features): the last line of each is added to all

    def points(self, count: int, rng: np.random.Generator) -> Floats:
        """Return ``count`` generated points."""
        latent = rng.standard_normal((count, len(self.first) - 1))
        return self.forward(latent)[1]

    def forward(self, latent: Floats) -> tuple[Floats, Floats]:
        """Return the hidden layer and the points."""
        hidden = np.maximum(latent @ self.first[:-1] + self.first[-1], 0)
        return hidden, hidden @ self.second[:-1] + self.second[-1]

    def step(self, critic: Critic, rate: float, rng: np.random.Generator) -> Generator:
        """Return a generator whose points the critic scores higher."""
        latent = rng.standard_normal((_BATCH, len(self.first) - 1))
        hidden, points = self.forward(latent)
        opened = (points @ critic.weights.T + critic.shifts > 0) * critic.heights
        by_points = opened @ critic.weights / _BATCH
        by_hidden = (by_points @ self.second[:-1].T) * (hidden > 0)
        second = np.vstack([hidden.T @ by_points, by_points.sum(axis=0)])
        first = np.vstack([latent.T @ by_hidden, by_hidden.sum(axis=0)])
        return Generator(self.first + rate * _step(first), self.second + rate * _step(second))


def ask_generator(
    view: PapersView,
    budget: Share,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_steps: int,
) -> tuple[KMeansResult, Generator]:
    """Learn a generator within ``budget``, and return clusters of its points and itself."""
    shares = budget.split([_COUNT, 1 - _COUNT - _SIZES, _SIZES])
    n_rows = max(1.0, float(view.ask_count("number of rows", shares[0]).value[0]))
    first, generator = _initial_weights(view.domain.dimension, rng)
    critic = first
    for number, share in enumerate(shares[1].split([1] * n_steps)):
        real = view.ask_critic_gradients(f"critic, step {number + 1}", critic, _CLIP, share).value
        made = _clip(_gradients(critic, generator.points(_BATCH, rng))).mean(axis=0)
        kept = first.flat + (1 - _FORGOTTEN) * (critic.flat - first.flat)
        critic = critic.with_flat(np.clip(kept + real / n_rows - made, -_BOX, _BOX))
        for _ in range(_GENERATOR_STEPS):
            rate = _GENERATOR_RATE * (1 - number / n_steps)
            generator = generator.step(critic, rate, rng)
    low, high = view.domain.box_in_unit_ball()
    points = np.clip(generator.points(_DRAWN, rng), low, high)
    centres = weighted_kmeans(points, np.ones(len(points)), n_clusters, rng, restarts=5)
    whole = Projection(np.zeros(view.domain.dimension))
    sizes = view.ask_clusters("cluster sizes", whole, centres, 1.0, counts=shares[2]).counts
    return KMeansResult(centres, None, sizes, "wgan"), generator


def _initial_weights(dimension: int, rng: np.random.Generator) -> tuple[Critic, Generator]:
    """Return networks drawn without looking at any row."""

    def normal(*shape: int) -> Floats:
        return np.asarray(rng.standard_normal(shape) / np.sqrt(shape[0]))

    shifts = rng.uniform(-0.5, 0.5, _HIDDEN)
    critic = Critic(normal(_HIDDEN, dimension), shifts, np.zeros(_HIDDEN))
    return critic, Generator(normal(_LATENT + 1, _HIDDEN), normal(_HIDDEN + 1, dimension) / 2)


def _gradients(critic: Critic, points: Floats) -> Floats:
    return critic.gradients(points @ critic.weights.T + critic.shifts, points)


def _clip(gradients: Floats) -> Floats:
    lengths = np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1e-300)
    return np.asarray(gradients * np.minimum(1, _CLIP / lengths))


def _step(direction: Floats) -> Floats:
    """Return a direction brought to the length of a vector of ones."""
    length = np.sqrt((direction**2).mean())
    return np.asarray(direction / max(float(length), 1e-12))


class PrivateWGAN(KMeansEstimator):
    """DP-WGAN, a baseline: a generator of rows learned from private gradients. NOT RECOMMENDED.

    The released centres are those of generated rows. Source-target clustering is compared with it:
    generated rows stand for the private source. :class:`~privclust.PrivateKMeans`,
    :class:`~privclust.PrivateSummary` and :class:`~privclust.PrivateSourceTargetMedoids` are
    better; use this one to compare with.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters of generated rows.
    n_steps : int, default=100
        How often the critic is improved; the steps divide the budget.
    epsilon, delta, budget, schema, bounds, unit, rescale, random_state, ledger, dataset
        See :class:`PrivateKMeans`.

    Attributes
    ----------
    generator_ : Generator
        The network that :meth:`sample` draws from; it saw only noisy gradients.
    cluster_centers_, cluster_centers_error_, cluster_sizes_, cluster_sizes_error_
        See :class:`PrivateKMeans`.
    n_clusters_, method_, privacy_, schema_, warnings_
        See :class:`PrivateKMeans`.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> from privclust.papers.rivals import PrivateWGAN
    >>> model = PrivateWGAN(2, n_steps=3, bounds=(0, 8), delta=1e-6)
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).sample(4).shape
    (4, 2)
    """

    _parameters: ClassVar[Any] = (
        *KMeansEstimator._parameters,
        Parameter("n_steps", WHOLE, 100, "Steps of the critic."),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_steps: int = 100,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        rescale: bool | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_steps = n_steps
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def sample(self, n_rows: int, seed: int | None = None) -> Floats:
        """Return generated rows within the declared bounds; it costs nothing."""
        check_is_fitted(self)
        WHOLE.check("n_rows", n_rows)
        points = self.generator_.points(int(n_rows), np.random.default_rng(seed))
        return self._region(self.schema_).in_data_units(points)

    def _ask_clusters(self, view: Any, share: Share, rng: np.random.Generator) -> KMeansResult:
        steps = int(self.n_steps)
        result, self.generator_ = ask_generator(
            view, share, int(self.n_clusters), rng, n_steps=steps
        )
        return result

    def _door(self, opened: Opened) -> PaperRows:
        return PaperRows(opened, **self._scaling(opened.schema))

    def _options(self) -> dict[str, Any]:
        return {"n_steps": int(self.n_steps)}
