"""What all private estimators share: parameters, the budget, the ledger, the way to the door.

An estimator is a thin shell in scikit-learn's manner. It hands the data it is given to
``privclust.data`` without looking at them, and keeps released values only.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from privclust.budget import Budget
from privclust.exceptions import LeakWarning
from privclust.ledger import Ledger
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.unit import Unit

__all__ = ["PrivateEstimator"]


_ALARM = (
    "<p style='background:#b3261e;color:#fff;padding:.3em .6em'><b>NOT PRIVATE</b>: the noise came "
    "from a seed.</p>"
)


class PrivateEstimator(BaseEstimator):
    """Common parts of the private estimators; see a subclass for the parameters."""

    epsilon: Any
    delta: Any
    random_state: int | None
    ledger: Ledger | None
    dataset: str | None
    privacy_: PrivacyStatement

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

    def _remember_columns(self, names: Sequence[str] | None, count: int) -> None:
        """Keep the number of the columns, and their names if they have any."""
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _compare_columns(self, X: Any) -> None:
        """Compare the columns of new rows with those of the fit, in scikit-learn's own words."""
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)

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

    def _settle(self) -> None:
        """Tell the ledger what was released for the charge."""
        receipt = self.privacy_.receipt
        if self.ledger is not None and receipt is not None:
            self.ledger.settle(receipt, self.release().digest)

    def release(self) -> Release:
        """Return what may be published."""
        raise NotImplementedError

    def _warn_of_leaks(self) -> None:
        """Warn if the running fit is part of a pipeline that learned from the same rows before.

        A scaler that was fitted on private rows has put their means into the data without noise.
        """
        for name, step in _earlier_steps(self):
            is_estimator = step not in (None, "passthrough")
            if is_estimator and _learns_without_noise(step):
                warnings.warn(
                    f"The pipeline step {name!r} ({type(step).__name__}) was fitted on the same "
                    "private rows, without noise, so the release is not private; drop it and "
                    "declare bounds instead (rescale=True measures distances in units of them).",
                    LeakWarning,
                    stacklevel=2,
                )

    def _is_seeded(self) -> bool:
        statement = getattr(self, "privacy_", None)
        return statement is not None and not statement.private

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = str(super().__repr__(N_CHAR_MAX))
        return f"{shown}  # NOT PRIVATE" if self._is_seeded() else shown

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows: scikit-learn's diagram, and the alarm above it."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if self._is_seeded() and "text/html" in shown:
            shown["text/html"] = _ALARM + shown["text/html"]
        return shown


def _learns_without_noise(step: Any) -> bool:
    return get_tags(step).requires_fit and not isinstance(step, PrivateEstimator)


def _earlier_steps(estimator: BaseEstimator) -> Iterator[tuple[str, Any]]:
    """Yield the steps that run before ``estimator`` in the pipelines that are fitting it.

    There is no public way for a step to see its pipeline, so the callers are looked through.
    """
    frame, inner = sys._getframe(1), estimator
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and frame.f_code.co_name.startswith("fit"):
            yield from caller.steps[: _position(inner, [step for _, step in caller.steps])]
            inner = caller
        frame = frame.f_back  # type: ignore[assignment]


def _position(inner: BaseEstimator, steps: list[Any]) -> int:
    """Return which step is being fitted: ``inner`` itself, a clone of it, or else the last."""
    same = [number for number, step in enumerate(steps) if step is inner]
    alike = [number for number, step in enumerate(steps) if type(step) is type(inner)]
    return [*same, *alike, len(steps) - 1][0]
