"""What all private estimators share: parameters, the budget, the ledger, the way to the door.

An estimator is a thin shell in scikit-learn's manner. It hands the data it is given to
``privclust.data`` without looking at them, and keeps released values only.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from privclust.budget import Budget
from privclust.privacy.ledger import Ledger
from privclust.unit import Person, Unit

__all__ = ["LeakWarning", "PrivateEstimator"]


class LeakWarning(UserWarning):
    """Something was learned from the private rows before the private estimator saw them."""


class PrivateEstimator(BaseEstimator):
    """Common parts of the private estimators; see a subclass for the parameters."""

    epsilon: Any
    delta: Any
    random_state: int | None
    ledger: Ledger | None
    dataset: str | None

    def _budget(self) -> Budget:
        return Budget(self.epsilon, self.delta)

    def _seeds(self) -> tuple[np.random.SeedSequence | None, np.random.Generator]:
        """Return the seed of the noise, if any, and the generator of public choices."""
        if self.random_state is None:
            return None, np.random.default_rng()
        if not isinstance(self.random_state, (int, np.integer)) or self.random_state < 0:
            raise ValueError(
                "random_state must be None or a whole number of at least 0; a seeded fit is "
                "reproducible and therefore not private."
            )
        noise, choices = np.random.SeedSequence(int(self.random_state)).spawn(2)
        return noise, np.random.default_rng(choices)

    def _check_columns(self, X: Any, unit: Unit, *, reset: bool) -> None:
        """Remember, or compare, the number and the names of the columns; no row is looked at.

        The id column of a person is no feature; there the door alone checks the names.
        """
        in_memory = hasattr(X, "shape") and not isinstance(X, (str, os.PathLike))
        if in_memory and not isinstance(unit, Person):
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _reserve(self, budget: Budget, unit: Unit) -> str | None:
        """Charge the ledger, durably, before any row is read."""
        if self.ledger is None:
            return None
        if self.random_state is not None:
            raise ValueError(
                "A seeded fit is not private and cannot be charged to a ledger; "
                "leave random_state=None or drop the ledger."
            )
        if not self.dataset:
            raise ValueError("A ledger needs dataset=, the name of the data set to charge.")
        return self.ledger.reserve(self.dataset, budget, unit, type(self).__name__)


def warn_of_leaks() -> None:
    """Warn if the running fit is part of a pipeline that learned from the same rows before.

    A scaler that was fitted on private rows has put their means into the data without noise. There
    is no public way for a step to see its pipeline, so the callers are looked through for one.
    """
    for pipeline in _running_pipelines():
        for name, step in pipeline.steps[:-1]:
            if step not in (None, "passthrough") and get_tags(step).requires_fit:
                warnings.warn(
                    f"The pipeline step {name!r} ({type(step).__name__}) was fitted on the same "
                    "private rows, without noise, so the release is not private; drop it and "
                    "declare bounds instead (rescale=True measures distances in units of them).",
                    LeakWarning,
                    stacklevel=3,
                )


def _running_pipelines() -> Iterator[Pipeline]:
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and frame.f_code.co_name.startswith("fit"):
            yield caller
            return
        frame = frame.f_back  # type: ignore[assignment]
