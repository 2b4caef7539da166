"""Rows of another source that are changed on the way, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from privclust.data.reading.base import Block, RowReader
from privclust.data.reading.parts import Part, SteppedPart

__all__ = ["SteppedRows"]


class SteppedRows(RowReader):
    """The rows of another source, whose every block takes one more step.

    Parameters
    ----------
    source : RowReader
    step : callable
        Takes a block and returns one; a frozen value that depends on nothing but the block.
    """

    def __init__(self, source: RowReader, step: Callable[[Block], Block]) -> None:
        named, n_rows = source.names is not None, source.n_rows
        super().__init__(source.selection, named=named, n_rows=n_rows, block_rows=source.block_rows)
        self._source, self._step = source, step

    @property
    def stays_here(self) -> str | None:
        return self._source.stays_here

    def parts(self, count: int = 1) -> Sequence[Part]:
        return [SteppedPart(part, self._step) for part in self._source.parts(count)]

    def at_close(self, call: Callable[[], object]) -> None:
        # Whoever opened the source closes that one, and maybe not this.
        self._source.at_close(call)

    def _blocks(self) -> Iterator[Block]:
        return map(self._step, self._source.blocks())

    def close(self) -> None:
        super().close()
        self._source.close()
