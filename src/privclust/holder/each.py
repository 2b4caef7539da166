"""Passes over rows for their holder, on the engine of the context if the rows can go there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray

from privclust.data.engines.base import Encoder, Stacked, current_engine
from privclust.data.engines.local import LocalEngine
from privclust.data.rows import Parted

__all__ = ["each"]


def each(source: Parted, encode: Encoder, of: Callable[[Any], Stacked]) -> Iterator[NDArray[Any]]:
    """Yield what is computed of the rows, in their order, while they are read."""
    engine = current_engine() if source.stays_here is None else LocalEngine(0)
    for stacked in engine.open(source, encode).each(of):
        yield from stacked.parts
