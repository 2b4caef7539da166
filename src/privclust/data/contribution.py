"""At most ``max_rows`` rows per person: which rows count under the unit ``Person``.

Every row gets a rank: a hash of its own content under a key of its person. The rows of a person
with the smallest ranks count. So a person's rows are drawn at random, without regard to where they
stand: neither the order of the rows nor the rows of anybody else play a part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._typing import Mask
from privclust.data.reading.base import Block, RowReader
from privclust.data.reading.ids import id_texts
from privclust.data.reading.parts import ChosenPart, Part
from privclust.exceptions import DataError
from privclust.privacy.noise import SystemBits
from privclust.unit import Person, Unit

__all__ = ["BoundedRows", "Content", "ContributionBound", "bounded"]

# What a view sees of the rows of a block: numbers of shape (n_rows, n_columns). Rows with equal
# content are the same row to it.
Content = Callable[[Block], npt.NDArray[Any]]
_Words = npt.NDArray[np.uint64]

_NOBODY = -1
_KEY_BYTES = 16
# The multipliers and shifts of SplitMix64, whose every step is one to one.
_STRIDE, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class ContributionBound:
    """Draws ``max_rows`` rows of each person, when all blocks have been shown to it.

    Meanwhile it remembers twelve bytes of each row, and about 200 bytes of each person.

    Parameters
    ----------
    unit : Person
        Whose rows are bounded.
    key : bytes
        What the ranks depend on beside the rows: any bytes that are chosen without the data.

    Notes
    -----
    *Why this is private.* Fix the key. The rank of a row is a function of its id, its content and,
    among equal rows of one person, its number from 0 on; which of two equal rows has which number
    makes no difference to a view. So the rows that are kept of a person are, up to the exchange of
    equal ones, a function of the multiset of that person's rows. Let D' be D without one person, in
    any order whatsoever: of everybody else the same rows are kept, and D and D' differ in at most
    ``max_rows`` kept rows. This holds for every key and hence for a random one. Ids are compared
    exactly, never by a hash alone: people who share a hash would share their bound, and removing
    one would bring rows of the other in. See ``proofs/contribution.md``.
    """

    def __init__(self, unit: Person, key: bytes) -> None:
        self._unit = unit
        self._key = key
        self._people: dict[str, int] = {}
        self._seeds: list[int] = []
        self._seen: list[tuple[npt.NDArray[np.int32], _Words]] = []

    def add(self, ids: pa.Array, content: npt.NDArray[Any]) -> None:
        """Show the next block.

        Parameters
        ----------
        ids : Arrow array of shape (n_rows,)
            The person of each row.
        content : ndarray of shape (n_rows, n_columns)
            What the view sees of each row.
        """
        people = self._numbers_of(id_texts(ids, self._unit.id_column, self._unit.id_type))
        seeds = np.array(self._seeds, np.uint64)
        words = seeds[people] if len(seeds) else np.zeros(len(people), np.uint64)
        for column in _as_words(content).T:
            words = _mixed(words ^ _mixed(column))
        self._seen.append((people, words))

    def kept(self) -> list[Mask]:
        """Return which rows of each block count."""
        people = np.concatenate([people for people, _ in self._seen])
        words = np.concatenate([words for _, words in self._seen])
        keep = np.ones(len(people), bool)
        totals = np.bincount(people[people >= 0], minlength=1)
        (many,) = np.nonzero((people >= 0) & (totals[people] > self._unit.max_rows))
        keep[many] = _smallest(people[many], words[many], self._unit.max_rows)
        return np.split(keep, np.cumsum([len(people) for people, _ in self._seen])[:-1])

    def _numbers_of(self, texts: pa.Array) -> npt.NDArray[np.int32]:
        """Return the number of each row's person; rows without an id belong to nobody."""
        if texts.null_count and self._unit.missing == "error":
            raise DataError(
                f"Column {self._unit.id_column!r} is the id column but has missing ids; fill them "
                'in, remove those rows, or declare missing="separate" for the unit.'
            )
        coded = texts.dictionary_encode()
        numbers = [self._number(person) for person in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*numbers, _NOBODY], np.int32)[places])

    def _number(self, person: str) -> int:
        number = self._people.setdefault(person, len(self._people))
        if number == len(self._seeds):
            digest = hashlib.blake2b(person.encode(), digest_size=8, key=self._key).digest()
            self._seeds.append(int.from_bytes(digest, "little"))
        return number


def _as_words(content: npt.NDArray[Any]) -> _Words:
    """Return numbers as 64-bit words, equal ones as equal words."""
    if content.dtype.kind == "f":
        return (content.astype(np.float64) + 0.0).view(np.uint64)  # there is one zero only
    return content.astype(np.int64).view(np.uint64)


def _mixed(words: _Words) -> _Words:
    """Return words that look random; different words stay different."""
    words = words + np.uint64(_STRIDE)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(words ^ (words >> np.uint64(31)))


def _smallest(people: npt.NDArray[np.int32], words: _Words, count: int) -> Mask:
    """Return which rows are among the ``count`` of their person with the smallest ranks."""
    order = np.lexsort((words, people))
    people, words = people[order], words[order]
    same_person = people[1:] == people[:-1]
    # Equal rows are numbered and ranked apart, so that each has the chance of any other row.
    copies = _places_in_runs(same_person & (words[1:] == words[:-1]))
    by_rank = np.lexsort((_mixed(words + _mixed(copies.astype(np.uint64))), people))
    keep = np.empty(len(people), bool)
    keep[order[by_rank]] = _places_in_runs(same_person) < count
    return keep


def _places_in_runs(goes_on: Mask) -> npt.NDArray[np.int64]:
    """Return the place of each entry in its run; ``goes_on`` says which entries continue one."""
    here = np.arange(len(goes_on) + 1)
    starts = np.concatenate([[0], np.where(goes_on, 0, here[1:])])
    return np.asarray(here - np.maximum.accumulate(starts))


class BoundedRows(RowReader):
    """The rows of another source that count under the unit ``Person``.

    A pass of its own decides which rows count and remembers one bit per row.

    Parameters
    ----------
    source : RowReader
        Opened with the id column of the unit.
    unit : Person
    content : callable
        Returns what a view sees of the rows of a block.
    key : bytes
        Chosen without the data; see :class:`ContributionBound`.
    """

    def __init__(self, source: RowReader, unit: Person, content: Content, key: bytes) -> None:
        if source.id_column != unit.id_column:
            raise DataError(
                f"Column {unit.id_column!r} must be read as the id column; "
                "open the data with id_column."
            )
        named = source.names is not None
        super().__init__(source.selection, named=named, block_rows=source.block_rows)
        self._source = source
        self._unit, self._content, self._key = unit, content, key
        self._chosen: list[ChosenPart] | None = None

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows that count in parts; the first call reads the source and decides."""
        if self._chosen is None:
            self._chosen = self._decided(count)
        return self._chosen

    def _blocks(self) -> Iterator[Block]:
        for part in self.parts():
            yield from part.blocks()

    def _decided(self, count: int) -> list[ChosenPart]:
        bound = ContributionBound(self._unit, self._key)
        parts, lengths = list(self._source.parts(count)), []
        for part in parts:
            blocks = 0
            for block in part.blocks():
                bound.add(block.column(self._unit.id_column), self._content(block))
                blocks += 1
            lengths.append(blocks)
        if not sum(lengths):
            return []
        masks = iter([(len(mask), np.packbits(mask)) for mask in bound.kept()])
        return [
            ChosenPart(part, tuple(islice(masks, blocks)))
            for part, blocks in zip(parts, lengths, strict=True)
        ]

    @property
    def stays_here(self) -> str | None:
        return self._source.stays_here

    def at_close(self, call: Callable[[], object]) -> None:
        # Whoever opened the source closes that one, and maybe not this.
        self._source.at_close(call)

    def close(self) -> None:
        super().close()
        self._source.close()


def bounded(
    source: RowReader, unit: Unit, content: Content, seed: np.random.SeedSequence | None = None
) -> RowReader:
    """Return the rows that count: all of them unless the unit is a person.

    Parameters
    ----------
    source : RowReader
    unit : Unit
    content : callable
        Returns what a view sees of the rows of a block.
    seed : SeedSequence or None
        Which rows are drawn; the system decides afresh each time if not given.
    """
    if not isinstance(unit, Person):
        return source
    return BoundedRows(source, unit, content, _key(seed))


def _key(seed: np.random.SeedSequence | None) -> bytes:
    if seed is None:
        return SystemBits().words(_KEY_BYTES // 8).tobytes()
    # A child of the seed that nobody else asks for, so that the noise stays as it is.
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _STRIDE))
    return own.generate_state(_KEY_BYTES // 8, np.uint64).tobytes()
