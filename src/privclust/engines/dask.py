"""The Dask engine: encoded rows live on workers, sums come back; its cluster is checked first.

Nothing here submits a task or reads a row.

Only the extra ``dask`` brings the library; this module is imported when such an engine is chosen.
Sent out are parts, encoders and statistics, all of them public except the number of rows of a file;
what comes back is exact integers, to the process that draws the noise. A task has a lineage, so a
lost worker costs time but not the fit.
"""

from __future__ import annotations

import ipaddress
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, Future, as_completed

from privclust import exceptions
from privclust.data.engines.base import CountedSum, EncodedRows, Encoder, Engine, Total
from privclust.data.rows import Part, PartedSource, RowSource
from privclust.engines import workers
from privclust.engines.choose import listener
from privclust.exceptions import DataError, EngineError, EngineWarning, NoRowsError, as_one_sentence

# Is a Dask cluster safe for rows, and does it give the same bits? Checked before any charge.

_SAFE_SCHEMES = ("tls", "wss", "inproc")
_WAIT_SECONDS = 10


class Cluster:
    """The scheduler and the workers of a client.

    ``insecure``: whether rows may cross a network that is not encrypted. ``spill_to``: a folder
    that workers may write rows to.
    """

    def __init__(self, client: Client, *, insecure: bool, spill_to: str | None) -> None:
        self._client, self._insecure, self._spill_to = client, insecure, spill_to
        self._looks: list[workers.WorkerFacts] = []
        self._warned = False

    @property
    def threads(self) -> int:
        """The number of tasks that run at a time."""
        return max(1, sum(look.threads for look in self._looks))

    @property
    def memory(self) -> int:
        """The total memory of all workers, in bytes."""
        return sum(look.memory for look in self._looks)

    def check(self) -> None:
        """Inspect every worker again and raise if the cluster cannot be used."""
        addresses = self._addresses()
        if not self._insecure:
            _check_encrypted(addresses)
        failed = (
            "A worker cannot run privclust; install the same version of it on all workers as here."
        )
        with as_one_sentence(failed, Exception, error=EngineError):
            found: dict[str, Any] = self._client.run(workers.worker_facts)
        self._looks = list(found.values())
        _check_versions(self._looks)
        _check_spilling(self._looks, self._spill_to)
        self._warn_about_allocator()

    def _addresses(self) -> list[str]:
        silent = "The scheduler does not answer; check its address and that it runs."
        with as_one_sentence(silent, Exception, error=EngineError):
            scheduler = str(self._client.scheduler_info()["address"])
        lonely = "The Dask cluster has no workers; start some."
        with as_one_sentence(lonely, Exception, error=EngineError):
            self._client.wait_for_workers(1, timeout=_WAIT_SECONDS)
            workers = list(self._client.scheduler_info()["workers"])
        return [scheduler, *workers]

    def _warn_about_allocator(self) -> None:
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


def _check_versions(looks: Iterable[workers.WorkerFacts]) -> None:
    here = dict(workers.worker_facts().versions)
    for look in looks:
        for name, there in look.versions:
            if there != here[name]:
                raise EngineError(
                    f"A worker has {name} {there} and this process {here[name]}, so bits could "
                    "differ; install the same versions everywhere."
                )


def _check_spilling(looks: Iterable[workers.WorkerFacts], allowed: str | None) -> None:
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


# The Dask engine: encoded rows live on workers, as results of tasks, and sums come back.

# A task costs 6 to 9 ms, and a lost worker the parts that it held.
_PARTS_PER_THREAD = 4
# Sums that one task adds up.
_FAN = 8
# Of the memory of all workers, that kept rows may take.
_KEPT_SHARE = 0.5

_UNFINISHED = (
    "The Dask cluster did not finish a pass over the rows; see the logs of the scheduler and the "
    "workers, and start again."
)


class DaskEngine(Engine):
    """Workers of a Dask cluster.

    ``kept_bytes``: how much memory the kept rows of a fit may take on all workers together; by
    default half of what they have. No answer depends on it. ``insecure``: whether rows may cross a
    network that is not encrypted. ``spill_to``: a folder where workers may write rows to disk, if
    the holder of the rows allows it.
    """

    def __init__(
        self,
        client: Client,
        *,
        kept_bytes: int | None = None,
        insecure: bool = False,
        spill_to: str | None = None,
    ) -> None:
        self._client, self._kept_bytes = client, kept_bytes
        self._cluster = Cluster(client, insecure=insecure, spill_to=spill_to)
        self._cluster.check()

    def check(self, source: PartedSource) -> None:
        """Raise if the rows cannot travel, or if a worker would not give the same bits."""
        if source.stays_here is not None:
            raise DataError(source.stays_here)
        self._cluster.check()

    def open(self, source: PartedSource, encode: Encoder) -> DaskRows:
        """Return the rows of a source as an encoder makes them; nothing is submitted yet."""
        rows = DaskRows(self, source, encode)
        release = weakref.WeakMethod(rows.close)
        source.at_close(lambda: (release() or _no_op)())
        return rows

    def parts_of(self, source: PartedSource) -> Sequence[Part]:
        """Return a source in a few parts for each thread."""
        return source.parts(_PARTS_PER_THREAD * self._cluster.threads)

    def keeps(self, parts: Sequence[Part], encode: Encoder) -> bool:
        """Return whether the workers have the memory to keep these rows."""
        room = self._kept_bytes
        if room is None:
            room = int(_KEPT_SHARE * self._cluster.memory)
        needed = sum(
            part.n_bytes if part.n_rows is None else part.n_rows * encode.row_bytes
            for part in parts
        )
        return needed <= room

    @property
    def loop(self) -> Any:
        """The loop of the client, which need not be the default one."""
        return self._client.loop

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        """Run a task, anew each time."""
        return self._client.submit(task, *arguments, pure=False)


def _no_op() -> None:
    """Do nothing if the rows are already gone."""


class DaskRows(EncodedRows):
    """Encoded rows of a source on workers."""

    def __init__(self, engine: DaskEngine, source: PartedSource, encode: Encoder) -> None:
        self._engine, self._source, self._encode = engine, source, encode
        self._parts: Sequence[Part] | None = None
        self._held: list[Future] | None = None

    def sum(self, statistic: Callable[[Any], Total]) -> CountedSum[Total]:
        """Return the sum of a statistic over all parts, added up on the workers."""
        futures = self._submit(statistic)
        every = list(futures)
        try:
            sums = futures
            while len(sums) > 1:
                submit, groups = self._engine.submit, range(0, len(sums), _FAN)
                sums = [submit(workers.add_results, sums[start : start + _FAN]) for start in groups]
                every += sums
            self._report_progress(futures)
            result = _result_of(sums[0])
        finally:
            _release_futures(every)
        if result is None:
            raise NoRowsError("The data have no rows; give at least one row.")
        if isinstance(self._source, RowSource):
            self._source.check_count(result.n_rows)
        return result

    def each(self, statistic: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield what a statistic gives for each part, in the order of the rows."""
        futures = self._submit(statistic)
        try:
            for future in futures:
                result = _result_of(future)
                if result is not None:
                    yield result.total
        finally:
            _release_futures(futures)

    def _submit(self, statistic: Callable[[Any], Any]) -> list[Future]:
        """Submit a statistic for every part, which reads the rows if they are not held."""
        submit, encode = self._engine.submit, self._encode
        if self._parts is None:
            self._parts = self._engine.parts_of(self._source)
            if not self._parts:
                raise NoRowsError("The data have no rows; give at least one row.")
            if self._engine.keeps(self._parts, encode):
                self._held = [submit(workers.encode_part, part, encode) for part in self._parts]
        cut = [_cut(statistic, part) for part in self._parts]
        if self._held is None:
            each = zip(self._parts, cut, strict=True)
            return [submit(workers.read_and_sum, part, encode, of) for part, of in each]
        held = zip(self._held, cut, strict=True)
        return [submit(workers.sum_statistic, rows, encode, of) for rows, of in held]

    def _report_progress(self, futures: Sequence[Future]) -> None:
        """Report to the listener whenever a part is done."""
        tell = listener()
        if tell is None or self._parts is None:
            return
        counts = [part.n_rows for part in self._parts]
        rows_of = {f.key: n or 0 for f, n in zip(futures, counts, strict=True)}
        total, done = None if None in counts else sum(rows_of.values()), 0
        with as_one_sentence(_UNFINISHED, Exception, error=EngineError):
            for future in as_completed(futures, loop=self._engine.loop):
                done += rows_of[future.key]
                tell(done, total)

    def close(self) -> None:
        """Release the rows on the workers."""
        _release_futures(self._held or [])
        self._held = self._parts = None


def _cut(statistic: Any, part: Part) -> Any:
    """Return a statistic with arguments per row, restricted to a part."""
    within = getattr(statistic, "within", None)
    return statistic if within is None else within(part)


def _result_of(future: Future) -> CountedSum[Any] | None:
    with as_one_sentence(_UNFINISHED, Exception, error=EngineError):
        result = future.result()
    if isinstance(result, workers.TaskRefusal):
        raise getattr(exceptions, result.kind, EngineError)(result.sentence)
    found: CountedSum[Any] | None = result
    return found


def _release_futures(futures: Sequence[Future]) -> None:
    for future in futures:
        future.release()
