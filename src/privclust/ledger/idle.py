"""Open connections to one database that wait for their next use.

Opening takes time, most of all on a server, so a few connections stay open between two charges. One
is never used by two threads at once, and all are closed before a fork, so that no child inherits
them.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from privclust.exceptions import LedgerError

__all__ = ["borrowed"]


class _Closable(Protocol):
    def close(self) -> None: ...


_Connection = TypeVar("_Connection", bound=_Closable)

# Appending to and popping from a deque is atomic, so that no lock can be held over a fork.
_waiting: deque[tuple[Hashable, Any]] = deque()
_MOST = 8


@contextmanager
def borrowed(
    key: Hashable,
    opened: Callable[[], _Connection],
    is_alive: Callable[[_Connection], bool] = lambda connection: True,
) -> Iterator[_Connection]:
    """Lend the connection that waits under this key, or a newly opened one.

    Parameters
    ----------
    key : hashable
        Stands for one database and one way to open it.
    opened : callable
        Opens a connection.
    is_alive : callable
        Tells whether a connection that waited can still be used; by default it can.
    """
    waiting = _taken()
    while waiting is not None and (waiting[0] != key or not is_alive(waiting[1])):
        waiting[1].close()
        waiting = _taken()
    lent: _Connection = opened() if waiting is None else waiting[1]
    try:
        yield lent
    except LedgerError:  # a refusal, after which the connection is as good as before
        _keep(key, lent)
        raise
    except BaseException:
        lent.close()
        raise
    _keep(key, lent)


def _keep(key: Hashable, connection: _Closable) -> None:
    _waiting.append((key, connection))
    while len(_waiting) > _MOST:
        try:
            _waiting.popleft()[1].close()
        except IndexError:  # others have taken them in the meantime
            return


def _taken() -> tuple[Hashable, Any] | None:
    try:
        return _waiting.pop()
    except IndexError:
        return None


def _close_waiting() -> None:
    while waiting := _taken():
        waiting[1].close()


atexit.register(_close_waiting)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_waiting)
