"""What runs on workers: read and encode a part, sum a statistic over it, add up sums.

A task never raises. A scheduler would forward the error with its traceback, and a worker would log
it, with the repr of its arguments; so a task that fails returns one sentence. For the same reason
the repr of kept rows shows nothing.

Workers import sources, encoders and kernels, and nothing that spends or draws noise: see the import
contracts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ParamSpec, TypeVar

from privclust.data.engines.base import CountedSum, Encoder, free_memory
from privclust.data.engines.local import one_blas_thread, total_of
from privclust.data.rows import Part
from privclust.exceptions import PrivclustError

P = ParamSpec("P")
Result = TypeVar("Result")

# What must be the same everywhere for the bits to be the same.
_LIBRARIES = ("privclust", "numpy", "pyarrow", "scipy")
_TRIM = "MALLOC_TRIM_THRESHOLD_"


@dataclass(frozen=True, repr=False)
class HeldRows:
    """Encoded rows of a part, held by a worker."""

    pieces: tuple[Any, ...]

    def __sizeof__(self) -> int:
        # What Dask takes as their size.
        return 64 + sum(int(piece.nbytes) for piece in self.pieces)

    def __repr__(self) -> str:
        return "<rows>"


@dataclass(frozen=True)
class TaskRefusal:
    """Why a task has no result."""

    kind: str  # the name of the error
    sentence: str  # what it says; never a value of a row


def _return_refusals(task: Callable[P, Result]) -> Callable[P, Result | TaskRefusal]:
    """Make a task return why it failed instead of raising."""

    def attempt(*args: P.args, **kwargs: P.kwargs) -> Result | TaskRefusal:
        try:
            with one_blas_thread():
                return task(*args, **kwargs)
        except PrivclustError as error:
            return TaskRefusal(type(error).__name__, str(error))
        except MemoryError:
            return TaskRefusal(
                "EngineError",
                "A worker does not have enough memory for its part of the rows; start more "
                "workers.",
            )
        except Exception as error:
            # Its text may quote a value.
            return TaskRefusal("EngineError", _defect(type(error).__name__))

    return attempt


def _defect(kind: str) -> str:
    return f"A worker failed with {kind}; try the fit on one machine to see where."


def encode_part(part: Part, encode: Encoder) -> HeldRows | TaskRefusal:
    """Read a part and return its rows, encoded."""
    return _return_refusals(_encode_part)(part, encode)


def _encode_part(part: Part, encode: Encoder) -> HeldRows:
    return HeldRows(tuple(piece for block in part.blocks() for piece in encode(block)))


def sum_statistic(
    held: HeldRows | TaskRefusal, encode: Encoder, statistic: Callable[[Any], Any]
) -> CountedSum[Any] | TaskRefusal | None:
    """Return the sum of a statistic over encoded rows, or nothing if there are none."""
    if isinstance(held, TaskRefusal) or not any(map(len, held.pieces)):
        return held if isinstance(held, TaskRefusal) else None
    return _return_refusals(total_of)(held.pieces, encode, statistic)


def read_and_sum(
    part: Part, encode: Encoder, statistic: Callable[[Any], Any]
) -> CountedSum[Any] | TaskRefusal | None:
    """Return the sum of a statistic over a part without keeping its rows."""
    return _return_refusals(_read_and_sum)(part, encode, statistic)


def _read_and_sum(
    part: Part, encode: Encoder, statistic: Callable[[Any], Any]
) -> CountedSum[Any] | None:
    total: CountedSum[Any] | None = None
    for block in part.blocks():
        pieces = encode(block)
        if any(map(len, pieces)):
            more = total_of(pieces, encode, statistic)
            total = more if total is None else total + more
    return total


def add_results(
    results: Sequence[CountedSum[Any] | TaskRefusal | None],
) -> CountedSum[Any] | TaskRefusal | None:
    """Return the sum of results in their order, or the first refusal among them."""
    refused = [result for result in results if isinstance(result, TaskRefusal)]
    if refused:
        return refused[0]
    found = [result for result in results if isinstance(result, CountedSum)]
    return _return_refusals(reduce)(add, found) if found else None


@dataclass(frozen=True)
class WorkerFacts:
    """Facts about a worker."""

    versions: tuple[tuple[str, str], ...]  # of the libraries on which bits depend
    threads: int  # how many tasks it runs at a time
    memory: int  # the bytes it may use
    trims: bool  # whether its allocator returns memory at once
    spills_to: str | None  # the folder to which it writes results when memory is short


def worker_facts(dask_worker: Any = None) -> WorkerFacts:
    """Return the facts about the worker that runs this."""
    spills = dask_worker is not None and type(dask_worker.data) is not dict
    limit = 0 if dask_worker is None else dask_worker.memory_manager.memory_limit
    return WorkerFacts(
        versions=tuple((name, _version(name)) for name in _LIBRARIES),
        threads=1 if dask_worker is None else dask_worker.state.nthreads,
        memory=limit or free_memory(),
        trims=_TRIM in os.environ,
        spills_to=str(dask_worker.local_directory) if spills else None,
    )


def _version(name: str) -> str:
    from importlib import import_module

    return str(import_module(name).__version__)
