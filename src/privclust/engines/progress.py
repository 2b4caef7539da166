"""Progress of long passes over the data, for the data holder's own display."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from privclust.data.engines.base import Listener, listening_now

__all__ = ["Listener", "listener", "listening"]


def listener() -> Listener | None:
    """Return who listens to the passes begun in this context."""
    return listening_now.get()


@contextmanager
def listening(to_call: Listener) -> Iterator[None]:
    """Have ``to_call`` told of every block read within the context."""
    token = listening_now.set(to_call)
    try:
        yield
    finally:
        listening_now.reset(token)
