"""``engine``: where the fits in a context add up their statistics, and who follows their progress.

It is a context, not a parameter of an estimator: a release does not depend on where it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from privclust.data.engines.base import Engine, listening_now, use_engine
from privclust.data.engines.base import Listener as Listener
from privclust.data.engines.local import LocalEngine
from privclust.exceptions import EngineError, ParameterError, as_one_sentence, install_hint

if TYPE_CHECKING:
    from distributed import Client


# Progress of long passes over the data, for the data holder's own display.


def listener() -> Listener | None:
    """Return the progress listener of this context."""
    return listening_now.get()


@contextmanager
def progress_listener(to_call: Listener) -> Iterator[None]:
    """Call ``to_call`` for every block read in this context."""
    token = listening_now.set(to_call)
    try:
        yield
    finally:
        listening_now.reset(token)


_WAIT_SECONDS = 10
_ABSENT = f"Dask clusters need the library Dask; {install_hint('dask')}."
# One BLAS thread each, without Dask's own allocator setting, which returns memory at once and
# faults it in again for every piece of rows.
_ENVIRONMENT = {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1, "MKL_NUM_THREADS": 1}
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgt", start=1)}


@contextmanager
def engine(
    where: Client | str | None = None,
    *,
    memory: int | str | None = None,
    insecure: bool = False,
    spill_to: str | PathLike[str] | None = None,
    security: Any = None,
) -> Iterator[None]:
    """Run the fits in this context on a Dask cluster, or within a memory limit.

    The release of a seeded fit is the same on every engine, bit for bit.

    Parameters
    ----------
    where : distributed.Client, str or None
        A client of a Dask cluster, or the address of its scheduler, such as ``tls://host:8786``.
        By default only this machine.
    memory : int, str or None
        The bytes that kept rows may take, or text such as ``"2 GB"``; by default half of what is
        free. Rows beyond it are read again for every question.
    insecure : bool, default=False
        Allow a Dask cluster on a network without encryption.
    spill_to : path or None
        A folder that workers may write rows to when their memory is short.
    security : distributed.Security or None
        Certificates for an address; by default those of Dask's configuration.
    """
    kept = None if memory is None else bytes_of(memory)
    with ExitStack() as opened:
        chosen: Engine = LocalEngine(kept)
        if where is not None:
            chosen = _on_cluster(where, kept, insecure, spill_to, security, opened)
        elif insecure or spill_to is not None or security is not None:
            raise ParameterError(
                "insecure, spill_to and security are for a Dask cluster; name one, or drop them."
            )
        opened.enter_context(use_engine(chosen))
        yield


def _on_cluster(
    where: Any,
    kept: int | None,
    insecure: bool,
    spill_to: str | PathLike[str] | None,
    security: Any,
    opened: ExitStack,
) -> Engine:
    with as_one_sentence(_ABSENT, ImportError, error=EngineError):
        from distributed import Client

        from privclust.engines.dask import DaskEngine
    client = where
    if isinstance(where, str):
        silent = f"The scheduler at {where} does not answer; check its address and certificates."
        with as_one_sentence(silent, Exception, error=EngineError):
            client = Client(where, security=security, timeout=_WAIT_SECONDS, set_as_default=False)
            opened.enter_context(client)
    elif not isinstance(where, Client):
        raise ParameterError(
            "An engine is a distributed.Client or the address of a scheduler, got "
            f"{type(where).__name__}."
        )
    folder = None if spill_to is None else fspath(spill_to)
    return DaskEngine(client, kept_bytes=kept, insecure=insecure, spill_to=folder)


def bytes_of(amount: int | str) -> int:
    """Return an amount of memory in bytes; text may have a unit, as in ``"2 GB"``."""
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?i?)b?\s*", amount.lower())
        if found and found[2] in _UNITS and found[1].count(".") <= 1 and found[1] != ".":
            return int(float(found[1]) * _UNITS[found[2]])
    elif not isinstance(amount, bool) and amount >= 0:
        return int(amount)
    raise ParameterError(f"memory must be bytes or text such as '2 GB', got {amount!r}.")


@contextmanager
def local_cluster(
    n_workers: int = 2,
    *,
    threads_per_worker: int = 1,
    memory_limit: int | str = "auto",
    processes: bool = True,
) -> Iterator[Client]:
    """Start Dask workers on this machine that suit privclust, and return their client.

    They listen on loopback, write no rows to disk, and keep their memory between questions.

    Parameters
    ----------
    n_workers, threads_per_worker : int
    memory_limit : int or str, default="auto"
        Of each worker; a worker beyond it is restarted.
    processes : bool, default=True
        Whether workers are processes of their own.
    """
    with as_one_sentence(_ABSENT, ImportError, error=EngineError):
        import dask
        from distributed import Client, LocalCluster
    off = ("memory.target", "memory.spill", "memory.pause", "profile.enabled")
    config: dict[str, Any] = {f"distributed.worker.{name}": False for name in off}
    config["distributed.admin.system-monitor.interval"] = "5s"  # nobody uses it
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": _ENVIRONMENT, **config}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=threads_per_worker,
            memory_limit=memory_limit,
            processes=processes,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # no page, and any free port
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
