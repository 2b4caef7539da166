"""Running the subject of an audit many times, each run on its own copy of the data.

Where the randomness of a run comes from
----------------------------------------
The bound of an audit is only right if the runs are independent, so no two runs may draw the same
random numbers. These rules ensure it:

* A callable with a parameter named ``rng`` is passed a :class:`numpy.random.Generator` by that
  keyword, a different one for every chunk of runs, derived from the ``random_state`` of the audit.
* A callable without one brings its own randomness and runs in the calling process only. A
  generator of its own would be copied into every worker process, and the copies would repeat
  each other; so more than one process is refused. A callable that draws from the operating system
  is safe there: let it take ``rng`` and ignore it.
* An estimator is cloned for each run, and a clone starts from a copy of every parameter; so a
  ``random_state`` that is not None, and any parameter that is a NumPy generator, gets a fresh
  value in each run. ``random_state=None`` stays as it is.
* In worker processes, the global generators of NumPy and of ``random`` are seeded again for every
  chunk.

The chunks do not depend on the number of processes: a subject that draws from ``rng`` alone gets
the same report from any number of them.
"""

from __future__ import annotations

import copy
import inspect
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone

from privclust.audit.outputs import (
    CustomFeature,
    Leaves,
    Outputs,
    RaisedError,
    Structure,
    fitted_attributes,
    list_leaves,
)

CHUNKS = 16
"""Parts that the runs on one data set are divided into, whatever the number of processes."""

FeatureFunction = Callable[[Any], Any]


@dataclass(frozen=True)
class Subject:
    """What is under audit and how its outputs are examined."""

    fit: Any
    # Whether ``fit`` is called as ``fit(data, runs)`` and answers for all runs at once.
    batch: bool = False
    catch: bool = True  # whether an exception is an output; otherwise it ends the audit
    # Feature functions of the user, applied to each output that is not an exception.
    functions: tuple[FeatureFunction, ...] = ()

    def run(self, data: Any, runs: int, rng: np.random.Generator) -> Outputs:
        """Run the subject ``runs`` times on ``data``."""
        if self.batch:
            return self._run_batch(data, runs, rng)
        call = self._estimator_call(rng) if is_estimator(self.fit) else self._callable_call(rng)
        return Outputs.from_leaves([self._run_once(call, data) for _ in range(runs)])

    def _run_batch(self, data: Any, runs: int, rng: np.random.Generator) -> Outputs:
        answer = self._callable_call(rng)(copy.deepcopy(data), runs)
        if not isinstance(answer, (list, tuple)):
            answer = np.atleast_1d(np.asarray(answer))
        if len(answer) != runs:
            raise ValueError(
                f"With batch=True, fit(data, {runs}) must return {runs} outputs along its first "
                f"axis, but it returned {len(answer)}."
            )
        if isinstance(answer, np.ndarray) and answer.dtype.kind in "biuf" and not self.functions:
            return Outputs(runs, {("output", np.ndarray): np.asarray(answer)})
        return Outputs.from_leaves([self._describe(output) for output in answer])

    def _run_once(self, call: Callable[[Any], Any], data: Any) -> Leaves:
        # A fit that writes into its input must not change what the next run sees.
        own_data = copy.deepcopy(data)
        try:
            output = call(own_data)
        except Exception as error:
            if not self.catch:
                raise
            return {"exception": RaisedError(type(error).__name__, str(error))}
        return self._describe(output)

    def _estimator_call(self, rng: np.random.Generator) -> Callable[[Any], Any]:
        def fit_clone(data: Any) -> Any:
            cloned = _fresh_clone(self.fit, rng)
            cloned.fit(data)
            return cloned

        return fit_clone

    def _callable_call(self, rng: np.random.Generator) -> Callable[..., Any]:
        return partial(self.fit, rng=rng) if takes_rng(self.fit) else self.fit

    def _describe(self, output: Any) -> Leaves:
        if is_estimator(self.fit):
            released = fitted_attributes(output)
            leaves: Leaves = {"attributes": Structure(repr(sorted(released)))}
            for name, value in released.items():
                leaves |= list_leaves(value, name)
        else:
            leaves = list_leaves(output)
        for position, function in enumerate(self.functions):
            name = getattr(function, "__name__", type(function).__name__)
            measured = np.asarray(function(output), dtype=np.float64)
            leaves[f"feature {position} ({name})"] = measured.view(CustomFeature)
        return leaves


def draw(
    subject: Subject,
    data_sets: Sequence[Any],
    runs: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None = 1,
    tell: Callable[[int], None] | None = None,
) -> list[Outputs]:
    """Run the subject on each data set.

    ``runs``: number of runs on each data set. ``seed``: every chunk of runs gets its own child.
    ``tell``: called with the number of runs in each chunk when it is done. One for each data set.
    """
    sizes = [len(chunk) for chunk in np.array_split(np.arange(runs), min(CHUNKS, runs))]
    tasks = [(data, size) for data in data_sets for size in sizes]
    seeds = seed.spawn(len(tasks))
    in_workers = effective_n_jobs(n_jobs) > 1
    # loky starts its workers from scratch, so that neither locks nor generators are inherited;
    # without max_nbytes it would pass large data read-only.
    chunks = Parallel(n_jobs=n_jobs, backend="loky", max_nbytes=None, return_as="generator")(
        delayed(_run_chunk)(subject, data, size, chunk_seed, in_workers)
        for (data, size), chunk_seed in zip(tasks, seeds, strict=True)
    )
    parts = []
    for part, (_, size) in zip(chunks, tasks, strict=True):
        parts.append(part)
        if tell is not None:
            tell(size)
    return [
        Outputs.concatenate(parts[start : start + len(sizes)])
        for start in range(0, len(parts), len(sizes))
    ]


def is_estimator(fit: object) -> bool:
    """Return whether ``fit`` is an estimator to clone and fit, rather than a callable."""
    return hasattr(fit, "fit") and hasattr(fit, "get_params") and not isinstance(fit, type)


def takes_rng(fit: Callable[..., Any]) -> bool:
    """Return whether a callable has a parameter named ``rng``."""
    try:
        return "rng" in inspect.signature(fit).parameters
    except ValueError:  # some functions written in C have no signature
        return False


def _run_chunk(
    subject: Subject, data: Any, runs: int, seed: np.random.SeedSequence, in_worker: bool
) -> Outputs:
    own_seed, global_seed = seed.spawn(2)
    if in_worker:
        for_numpy, for_python = global_seed.generate_state(2)
        np.random.seed(for_numpy)  # noqa: NPY002 - the subject may use it
        random.seed(int(for_python))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thousands of runs would repeat them
        return subject.run(data, runs, np.random.default_rng(own_seed))


def _fresh_clone(estimator: Any, rng: np.random.Generator) -> Any:
    cloned = clone(estimator)
    fresh: dict[str, Any] = {}
    for name, value in cloned.get_params().items():
        seed = int(rng.integers(2**31))
        if isinstance(value, np.random.Generator):
            fresh[name] = np.random.default_rng(seed)
        elif isinstance(value, np.random.RandomState):
            fresh[name] = np.random.RandomState(seed)
        elif name.rpartition("__")[2] == "random_state" and value is not None:
            fresh[name] = seed
    return cloned.set_params(**fresh)
