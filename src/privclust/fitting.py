"""The order of a fit: check, open, charge, ask, keep, state. It is written only here.

The step that asks has a door and no rows; the one that keeps has public facts and noisy answers;
the one that publishes has what was kept. What the ledger, the release and scikit-learn need of an
estimator is in ``estimator.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from privclust.budget import Budget
from privclust.privacy.meter import Meter

Then = TypeVar("Then")


@dataclass(frozen=True)
class Run:
    """State of one fit: budget, meter, seed of the noise, public generator, known flaws."""

    budget: Budget
    meter: Meter  # debits every question before it is asked
    # The seed of the noise; None for the system's bits. A seed means NOT PRIVATE.
    seed: np.random.SeedSequence | None
    public_rng: np.random.Generator  # public random choices, which protect nothing
    flaws: tuple[str, ...] = ()  # why the result is not private, besides a seed
    # Whether a ledger is charged; a rehearsal sets it as in the fit it stands for.
    charged: bool = False

    def another_seed(self) -> np.random.SeedSequence | None:
        """Return a seed for one more view, so that seeded noise is not repeated."""
        return None if self.seed is None else self.seed.spawn(1)[0]


class FitSteps(Protocol):
    """The steps of a fit, which an estimator fills in.

    - ``_open(X, public)``: the data, opened; names and types are read, rows are not;
    - ``_door(opened)``: the door through which questions are asked;
    - ``_ask(door, run, public)``: questions and post-processing, returning a result;
    - ``_keep(facts, result, public)``: attributes with a trailing underscore;
    - ``_finish(unit, run, receipt, result)``: the statement, the release and the settled charge.

    ``public`` is any public data that a fit has besides the private data.
    """

    def _check_parameters(self) -> None: ...
    def _run(self) -> Run: ...
    def _open(self, X: Any, public: Any = None) -> Any: ...
    def _door(self, opened: Any) -> Any: ...
    def _check_before_charge(self, door: Any, public: Any = None) -> None: ...
    def _reserve(self, budget: Budget, unit: Any) -> str | None: ...
    def _charge_noted_in_errors(
        self, budget: Budget, receipt: str | None
    ) -> AbstractContextManager[None]: ...
    def _ask(self, door: Any, run: Run, public: Any = None) -> Any: ...
    def _keep(self, facts: Any, result: Any, public: Any = None) -> None: ...
    def _finish(self, unit: Any, run: Run, receipt: str | None, result: Any) -> None: ...
    def _warn_of_doubts(self) -> None: ...


def fit_in_order(
    steps: FitSteps,
    X: Any,
    *,
    run: Run | None = None,
    then: Callable[[Any], Then] | None = None,
    public: Any = None,
) -> Then | None:
    """Check, open, charge, ask, keep, settle; warn last, because a warning may be an error.

    ``then`` answers the holder of the rows at the end, so that a stream is opened once.
    """
    steps._check_parameters()
    run = steps._run() if run is None else run
    with steps._open(X, public) as opened:
        door = steps._door(opened)
        opened.check_engine()
        steps._check_before_charge(door, public)
        receipt = steps._reserve(run.budget, opened.unit)
        with steps._charge_noted_in_errors(run.budget, receipt):
            result = steps._ask(door, run, public)
            steps._keep(opened.facts, result, public)
            steps._finish(opened.unit, run, receipt, result)
        answer = None if then is None else then(opened)
    steps._warn_of_doubts()
    return answer
