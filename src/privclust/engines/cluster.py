"""Is a Dask cluster safe to send rows to, and are its bits the same? Asked before any charge.

Nothing here submits a task or reads a row.
"""

from __future__ import annotations

import ipaddress
import warnings
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from distributed import Client

from privclust.engines import tasks
from privclust.exceptions import EngineError, EngineWarning, one_sentence

__all__ = ["Cluster"]

_SAFE_SCHEMES = ("tls", "wss", "inproc")
_WAIT_SECONDS = 10


class Cluster:
    """The scheduler and the workers of a client.

    Parameters
    ----------
    client : distributed.Client
    insecure : bool
        Whether rows may cross a network that is not encrypted.
    spill_to : str or None
        A folder that workers may write rows to.
    """

    def __init__(self, client: Client, *, insecure: bool, spill_to: str | None) -> None:
        self._client, self._insecure, self._spill_to = client, insecure, spill_to
        self._looks: list[tasks.Look] = []
        self._warned = False

    @property
    def threads(self) -> int:
        """How many tasks run at a time."""
        return max(1, sum(look.threads for look in self._looks))

    @property
    def memory(self) -> int:
        """The bytes that all workers have together."""
        return sum(look.memory for look in self._looks)

    def check(self) -> None:
        """Look at every worker again and raise if the cluster cannot be used."""
        addresses = self._addresses()
        if not self._insecure:
            _check_encrypted(addresses)
        failed = (
            "A worker cannot run privclust; install the same version of it on all workers as here."
        )
        with one_sentence(failed, Exception, error=EngineError):
            found: dict[str, Any] = self._client.run(tasks.look)
        self._looks = list(found.values())
        _check_versions(self._looks)
        _check_spilling(self._looks, self._spill_to)
        self._warn_of_the_allocator()

    def _addresses(self) -> list[str]:
        silent = "The scheduler does not answer; check its address and that it runs."
        with one_sentence(silent, Exception, error=EngineError):
            scheduler = str(self._client.scheduler_info()["address"])
        lonely = "The Dask cluster has no workers; start some."
        with one_sentence(lonely, Exception, error=EngineError):
            self._client.wait_for_workers(1, timeout=_WAIT_SECONDS)
            workers = list(self._client.scheduler_info()["workers"])
        return [scheduler, *workers]

    def _warn_of_the_allocator(self) -> None:
        if self._warned or not any(look.trims for look in self._looks):
            return
        self._warned = True
        warnings.warn(
            "Workers have MALLOC_TRIM_THRESHOLD_ set, as Dask does, which can cost more time than "
            "the fit itself; start them with an empty distributed.nanny.pre-spawn-environ.",
            EngineWarning,
            stacklevel=2,
        )


def _check_encrypted(addresses: Iterable[str]) -> None:
    for address in addresses:
        if not _is_safe(address):
            raise EngineError(
                f"The cluster at {address} does not encrypt, and rows would cross the network in "
                "the clear; use tls:// addresses, or pass insecure=True."
            )


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme in _SAFE_SCHEMES:
        return True
    host = parts.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_versions(looks: Iterable[tasks.Look]) -> None:
    here = dict(tasks.look().versions)
    for look in looks:
        for name, there in look.versions:
            if there != here[name]:
                raise EngineError(
                    f"A worker has {name} {there} and this process {here[name]}, so bits could "
                    "differ; install the same versions everywhere."
                )


def _check_spilling(looks: Iterable[tasks.Look], allowed: str | None) -> None:
    for look in looks:
        if look.spills_to is None:
            continue
        if allowed is None or not PurePath(look.spills_to).is_relative_to(allowed):
            raise EngineError(
                f"Workers would write rows in the clear to '{look.spills_to}' when memory is "
                "short; "
                "start them with distributed.worker.memory.target and .spill set to false, or "
                "pass spill_to=FOLDER for a folder of your own."
            )
