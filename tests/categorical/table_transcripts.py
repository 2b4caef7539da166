"""What an attacker who sees every noisy answer about a table can tell.

A transcript is a private table that notes each question with its answer. Replayed on both data
sets of a pair, it tells how much likelier the answers are on the right one than on the left one, if
the noise is what it is claimed to be: the best evidence there is. Post-processing adds nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax
from table_views import view_of

from privclust.data.table.view import TableView
from privclust.data.view import Noisy
from privclust.privacy.mechanisms import DiscreteLaplace
from privclust.privacy.meter import Meter

QUESTIONS = (
    "count",
    "histograms",
    "pair_tables",
    "entropies",
    "relevant_attributes",
    "relevant_context",
    "spanning_tree",
)


class Transcript:
    """Many fits on one data set of a pair, each with its evidence.

    Parameters
    ----------
    pair : tuple of sequences of rows
    side : 0 or 1
        Which data set the fits see.
    sizes : tuple of int
    unit : Unit
    budget : Budget
    noise : ExactNoise
    """

    def __init__(self, pair, side, sizes, unit, budget, noise):
        self._budget = budget
        self._witnesses = [
            _Witness(view_of(rows, sizes, unit=unit, budget=budget)) for rows in pair
        ]
        self._view = _Noting(view_of(pair[side], sizes, unit=unit, budget=budget, noise=noise))

    def evidence(self, method):
        """Return the evidence of one run of ``method(view, share)``."""
        self._view.start(Meter(self._budget))
        method(self._view, self._budget.whole)
        left, right = (
            witness.log_likelihood(self._view.asked, self._view.told, Meter(self._budget))
            for witness in self._witnesses
        )
        return right - left


class _Wrapped(TableView):
    """Another table's counts and sensitivities, with answers of its own."""

    def __init__(self, view):
        vars(self).update(vars(view))


class _Noting(_Wrapped):
    """Notes questions and answers; selections are noted by the source of noise."""

    def __init__(self, view):
        super().__init__(view)
        self.asked, self.told = [], []
        self._inner, self._noise = self._noise, self
        for name in QUESTIONS:
            setattr(self, name, self._noted(name))

    def start(self, meter):
        self._meter = meter
        self.asked, self.told = [], []

    def _noted(self, name):
        ask = getattr(super(), name)

        def question(*arguments):
            self.asked.append((name, arguments))
            return ask(*arguments)

        return question

    def _noised(self, asked, exact, n_terms):
        answer = asked.noise.draw(exact, self._inner).astype(np.float64)
        self.told.append(answer)
        return Noisy(answer * asked.step, asked.standard_error)

    def exponential_rows(self, scores, scale):
        self.told.append(self._inner.exponential_rows(scores, scale))
        return self.told[-1]

    def top_k_rows(self, scores, scale, k):
        self.told.append(self._inner.top_k_rows(scores, scale, k))
        return self.told[-1]


class _Witness(_Wrapped):
    """Gives the answers that were noted, and adds up how likely they are on its own rows."""

    def __init__(self, view):
        super().__init__(view)
        self._noise, self._told, self._logs = self, iter(()), 0.0

    def log_likelihood(self, asked, told, meter):
        self._meter, self._told, self._logs = meter, iter(told), 0.0
        for name, arguments in asked:
            getattr(self, name)(*arguments)
        return self._logs

    def _noised(self, asked, exact, n_terms):
        answer, noise = next(self._told), asked.noise
        gaps = answer - exact
        if isinstance(noise, DiscreteLaplace):
            self._logs -= float(np.abs(gaps).sum() / float(noise.scale))
        else:
            self._logs -= float((gaps**2).sum() / (2 * float(noise.variance)))
        return Noisy(answer * asked.step, asked.standard_error)

    def exponential_rows(self, scores, scale):
        picked = next(self._told)
        self._logs += float(log_softmax(scores[0] / float(scale))[picked[0]])
        return picked

    def top_k_rows(self, scores, scale, k):
        picked, left = next(self._told), scores[0] / float(scale)
        for pick in picked[0]:
            self._logs += float(log_softmax(left)[pick])
            left = np.where(np.arange(len(left)) == pick, -np.inf, left)
        return picked
