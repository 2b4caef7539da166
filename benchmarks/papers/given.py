"""What an experiment is given, and what it gives back: rows of means, errors and numbers of runs.

A row says which set, which method, at which value (``at``: an ε, a number of rounds, ...), within
which panel (``by``), which measure, and mean, standard error and number of runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keeping import origin, replace_rows
from privclust.exceptions import DataError

__all__ = ["SETTINGS", "SPENT", "Given", "Row", "keep", "keep_by_set", "row", "spread"]

Row = dict[str, Any]
KEYS = ("set", "by", "method", "at", "measure")
# What every experiment took on every set.
SPENT = "papers-spent"
# The runs of an experiment, and those of one whose fits are dear.
SETTINGS = {"tiny": (2, 1), "small": (5, 2), "full": (30, 10)}


@dataclass(frozen=True)
class Given:
    """The setting, where data lie, the seed, and the sets that were asked for."""

    setting: str = "small"
    data: Path | None = None
    seed: int = 0
    sets: Sequence[str] = ()
    most_runs: int | None = None
    # The sets that an experiment has, as it names them.
    offered: list[str] = field(default_factory=list, compare=False)

    @property
    def runs(self) -> int:
        """How often an experiment is run."""
        return self._at_most(SETTINGS[self.setting][0])

    @property
    def few(self) -> int:
        """How often a dear experiment is run."""
        return self._at_most(SETTINGS[self.setting][1])

    def _at_most(self, runs: int) -> int:
        return runs if self.most_runs is None else min(runs, self.most_runs)

    def often(self, tiny: int, small: int, full: int) -> int:
        """Return how often an experiment with numbers of its own is run."""
        return self._at_most(self.pick(tiny, small, full))

    def pick(self, tiny: Any, small: Any, full: Any) -> Any:
        """Return what belongs to the setting."""
        return {"tiny": tiny, "small": small, "full": full}[self.setting]

    def among(self, names: Iterable[str]) -> list[str]:
        """Return those of an experiment's sets that were asked for."""
        named = [*names]
        self.offered.extend(named)
        return [name for name in named if not self.sets or name in self.sets]

    def opened(
        self, names: Iterable[str], read: Callable[[str, Path | None], Any]
    ) -> Iterator[Any]:
        """Yield the sets that are there, of those that were asked for; name the others."""
        for name in self.among(names):
            try:
                yield read(name, self.data)
            except DataError as error:
                print(f"{name} is left out: {error}", flush=True)


def row(measure: str, mean: float, error: float, runs: int, **keys: Any) -> Row:
    """Return one row; keys that are not given are empty."""
    unknown = keys.keys() - set(KEYS)
    assert not unknown, unknown
    about = {key: plain(keys.get(key, "")) for key in KEYS} | {"measure": measure}
    return {**about, "mean": f"{mean:.6g}", "error": f"{error:.3g}", "runs": runs}


def plain(value: Any) -> Any:
    """Return a value as it stands in a file: numbers without needless digits."""
    return f"{value:g}" if isinstance(value, float) else value


def spread(measure: str, values: Sequence[float], **keys: Any) -> Row:
    """Return the row of many runs."""
    found = np.asarray(values, float)
    known = found[~np.isnan(found)]
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    return row(measure, known.mean() if len(known) else np.nan, error, len(found), **keys)


def keep(name: str, rows: Sequence[Row], given: Given, folder: Path | None) -> Path:
    """Put rows into a file of results; rows of the same sets that stood there are replaced."""
    about = origin(given.seed, given.setting)
    return replace_rows(name, [{**found, **about} for found in rows], folder=folder)


def keep_by_set(name: str, rows: Iterable[Row], given: Given, folder: Path | None) -> int:
    """Keep the rows of each set as soon as it is done, so that a stop loses one set alone.

    What a set took is kept beside, in CPU seconds. Return how many rows there are.
    """
    made: dict[str, list[Row]] = {}
    spent: dict[str, float] = {}
    last, begun = "", time.process_time()

    def keep_last() -> None:
        keep(name, made[last], given, folder)
        often = max(found["runs"] for found in made[last])
        taken = {"experiment": name, "set": last, "runs": often, "seconds": f"{spent[last]:.1f}"}
        replace_rows(
            SPENT,
            [taken | origin(given.seed, given.setting)],
            by=("experiment", "set"),
            folder=folder,
        )

    for found in rows:
        if last and found["set"] != last:
            keep_last()
        last, now = found["set"], time.process_time()
        spent[last] = spent.get(last, 0.0) + now - begun
        begun = now
        made.setdefault(last, []).append(found)
    if last:
        keep_last()
    return sum(map(len, made.values()))
