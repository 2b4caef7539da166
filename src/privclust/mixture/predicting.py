"""What a mixture tells the holder of rows, exactly, and what it gives for free: synthetic rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from privclust._typing import Floats, Integers, Labels
from privclust.holder.answers import OwnPoints
from privclust.mixture.model import responsibilities
from privclust.mixture.release import gaussians_of
from privclust.opening.rows import Opened, open_points
from privclust.parameters import WHOLE, Whole, check_memory
from privclust.release.release import Release, check_kind

# Numbers held for each number of a synthetic row.
_NUMBERS_PER_ENTRY = 4


class MixtureAnswers:
    """Exact answers about rows by a released mixture; they are not a release."""

    def release(self) -> Release:
        """Return the mixture as it is published."""
        raise NotImplementedError

    def predict(self, X: Any) -> Labels:
        """Return the most probable component of each row; -1 stands for the background."""
        with self._open_again(X) as opened:
            return self._labels(self._own(opened))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each row.

        With a background they add up to less than one: the rest is its probability.
        """
        k = len(self.release().arrays["weights"])
        return np.concatenate([responsibilities(part)[0][:, :k] for part in self._joint(X)])

    def score_samples(self, X: Any) -> Floats:
        """Return the log density of the mixture at each row."""
        return np.concatenate([responsibilities(part)[1] for part in self._joint(X)])

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density of the rows; an exact statement about them, not a release.

        Do not choose parameters by it: a model that is fitted again after its score was looked at
        says that it is not private.
        """
        return float(self._score_rows(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion on the caller's rows; lower is better.

        It is exact, and so not private: take public rows, or keep it to yourself.
        """
        densities = self._score_rows(X)
        return float(-2 * densities.sum() + self._n_parameters() * np.log(len(densities)))

    def aic(self, X: Any) -> float:
        """Return the Akaike information criterion on the caller's rows; lower is better.

        It is exact, and so not private: take public rows, or keep it to yourself.
        """
        return float(-2 * self._score_rows(X).sum() + 2 * self._n_parameters())

    def sample(
        self, n_samples: int = 1, random_state: int | None = None
    ) -> tuple[Floats, Integers]:
        """Return synthetic rows within the declared bounds, and the component of each.

        Parameters
        ----------
        n_samples : int, default=1
            How many; it has nothing to do with the number of private rows.
        random_state : int or None
            A number makes the rows reproducible; they are as private as the mixture either way.
        """
        WHOLE.check("n_samples", n_samples)
        Whole(0).check("random_state", random_state, also=(None,))
        release, mixture = self.release(), gaussians_of(self.release())
        needed = _NUMBERS_PER_ENTRY * 8.0 * int(n_samples) * mixture.dimension
        check_memory(needed, "ask for fewer rows at a time")
        rng, schema = np.random.default_rng(random_state), release.schema
        rows, labels = mixture.draw(int(n_samples), rng)
        if mixture.background:
            beside = rng.random(len(rows)) < mixture.background
            size = int(beside.sum()), mixture.dimension
            rows[beside] = rng.uniform(schema.low, schema.high, size)
            labels[beside] = -1
        return np.clip(rows, schema.low, schema.high), labels

    def _score_rows(self, X: Any) -> Floats:
        self._scored = True
        return self.score_samples(X)

    def _n_parameters(self) -> int:
        """Return how many numbers the mixture has, as scikit-learn counts them."""
        release = self.release()
        k, d = release.arrays["means"].shape
        shapes = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d}
        background = bool(release.arrays["background_weight"][0] > 0)
        kind = str(release.parameters["covariance_type"])
        return int(background + k * d + k - 1 + shapes.get(kind, k))

    def _joint(self, X: Any) -> Iterator[Floats]:
        with self._open_again(X) as opened:
            yield from self._own(opened).of_each(gaussians_of(self.release()).joint)

    def _open_again(self, X: Any) -> Opened:
        return open_points(X, schema=self.release().schema, ignore=None)

    def _own(self, opened: Opened) -> OwnPoints:
        return OwnPoints(opened)

    def _labels(self, own: OwnPoints) -> Labels:
        return np.concatenate([*own.of_each(gaussians_of(self.release()).label)])


class Mixture(MixtureAnswers):
    """A published mixture, which labels new rows and draws synthetic ones without the data.

    Parameters
    ----------
    release : Release
        Of the kind "mixture", such as ``Release.load("mixture/")``.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateGaussianMixture
    >>> from privclust.mixture import Mixture
    >>> rows = np.random.default_rng(0).normal([[2, 2], [6, 6]] * 5000, 0.3)
    >>> model = PrivateGaussianMixture(2, epsilon=1.0, bounds=(0, 8)).fit(rows)
    >>> Mixture(model.release()).predict_proba([[2.0, 2.0]]).shape
    (1, 2)
    """

    def __init__(self, release: Release) -> None:
        self._release = check_kind(release, "mixture")

    def release(self) -> Release:
        """Return the mixture as it is published."""
        return self._release
