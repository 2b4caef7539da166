"""``BaselinesView``: numeric rows behind the door, with the questions that only baselines ask.

It answers everything that ``PointsView`` does, and the questions here, which are proved in
``proofs/baselines.md``. Neighbours are those of the privacy unit, as there.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.papers.kernels import CriticGradients, FactorSums, SwapCosts
from privclust.data.papers.public import Critic, FactorAnswer, Swap
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy


class BaselinesView(PointsView):
    """Numeric rows that answer questions, those of the baselines too, only through noise."""

    asks: ClassVar[dict[str, str]] = PointsView.asks | {
        "best_swap": "which exchange of a centre brings rows closer to their centres",
        "factor_sums": "how the rows are made up of the components",
        "critic_gradients": "which change of the network tells rows from made-up ones better",
    }

    def ask_best_swap(
        self, name: str, frame: Projection, centres: Floats, candidates: Floats, share: Share
    ) -> Swap | None:
        """Pick a swap of a centre for a candidate; the lower the cost after it, the likelier.

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        frame : Projection
            How the rows are seen.
        centres, candidates : ndarray of shape (n_points, frame.dimension)
            Public points of the frame.
        share : Share
            What to pay.

        Returns
        -------
        Swap or None
            ``None`` if all centres stay.

        Notes
        -----
        *Why this is private.* The score of a swap is minus the sum over rows of the squared
        distance to the nearest centre after it. A row adds to every score a number between -L and
        0, where L is the squared diameter of the frame.
        """
        statistic = SwapCosts(frame, centres, candidates)
        (picks,) = self._ask(statistic, (name, statistic.pick, share))
        picked = int(picks[0])
        return None if picked == 0 else Swap(*divmod(picked - 1, len(candidates)))

    def ask_factor_sums(self, name: str, components: Floats, share: Share) -> FactorAnswer:
        """Ask for the products of rows with their own loadings on public components.

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        components : ndarray of shape (n_components, n_features)
            Public, non-negative and of length one.
        share : Share
            What to pay.

        Notes
        -----
        *Why this is private.* The loadings h of a row v depend on that row and on public components
        alone, and are shortened to length one, as the row is. So a row adds one vector, of h hᵀ on
        and above the diagonal and of h vᵀ, whose squared length is at most |h|⁴ + |h|² |v|² ≤ 2.
        """
        statistic = FactorSums(components)
        noisy = self._answer(name, statistic, share)
        n_components, pairs = len(components), len(statistic.upper[0])
        loadings = np.zeros((n_components, n_components))
        loadings[statistic.upper] = noisy.value[0, :pairs]
        return FactorAnswer(
            loadings + np.triu(loadings, 1).T,
            noisy.value[0, pairs:].reshape(components.shape),
            noisy.standard_error,
        )

    def ask_critic_gradients(self, name: str, critic: Critic, clip: float, share: Share) -> Noisy:
        """Ask for the sum over rows of the gradient of a public network in its parameters.

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        critic : Critic
            Public.
        clip : float
            The length to which the gradient of every row is shortened.
        share : Share
            What to pay.

        Returns
        -------
        Noisy, value of shape (n_parameters,)

        Notes
        -----
        *Why this is private.* The gradient of a row depends on that row and on the public network
        alone, and is shortened to ``clip`` before it is added. So a row adds one vector of at most
        that length. Every step asks about all rows: nothing rests on which rows were sampled.
        """
        noisy = self._answer(name, CriticGradients(critic, clip), share)
        return Noisy(noisy.value[0], noisy.standard_error)
