"""The Dask engine: encoded rows live on workers, as results of tasks, and sums come back.

Only the extra ``dask`` brings the library; this module is imported when such an engine is chosen.
What is sent out is parts, encoders and statistics, all of them public except the number of rows of
a file; what comes back is exact integers, to the process that draws the noise. A task has a
lineage, so a lost worker costs time and not the fit.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from distributed import Client, Future, as_completed

from privclust import exceptions
from privclust.data.engines.base import EncodedRows, Encoder, Engine, Summed, Total
from privclust.data.rows import Part, Parted, RowReader
from privclust.engines import tasks
from privclust.engines.cluster import Cluster
from privclust.engines.progress import listener
from privclust.exceptions import DataError, EngineError, NoRowsError, one_sentence

__all__ = ["DaskEngine"]

# A task costs 6 to 9 ms, and a lost worker as many parts as it held.
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

    Parameters
    ----------
    client : distributed.Client
    kept_bytes : int or None
        How much memory the kept rows of a fit may take on all workers together; half of what they
        have if not given. No answer depends on it.
    insecure : bool
        Whether rows may cross a network that is not encrypted.
    spill_to : str or None
        A folder where workers may write rows to disk, if the holder of the rows allows it.
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

    def check(self, source: Parted) -> None:
        """Raise if the rows cannot travel, or if a worker would not give the same bits."""
        if source.stays_here is not None:
            raise DataError(source.stays_here)
        self._cluster.check()

    def open(self, source: Parted, encode: Encoder) -> DaskRows:
        """Return the rows of a source as an encoder makes them; nothing is submitted yet."""
        rows = DaskRows(self, source, encode)
        release = weakref.WeakMethod(rows.close)
        source.at_close(lambda: (release() or _nothing)())
        return rows

    def parts_of(self, source: Parted) -> Sequence[Part]:
        """Return a source in a few parts for each thread."""
        return source.parts(_PARTS_PER_THREAD * self._cluster.threads)

    def keeps(self, parts: Sequence[Part], encode: Encoder) -> bool:
        """Tell whether the workers have the memory to keep these rows."""
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
        """Run a task, again each time."""
        return self._client.submit(task, *arguments, pure=False)


def _nothing() -> None:
    """Do nothing, where the rows are gone already."""


class DaskRows(EncodedRows):
    """Encoded rows of a source on workers."""

    def __init__(self, engine: DaskEngine, source: Parted, encode: Encoder) -> None:
        self._engine, self._source, self._encode = engine, source, encode
        self._parts: Sequence[Part] | None = None
        self._held: list[Future] | None = None

    def sum(self, statistic: Callable[[Any], Total]) -> Summed[Total]:
        """Return the sum of a statistic over all parts, added up on the workers."""
        futures = self._submitted(statistic)
        every = list(futures)
        try:
            sums = futures
            while len(sums) > 1:
                submit, groups = self._engine.submit, range(0, len(sums), _FAN)
                sums = [submit(tasks.added, sums[start : start + _FAN]) for start in groups]
                every += sums
            self._tell(futures)
            result = _result_of(sums[0])
        finally:
            _let_go(every)
        if result is None:
            raise NoRowsError("The data have no rows; give at least one row.")
        if isinstance(self._source, RowReader):
            self._source.check_count(result.n_rows)
        return result

    def each(self, statistic: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield what a statistic gives for each part, in the order of the rows."""
        futures = self._submitted(statistic)
        try:
            for future in futures:
                result = _result_of(future)
                if result is not None:
                    yield result.total
        finally:
            _let_go(futures)

    def _submitted(self, statistic: Callable[[Any], Any]) -> list[Future]:
        """Submit a statistic for every part, which reads the rows if they are not held."""
        submit, encode = self._engine.submit, self._encode
        if self._parts is None:
            self._parts = self._engine.parts_of(self._source)
            if not self._parts:
                raise NoRowsError("The data have no rows; give at least one row.")
            if self._engine.keeps(self._parts, encode):
                self._held = [submit(tasks.encoded, part, encode) for part in self._parts]
        cut = [_cut(statistic, part) for part in self._parts]
        if self._held is None:
            each = zip(self._parts, cut, strict=True)
            return [submit(tasks.read_and_summed, part, encode, of) for part, of in each]
        held = zip(self._held, cut, strict=True)
        return [submit(tasks.summed, rows, encode, of) for rows, of in held]

    def _tell(self, futures: Sequence[Future]) -> None:
        """Tell who listens, whenever a part is done."""
        tell = listener()
        if tell is None or self._parts is None:
            return
        counts = [part.n_rows for part in self._parts]
        rows_of = {f.key: n or 0 for f, n in zip(futures, counts, strict=True)}
        total, done = None if None in counts else sum(rows_of.values()), 0
        with one_sentence(_UNFINISHED, Exception, error=EngineError):
            for future in as_completed(futures, loop=self._engine.loop):
                done += rows_of[future.key]
                tell(done, total)

    def close(self) -> None:
        """Let go of the rows on the workers."""
        _let_go(self._held or [])
        self._held = self._parts = None


def _cut(statistic: Any, part: Part) -> Any:
    """Return what a part needs of a statistic that has something for every row."""
    within = getattr(statistic, "within", None)
    return statistic if within is None else within(part)


def _result_of(future: Future) -> Summed[Any] | None:
    with one_sentence(_UNFINISHED, Exception, error=EngineError):
        result = future.result()
    if isinstance(result, tasks.Refused):
        raise getattr(exceptions, result.kind, EngineError)(result.sentence)
    found: Summed[Any] | None = result
    return found


def _let_go(futures: Sequence[Future]) -> None:
    for future in futures:
        future.release()
