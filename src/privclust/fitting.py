"""The order of a fit: check, open, charge, ask, keep, state. It is written here and nowhere else.

Whoever asks has a door and no rows; whoever keeps has public facts and noisy answers; whoever
publishes has what was kept. What the ledger, the release and scikit-learn need of an estimator is
in ``estimator.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from privclust.budget import Budget
from privclust.privacy.meter import Meter

Then = TypeVar("Then")


@dataclass(frozen=True)
class Run:
    """One fit: what it may spend, who debits it, its two sources of chance, and its flaws."""

    budget: Budget
    meter: Meter  # debits every question before it is asked
    # The seed of the noise; None for the system's bits. A seed means NOT PRIVATE.
    seed: np.random.SeedSequence | None
    public_rng: np.random.Generator  # public random choices, which protect nothing
    flaws: tuple[str, ...] = ()  # why the result is not private, besides a seed
    # Whether a ledger is charged; a rehearsal says so of the fit that it stands for.
    charged: bool = False

    def another_seed(self) -> np.random.SeedSequence | None:
        """Return the seed of one more view, so that seeded noise is not drawn twice."""
        return None if self.seed is None else self.seed.spawn(1)[0]


class FitOrder:
    """The steps of a fit, which a family fills in, and their order.

    - ``_open(X, public)``: the data, opened; names and types are looked at, no row is read;
    - ``_door(opened)``: the door that they are asked through;
    - ``_ask(door, run, public)``: questions and post-processing, returning a result;
    - ``_keep(facts, result, public)``: attributes with a trailing underscore;
    - ``_published()``: the arrays, schema and parameters of the release.

    ``public`` is whatever public data a fit has beside the private ones.
    """

    _open: Callable[..., Any]
    _door: Callable[[Any], Any]
    _ask: Callable[..., Any]
    _keep: Callable[..., None]

    _check_parameters: Callable[[], None]
    _check_before_charge: Callable[[Any, Any], None]
    _run: Callable[[], Run]
    _reserve: Callable[[Budget, Any], str | None]
    _charge_noted_in_errors: Callable[[Budget, str | None], AbstractContextManager[None]]
    _finish: Callable[[Any, Run, str | None, Any], None]
    _warn_of_doubts: Callable[[], None]

    def _fit(
        self,
        X: Any,
        *,
        run: Run | None = None,
        then: Callable[[Any], Then] | None = None,
        public: Any = None,
    ) -> Then | None:
        """Check, open, charge, ask, keep, settle; warn last, because a warning may be an error.

        ``then`` answers the holder of the rows at the end, so that a stream is opened once.
        """
        self._check_parameters()
        run = self._run() if run is None else run
        with self._open(X, public) as opened:
            door = self._door(opened)
            opened.check_engine()
            self._check_before_charge(door, public)
            receipt = self._reserve(run.budget, opened.unit)
            with self._charge_noted_in_errors(run.budget, receipt):
                result = self._ask(door, run, public)
                self._keep(opened.facts, result, public)
                self._finish(opened.unit, run, receipt, result)
            answer = None if then is None else then(opened)
        self._warn_of_doubts()
        return answer
