"""Transcripts of code whose noise is added by a method: OpenDP's measurements, or any other class.

A method that takes the exact value and returns a noisy one is watched from outside: its argument
and its answer are recorded, and given again on the neighbour. What the answer can tell is for its
maker to say, of the distance between the two exact values: OpenDP's ``map`` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from privclust.audit.transcripts import DivergedError, replace_methods
from privclust.budget import Loss, exact
from privclust.exceptions import install_hint

LossBetween = Callable[[Any, Any, Any], Loss | None]


@dataclass(frozen=True, eq=False)
class MethodDraw:
    """One answer of a watched method."""

    title: str
    owner: Any  # the object whose method it was
    exact: Any
    answer: Any
    loss_between: LossBetween
    public: Any = None  # what must be the same in a replay: the form of the question
    allowed: None = None

    def asks_like(self, twin: MethodDraw) -> bool:
        """Return whether both were asked alike, whatever the exact values."""
        return bool(self.title == twin.title and self.public == twin.public)

    def change(self, twin: MethodDraw) -> float:
        """Return how far the exact values of the two are apart, added up; NaN if not numbers."""
        try:
            one, two = np.asarray(self.exact, float), np.asarray(twin.exact, float)
            return float(np.abs(one - two).sum())
        except (TypeError, ValueError):
            return float("nan")

    def loss(self, twin: MethodDraw) -> Loss | None:
        """Return by how much the answer can tell the two apart; None if with certainty."""
        return self.loss_between(self.owner, self.exact, twin.exact)


@dataclass(frozen=True)
class MethodNoise:
    """Classes whose method adds noise, for :func:`privclust.audit.replay` to watch.

    Parameters
    ----------
    kinds : type or sequence of type
        The classes, each of which must define the method itself.
    method : str
        The method, whose first argument is the exact value and whose result is noisy.
    loss : callable
        ``loss(mechanism, exact, other)`` returns the :class:`~privclust.budget.Loss` by which an
        answer can tell the two exact values apart, or None if it can do so with certainty.
    public : callable or None
        ``public(mechanism)`` returns what must not depend on the rows, such as the scale.
    """

    kinds: type | Sequence[type]
    method: str
    loss: LossBetween
    public: Callable[[Any], Any] | None = None

    @contextmanager
    def _watch(self, recorded: Sequence[MethodDraw] | None) -> Iterator[list[MethodDraw]]:
        draws: list[MethodDraw] = []

        def watch(original: Any) -> Any:
            def call(owner: Any, value: Any, *more: Any, **options: Any) -> Any:
                place = len(draws)
                if recorded is None:
                    answer = original(owner, value, *more, **options)
                elif place < len(recorded):
                    answer = deepcopy(recorded[place].answer)
                else:
                    raise DivergedError("More was asked than was recorded.")
                form = None if self.public is None else self.public(owner)
                title = f"{type(owner).__name__}.{self.method}"
                draws.append(
                    MethodDraw(title, owner, deepcopy(value), deepcopy(answer), self.loss, form)
                )
                return answer

            return call

        kinds = [self.kinds] if isinstance(self.kinds, type) else self.kinds
        with replace_methods([(kind, self.method) for kind in kinds], watch):
            yield draws

    @contextmanager
    def record_draws(self) -> Iterator[list[MethodDraw]]:
        """Keep what the method is given and answers."""
        with self._watch(None) as draws:
            yield draws

    @contextmanager
    def replay_draws(self, recorded: Sequence[MethodDraw]) -> Iterator[list[MethodDraw]]:
        """Let the method give the recorded answers again; keep what it is given."""
        with self._watch(recorded) as draws:
            yield draws


def opendp_noise() -> MethodNoise:
    """Return what watches the measurements of OpenDP, whose ``map`` says what an answer tells."""
    try:
        from opendp.mod import Measurement
    except ImportError:
        raise ImportError(f'noise="opendp" needs OpenDP; {install_hint("opendp")}.') from None
    return MethodNoise(Measurement, "__call__", _opendp_loss, _opendp_form)


def _opendp_form(measurement: Any) -> tuple[str, ...]:
    unit = measurement.map(_one(str(measurement.input_metric)))
    return (str(measurement.input_metric), str(measurement.output_measure), repr(unit))


def _one(metric: str) -> Any:
    """Return a distance of one in the type that a metric counts in."""
    return 1.0 if _in_floats(metric) else 1


def _in_floats(metric: str) -> bool:
    return "f64" in metric or "f32" in metric


def _opendp_loss(measurement: Any, one: Any, two: Any) -> Loss | None:
    metric, measure = str(measurement.input_metric), str(measurement.output_measure)
    distance = _opendp_distance(metric, one, two)
    if distance is None:
        return None
    if not distance:
        return Loss.total([])
    told = measurement.map(distance)
    if measure == "MaxDivergence":
        return Loss.of_pure(exact(told))
    if measure == "ZeroConcentratedDivergence":
        return Loss(None, exact(told))
    raise ValueError(
        f"Replay cannot add up losses in OpenDP's {measure}; use a measurement in MaxDivergence "
        "or ZeroConcentratedDivergence."
    )


def _opendp_distance(metric: str, one: Any, two: Any) -> Any:
    """Return the distance of two arguments in OpenDP's metric; None where there is none."""
    if metric.startswith(("SymmetricDistance", "InsertDeleteDistance")):
        left, right = (Counter(map(repr, rows)) for rows in (one, two))
        return (left - right).total() + (right - left).total()
    if np.shape(one) != np.shape(two):
        return None
    gaps = np.abs(np.subtract(np.asarray(two, float), np.asarray(one, float)))
    if not np.all(np.isfinite(gaps)):
        return None
    if metric.startswith("L2"):
        length = float(np.linalg.norm(gaps))
    elif metric.startswith("LInf"):
        length = float(gaps.max(initial=0.0))
    else:
        length = float(gaps.sum())
    return length if _in_floats(metric) else math.ceil(length)
