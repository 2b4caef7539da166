"""What the doors share: the unit, the rows that count, the source of noise, and closing.

A door takes data of a caller under public facts and hands out a view. Opening looks at column names
and types, never at rows, so it may precede the charge to a ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privclust.data.contribution import bounded
from privclust.data.encode import AsRead
from privclust.data.engines.base import Stacked, current_engine, engine_for
from privclust.data.reading import Block, RowReader, open_declared, open_rows
from privclust.data.reading.declared import declare
from privclust.data.reading.places import placed
from privclust.privacy.noise import ExactNoise, NoiseSource, SeededBits
from privclust.schema import Schema
from privclust.unit import AddRemoveRow, RowUnit, Unit, row_unit

__all__ = ["Door", "noise_from"]


def noise_from(
    seed: np.random.SeedSequence | None, given: NoiseSource | None = None
) -> NoiseSource:
    """Return where the noise of a view comes from: the system, unless there is a seed.

    Parameters
    ----------
    seed : SeedSequence or None
        Makes the noise reproducible, and NOT PRIVATE.
    given : NoiseSource or None
        Used instead; for tests.
    """
    if given is not None:
        return given
    return ExactNoise() if seed is None else ExactNoise(SeededBits(seed))


class Door:
    """Rows of a caller, opened under public facts; they are first read when a view asks.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads
    schema : Schema or None
        What is declared about the columns.
    short_form : callable or None
        Without a schema, makes one from the names and the number of the columns.
    unit : Unit or None
        The privacy unit, one of a table of rows.
    ignore : sequence of str or None
        Columns of the data that need not be declared and are not read; ``None`` allows any.
    may_be_empty : bool
        Whether data without a row are accepted, so that nothing tells them apart from others.
    noise : NoiseSource or None
        Used instead of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        schema: Schema | None,
        *,
        short_form: Callable[[RowReader], Schema] | None = None,
        unit: Unit | None = None,
        ignore: Sequence[str] | None = (),
        may_be_empty: bool = False,
        noise: NoiseSource | None = None,
    ) -> None:
        self.unit: RowUnit = row_unit(AddRemoveRow() if unit is None else unit)
        self._given_noise = noise
        aside: dict[str, Any] = {"id_column": self.unit.id_column, "ignore": ignore}
        if schema is not None:
            self.schema = schema
            self._rows = open_declared(data, schema, **aside, may_be_empty=may_be_empty)
            return
        assert short_form is not None  # noqa: S101  # a door takes a schema or makes one
        data = placed(data)
        self._rows = open_rows(data, **aside)
        with self._closed_on_error():
            self.schema = short_form(self._rows)
            self._rows = declare(self._rows, data, self.schema, may_be_empty=may_be_empty)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, from the schema or the data, if either has any."""
        return self._rows.names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._rows.n_columns

    def check_engine(self) -> None:
        """Raise, before anything is charged, if the chosen engine cannot read the rows."""
        current_engine().check(self._rows)

    def _content(self, block: Block) -> NDArray[Any]:
        """Return what a view sees of the rows of a block; see :func:`bounded`."""
        raise NotImplementedError

    def _counted(self, seed: np.random.SeedSequence | None) -> RowReader:
        """Return the rows that count under the unit."""
        return bounded(self._rows, self.unit, self._content, seed)

    def _noise(self, seed: np.random.SeedSequence | None) -> NoiseSource:
        return noise_from(seed, self._given_noise)

    def _each(self, of: Callable[[Block], Stacked]) -> Iterator[NDArray[Any]]:
        """Yield what the holder asks about single rows, in their order, while they are read."""
        rows = engine_for(self._rows).open(self._rows, AsRead())
        for stacked in rows.each(of):
            yield from stacked.parts

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        """Close the rows if what follows the opening fails."""
        try:
            yield
        except BaseException:
            self._rows.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()
