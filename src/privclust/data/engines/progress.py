"""Progress of long passes over the data, for the data holder's own display."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Listener", "listener", "listening"]

# Called after each block with the rows read in this pass and the rows in all, if known. Both are
# private: they may be shown to the holder of the data, and never stored.
Listener = Callable[[int, int | None], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def listener() -> Listener | None:
    """Return who listens to the passes begun in this context."""
    return _listener.get()


@contextmanager
def listening(to_call: Listener) -> Iterator[None]:
    """Have ``to_call`` told of every block read within the context."""
    token = _listener.set(to_call)
    try:
        yield
    finally:
        _listener.reset(token)
