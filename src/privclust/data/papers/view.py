"""``PapersView``: rows as points behind the door, with the questions that only papers ask.

It answers everything that ``PointsView`` does, and the questions here, which are proved in
``proofs/rivals.md`` and ``proofs/zones.md``. Neighbours are those of the privacy unit, as there.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from privclust._typing import Floats, Integers
from privclust.budget import Share
from privclust.data.papers.kernels import CriticGradients, FactorSums, SwapCosts, ZoneCounts
from privclust.data.papers.public import Critic, FactorAnswer, Swap, Zones
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy


class PapersView(PointsView):
    """Rows that answer questions, also those of papers and rivals, only through noise."""

    asks: ClassVar[dict[str, str]] = PointsView.asks | {
        "choices": "which candidate suits the most rows of each cluster",
        "zone_cells": "how many rows of each cluster lie near each of its candidates",
        "best_swap": "which exchange of a centre brings rows closer to their centres",
        "factor_sums": "how the rows are made up of the components",
        "critic_gradients": "which change of the network tells rows from synthetic ones better",
    }

    def ask_choices(self, name: str, zones: Zones, share: Share) -> Integers:
        """Pick a candidate for each cluster, with chances that grow with the rows favouring it.

        The score of a candidate is the number of rows of the cluster that lie in its zone and are
        nearest to this candidate. The answer is the index of the candidate of each cluster.

        Notes
        -----
        *Why this is private.* A row adds one to one score of one cluster, so the picks of all
        clusters together cost one share. Clusters without rows pick like any other.
        """
        statistic = ZoneCounts(zones)
        (picked,) = self._ask(statistic, (name, statistic.pick, share))
        return np.asarray(picked)

    def ask_zone_cells(self, name: str, zones: Zones, share: Share) -> Noisy:
        """Ask how many rows of each cluster lie in its zone nearest to each of its candidates.

        Notes
        -----
        *Why this is private.* A row is in one cluster and nearest to one candidate, and counts
        there if it lies in the zone. So it changes one count by one, as in a histogram.
        """
        return self._answer(name, ZoneCounts(zones), share)

    def ask_best_swap(
        self, name: str, frame: Projection, centres: Floats, candidates: Floats, share: Share
    ) -> Swap | None:
        """Pick a swap of a centre for a candidate, likely one of low cost.

        ``centres``, ``candidates``: (n_points, frame.dimension). ``None`` if all centres stay.

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

        ``components``: (n_components, n_features).

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

        ``clip``: the length to which the gradient of every row is clipped. Returns
        (n_parameters,).

        Notes
        -----
        *Why this is private.* The gradient of a row depends on that row and on the public network
        alone, and is clipped to ``clip`` before it is added. So a row adds one vector of at most
        that length. Every step asks about all rows: no argument rests on sampling.
        """
        noisy = self._answer(name, CriticGradients(critic, clip), share)
        return Noisy(noisy.value[0], noisy.standard_error)
