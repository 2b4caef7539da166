"""At most so many rows per person: which rows of a data set count under the unit ``Person``.

The rule is "the first rows of each person in reading order". It needs nothing but the ids, so it
is the same for every file format and every division into blocks; a rule by a hash of the rows'
content would also be independent of order, but needs one canonical encoding of all content.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat, zip_longest

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from privclust.data.reading.base import Block, Mask, RowReader, one_sentence
from privclust.data.reading.convert import array_from, as_kind
from privclust.exceptions import DataError
from privclust.schema import Kind
from privclust.unit import Person, Unit

__all__ = ["BoundedRows", "ContributionBound", "bounded"]

_Bits = tuple[int, npt.NDArray[np.uint8]]  # a mask: its length, and eight rows to a byte


class ContributionBound:
    """Keeps the first ``max_rows`` rows of each person, block after block.

    The blocks must come in reading order. The memory needed grows with the number of people, not
    of rows: about 100 bytes for each.

    Parameters
    ----------
    max_rows : int
        Rows that each person may contribute.
    id_column : str
        Name of the id column, for messages.

    Notes
    -----
    *Why this is private.* Whether a row is kept is decided by the number of earlier rows with the
    same id: by rows of the same person only. Let D' be D without the rows of one person. The other
    people's rows stand in D' in the same relative order, so exactly the same of them are kept, and
    D and D' differ in at most ``max_rows`` kept rows. Ids are compared exactly, never by a hash
    alone: two people who share a hash would share their bound, and removing one would bring rows
    of the other in.
    """

    def __init__(self, max_rows: int, id_column: str = "id") -> None:
        self.max_rows = max_rows
        self.id_column = id_column
        self._kept: dict[int | str, int] = {}
        self._kind: Kind | None = None

    def keep(self, ids: pa.Array | npt.NDArray[np.generic]) -> Mask:
        """Return which rows of the next block count.

        Parameters
        ----------
        ids : Arrow or NumPy array of int or str, shape (n_rows,)
            The person of each row.

        Returns
        -------
        mask : ndarray of bool, shape (n_rows,)
        """
        coded = self._checked(ids).dictionary_encode()
        people = coded.dictionary.to_pylist()
        codes = coded.indices.to_numpy(zero_copy_only=False)
        before = np.fromiter(map(self._kept.get, people, repeat(0)), np.int64, len(people))
        own = np.bincount(codes, minlength=len(people))
        after = np.minimum(before + own, self.max_rows)
        self._kept.update(zip(people, after.tolist(), strict=True))
        mask: Mask = before[codes] + _rank_within(codes, own) < self.max_rows
        return mask

    def _checked(self, ids: pa.Array | npt.NDArray[np.generic]) -> pa.Array:
        """Return the ids as text or integers, the same for all blocks."""
        array = array_from(ids, self.id_column) if isinstance(ids, np.ndarray) else ids
        stored = array.type.value_type if pt.is_dictionary(array.type) else array.type
        numeric = pt.is_integer(stored) or pt.is_floating(stored)
        self._kind = self._kind or ("integer" if numeric else "text")
        no_id = (
            f"Column {self.id_column!r} cannot serve as the id column; "
            "convert all of it to integers or all of it to text."
        )
        with one_sentence(no_id, DataError):
            array = as_kind(array, self.id_column, self._kind)
        if array.null_count:
            raise DataError(
                f"Column {self.id_column!r} is the id column but has missing ids; "
                "fill them in or remove those rows."
            )
        return array


def _rank_within(codes: npt.NDArray[np.int64], own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return for each row how many earlier rows of the block have the same code."""
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(own) - own
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes)) - np.repeat(starts, own)
    return rank


class BoundedRows(RowReader):
    """The rows of another source that count under the unit ``Person``.

    The first pass decides which rows count and remembers one bit per row; later passes reuse it.
    """

    def __init__(self, source: RowReader, unit: Person) -> None:
        if source.id_column != unit.id_column:
            raise DataError(
                f"Column {unit.id_column!r} must be read as the id column; "
                "open the data with id_column."
            )
        named = source.names is not None
        super().__init__(source.selection, named=named, block_rows=source.block_rows)
        self._source = source
        self._unit = unit
        self._bits: list[_Bits] | None = None

    def _blocks(self) -> Iterator[Block]:
        if self._bits is not None:
            yield from self._decided(self._bits)
            return
        bound = ContributionBound(self._unit.max_rows, self._unit.id_column)
        decided: list[_Bits] = []
        for block in self._source.blocks():
            mask = bound.keep(block.column(self._unit.id_column))
            decided.append((len(mask), np.packbits(mask)))
            yield block.keep(mask)
        self._bits = decided

    def _decided(self, masks: list[_Bits]) -> Iterator[Block]:
        for block, mask in zip_longest(self._source.blocks(), masks):
            if block is None or mask is None or block.n_rows != mask[0]:
                raise DataError("The data changed while they were read; start again.")
            yield block.keep(np.unpackbits(mask[1], count=mask[0]).astype(bool))

    def close(self) -> None:
        super().close()
        self._source.close()


def bounded(source: RowReader, unit: Unit) -> RowReader:
    """Return the rows that count: all of them unless the unit is a person."""
    return BoundedRows(source, unit) if isinstance(unit, Person) else source
