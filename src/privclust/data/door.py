"""What the doors share: the unit, the rows that count, the source of noise, and closing.

A door takes data of a caller under public facts and hands out a view. Opening looks at column names
and types, never at rows, so it may precede the charge to a ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privclust.data.contribution import bounded
from privclust.data.reading import Block, RowReader, open_rows
from privclust.privacy.noise import ExactNoise, NoiseSource, SeededBits
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
    columns : sequence of str or None
        The declared columns, if they have names.
    unit : Unit or None
        The privacy unit, one of a table of rows.
    ignore : sequence of str or None
        Columns of the data that need not be declared and are not read; ``None`` allows any.
    noise : NoiseSource or None
        In the place of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        columns: Sequence[str] | None,
        *,
        unit: Unit | None = None,
        ignore: Sequence[str] | None = (),
        noise: NoiseSource | None = None,
    ) -> None:
        self.unit: RowUnit = row_unit(AddRemoveRow() if unit is None else unit)
        self._rows: RowReader = open_rows(
            data, columns, id_column=self.unit.id_column, ignore=ignore
        )
        self._given_noise = noise

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, from the schema or the data, if either has any."""
        return self._rows.names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._rows.n_columns

    def _content(self, block: Block) -> NDArray[Any]:
        """Return what a view sees of the rows of a block; see :func:`bounded`."""
        raise NotImplementedError

    def _counted(self, seed: np.random.SeedSequence | None) -> RowReader:
        """Return the rows that count under the unit."""
        return bounded(self._rows, self.unit, self._content, seed)

    def _noise(self, seed: np.random.SeedSequence | None) -> NoiseSource:
        return noise_from(seed, self._given_noise)

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
