"""Who calls a private fit: leaking pipeline steps and choices by exact scores.

A scaler that was fitted on private rows has put their means into the data, and a search that keeps
the best of many fits by their exact scores has revealed scores of private rows. Neither goes
through a mechanism, so what comes after is not private, whatever the fit itself promises. An
estimator has no public way to see who calls it, so the call stack is searched.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags


@dataclass(frozen=True)
class Leak:
    """Something that was learned from the private rows without noise."""

    flaw: str  # what happened, a clause for the privacy statement
    remedy: str  # what to do instead

    def __str__(self) -> str:
        flaw = self.flaw[0].upper() + self.flaw[1:]
        return f"{flaw}, so the release is not private; {self.remedy}."


RESCORED = Leak(
    "the model was fitted again after its exact score on rows had been seen",
    "choose parameters by plan(), and make a new estimator if the score played no part in this fit",
)
_SEARCHED = Leak(
    "the fit is part of a search or cross-validation, which compares exact scores of private rows",
    "choose parameters by plan(), which touches no data, and fit once",
)


def find_leaks(estimator: BaseEstimator, private: type) -> Iterator[Leak]:
    """Yield what the callers of the running fit learned from the same rows without noise.

    ``private``: the base of estimators whose results are noisy; such steps do not leak.
    """
    inner, searched = estimator, False
    for frame in _callers():
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and frame.f_code.co_name.startswith("fit"):
            position = _position(inner, [step for _, step in caller.steps])
            yield from _leaking_steps(caller.steps[:position], private)
            inner = caller
        module = frame.f_globals.get("__name__", "")
        searched = searched or module.startswith("sklearn.model_selection.")
    if searched:
        yield _SEARCHED


def _callers() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _leaking_steps(steps: list[tuple[str, Any]], private: type) -> Iterator[Leak]:
    for name, step in steps:
        if step in (None, "passthrough") or isinstance(step, private):
            continue
        if get_tags(step).requires_fit:
            yield Leak(
                f"the pipeline step {name!r} ({type(step).__name__}) was fitted on the same "
                "private rows, without noise",
                "drop it and declare bounds instead (rescale=True measures distances in units of "
                "them)",
            )


def _position(inner: BaseEstimator, steps: list[Any]) -> int:
    """Return which step is being fitted: ``inner`` itself, a clone of it, or else the last."""
    same = [number for number, step in enumerate(steps) if step is inner]
    alike = [number for number, step in enumerate(steps) if type(step) is type(inner)]
    return [*same, *alike, len(steps) - 1][0]
