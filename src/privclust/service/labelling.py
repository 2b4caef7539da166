"""Labels of rows that somebody uploads, and synthetic rows, made in a process with limits.

A few kilobytes of Parquet can hold gigabytes of rows. So they are unpacked where memory, time and
rows are limited, and the server and its jobs feel nothing of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from privclust.service.errors import ServiceError, TooManyError

_SUFFIXES = (".parquet", ".npz", ".mtx")  # and CSV otherwise
_AT_ONCE = 2
_BUSY = "Rows of others are being drawn or labelled at the moment; try again in a minute."
_TOO_LARGE = "Labelling these rows takes more memory or time than allowed; send fewer rows at once."
_TOO_MANY = "Drawing this many rows takes more memory or time than allowed; ask for fewer."
_RELEASE, _LABELS = "release.privclust", "labels.csv"
_REFUSED = 3  # how the process ends when it has left a sentence
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Other allocators reserve more addresses than they use, and addresses are what is limited.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
}


@dataclass(frozen=True)
class Limits:
    """What labelling one upload, or drawing rows once, may take."""

    rows: int = 1_000_000
    seconds: int = 60
    megabytes: int = 512  # memory, beyond what the process needs before it reads a row


class Labeller:
    """Labels rows and draws synthetic ones, for a few people at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._room = limits, threading.BoundedSemaphore(_AT_ONCE)

    def labels(self, release: bytes, rows: bytes, name: str) -> bytes:
        """Return the labels of uploaded rows as CSV; nothing of them is kept.

        ``name``: what the file was called, for its ending.
        """
        with self._take_room() as folder:
            return self._labels_in(folder, release, rows, name)

    def synthetic_rows(self, release: bytes, n_rows: int, suffix: str) -> bytes:
        """Return rows drawn from the file of a summary, as a file of such an ending."""
        if not 1 <= n_rows <= self._limits.rows:
            raise ServiceError(f"From 1 to {self._limits.rows:,} rows are drawn at once.")
        with self._take_room() as folder:
            (folder / _RELEASE).write_bytes(release)
            return self._made_in(folder, f"drawn{suffix}", str(n_rows), _TOO_MANY)

    @contextmanager
    def _take_room(self) -> Iterator[Path]:
        if not self._room.acquire(blocking=False):
            raise TooManyError(_BUSY)
        try:
            with tempfile.TemporaryDirectory(prefix="privclust-") as folder:
                yield Path(folder)
        finally:
            self._room.release()

    def _labels_in(self, folder: Path, release: bytes, rows: bytes, name: str) -> bytes:
        suffix = next((it for it in _SUFFIXES if name.lower().endswith(it)), ".csv")
        (folder / _RELEASE).write_bytes(release)
        (folder / f"rows{suffix}").write_bytes(rows)
        return self._made_in(folder, _LABELS, suffix, _TOO_LARGE)

    def _made_in(self, folder: Path, made: str, word: str, too_large: str) -> bytes:
        """Return the file that the process has made."""
        limits = (self._limits.rows, self._limits.seconds, self._limits.megabytes)
        command = [sys.executable, "-m", __name__, str(folder), made, word, *map(str, limits)]
        try:
            ended = subprocess.run(  # noqa: S603  # our own module, with numbers and a path of ours
                command,
                env=os.environ | _ALONE,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=self._limits.seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            ended = None
        if ended == _REFUSED:
            raise ServiceError((folder / "refused").read_text("utf-8"))
        if ended != 0:
            raise ServiceError(too_large, 413)
        return (folder / made).read_bytes()


def _limit(seconds: int, megabytes: int) -> None:
    """Let this process take no more; where the system has no such limits, time alone is kept."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds + 1, seconds + 1))


def _label(folder: Path, suffix: str, limits: Limits) -> None:
    import pyarrow.parquet  # noqa: F401  # imported before memory is limited
    import scipy.sparse  # noqa: F401

    from privclust.jobs.label import write_labels
    from privclust.release.release import Release

    def count(done: int, total: int | None) -> None:
        if done > limits.rows:
            raise ValueError(f"At most {limits.rows:,} rows are labelled at once; send fewer.")

    release = Release.load(folder / _RELEASE)
    _limit(limits.seconds, limits.megabytes)
    write_labels(release, folder / f"rows{suffix}", folder / _LABELS, progress=count)


def _draw(folder: Path, made: str, n_rows: int, limits: Limits) -> None:
    from privclust.jobs.sample import write_synthetic_rows
    from privclust.release.release import Release

    release = Release.load(folder / _RELEASE)
    _limit(limits.seconds, limits.megabytes)
    write_synthetic_rows(release, n_rows, folder / made)


def _main(folder: Path, made: str, word: str, limits: Limits) -> int:
    """Label or draw, and return how the process ends."""
    from privclust.jobs.fit import sentence_of

    try:
        if made == _LABELS:
            _label(folder, word, limits)
        else:
            _draw(folder, made, int(word), limits)
    except MemoryError:
        return 1
    except (ValueError, OSError) as error:
        # Its owner knows the file by another name, and a reader takes a lack of memory for damage.
        sentence = sentence_of(error).replace(str(folder / f"rows{word}"), "the uploaded file")
        sentence = sentence.replace("is complete.", "is complete, or send fewer rows at once.")
        (folder / "refused").write_text(sentence, "utf-8")
        return _REFUSED
    return 0


if __name__ == "__main__":
    place, made, word, *limited = sys.argv[1:]
    sys.exit(_main(Path(place), made, word, Limits(*map(int, limited))))
