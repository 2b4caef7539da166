"""At most ``max_rows`` rows per person: which rows count under the unit ``Person``.

A word is a hash, and rows with equal words can be constructed. So only fairness depends on it:
whatever the words, the rows that are chosen are a function of the multiset of a person's rows.

Every row gets a rank: a hash of its own content under a key of its person. The rows of a person
with the smallest ranks count, and content decides between equal ranks. So a person's rows are drawn
at random, whatever their positions: neither the order of the rows nor anybody else's rows play a
part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from privclust._typing import AnyArray, Integers, Mask, ShortLabels, Words
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.table import IDS
from privclust.data.columns.words import id_refusal
from privclust.data.rows import Block, FilteredPart, Part, RowSource
from privclust.exceptions import DataError
from privclust.privacy.noise.bits import SystemBits
from privclust.unit import Unit
from privclust.unit.rows import Person

# Ranks of rows: words that look random, and the order of contents where words are equal.

# The multipliers and shifts of SplitMix64, whose every step is one to one.
STRIDE, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def words_of(content: AnyArray, starts: Words) -> Words:
    """Return a hash of each row, keyed by a secret word of its person."""
    words = starts
    for column in _to_uint64(content).T:
        words = _mix_bits(words ^ _mix_bits(column))
    return words


def _to_uint64(content: AnyArray) -> Words:
    """Return numbers as 64-bit words, equal ones as equal words."""
    if content.dtype.kind == "f":
        return (content.astype(np.float64) + 0.0).view(np.uint64)  # only one zero
    return content.astype(np.int64).view(np.uint64)


def _mix_bits(words: Words) -> Words:
    """Return words that look random; different words stay different."""
    words = words + np.uint64(STRIDE)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(words ^ (words >> np.uint64(31)))


def pack_content(content: AnyArray) -> Words | None:
    """Return each row as one word, ordered as the rows' bytes, if all of them fit."""
    width = content.shape[1]
    if width == 1:
        return _to_uint64(content)[:, 0]
    bits = 64 // max(width, 1)
    if content.size and not (content.min() >= 0 and content.max() < 2**bits):
        return None
    whole = content.astype(np.uint64)
    words = np.zeros(len(content), np.uint64)
    for column in whole.T:
        words = words << np.uint64(bits) | column
    return words if np.array_equal(whole, content) else None


def number_people(contents: Iterable[AnyArray]) -> Integers:
    """Return a number for each row, ordered by the rows' bytes; equal rows have equal numbers."""
    places: dict[bytes, int] = {}
    found = []
    for content in contents:
        width, whole = 8 * content.shape[1], _to_uint64(content).astype(">u8").tobytes()
        lines = (whole[start : start + width] for start in range(0, len(whole), width))
        found.append(np.array([places.setdefault(line, len(places)) for line in lines], np.int64))
    numbers = {line: number for number, line in enumerate(sorted(places))}
    return np.array([numbers[line] for line in places], np.int64)[np.concatenate(found)]


def smallest(people: ShortLabels, words: Words, count: int) -> tuple[Mask, Integers]:
    """Return which rows, ordered by person and word, are the ``count`` first of their person.

    Also return the run of equal words of one person that each row is in.
    """
    same_person = _repeats(people)
    same_word = same_person & _repeats(words)
    # Equal rows are ranked separately, so that each has the same chance as any other row.
    copies = _places_in_runs(same_word)
    by_rank = np.lexsort((_mix_bits(words + _mix_bits(copies.astype(np.uint64))), people))
    chosen = np.empty(len(people), bool)
    chosen[by_rank] = _places_in_runs(same_person) < count
    return chosen, np.cumsum(~same_word)


def cut_through(chosen: Mask, runs: Integers) -> Mask:
    """Return the rows of runs that are only partly chosen."""
    shares = np.bincount(runs, chosen) / np.maximum(np.bincount(runs), 1)
    return np.asarray(((shares > 0) & (shares < 1))[runs])


def _repeats(values: AnyArray) -> Mask:
    """Return which values equal the one before them."""
    return np.concatenate([np.zeros(1, bool), values[1:] == values[:-1]])[: len(values)]


def _places_in_runs(goes_on: Mask) -> Integers:
    """Return the position of each entry in its run; ``goes_on`` says which entries continue one."""
    here = np.arange(len(goes_on))
    return np.asarray(here - np.maximum.accumulate(np.where(goes_on, 0, here)))


# What a view sees of the rows of a block: numbers of shape (n_rows, n_columns). Rows with equal
# content are the same row to it.
Content = Callable[[Block], npt.NDArray[Any]]
# Reads again: the contents of the rows where masks are true, block by block.
Again = Callable[[list[Mask]], Iterable[npt.NDArray[Any]]]

_NOBODY = -1
_KEY_BYTES = 16


class ContributionBound:
    """Draws ``max_rows`` rows of each person after it has seen all blocks.

    Until then it keeps twelve bytes of each row, or twenty if its content packs into eight, and
    about 200 bytes of each person.

    ``key``: what the ranks depend on besides the rows: any bytes chosen independently of the data.

    Notes
    -----
    *Why this is private.* Fix the key. Rows of a person are ordered by functions of their content
    and, among those with the same hash, by the content itself: whatever the hash, only rows with
    equal content ever tie, and which of those is kept makes no difference to a view. So the rows
    that are kept of a person are, up to the exchange of equal ones, a function of the multiset of
    that person's rows. Let D' be D without one person, in any order: the same rows of everybody
    else are kept, and D and D' differ in at most ``max_rows`` kept rows. This holds for every key
    and hence for a random one, which serves fairness. Ids are compared exactly, never by a hash
    alone: people who share a hash would share their bound, and removing one would bring rows of the
    other in. See ``proofs/contribution.md``.
    """

    def __init__(self, unit: Person, key: bytes) -> None:
        self._unit = unit
        self._key = key
        self._people: dict[str, int] = {}
        self._seeds: list[int] = []
        self._seen: list[tuple[npt.NDArray[np.int32], Words]] = []
        self._packed: list[Words] | None = []

    def add(self, ids: TypedColumn, content: npt.NDArray[Any]) -> None:
        """Show the next block.

        ``content``: (n_rows, n_columns), what the view sees of each row.
        """
        people = self._numbers_of(ids)
        seeds = np.array(self._seeds, np.uint64)
        starts = seeds[people] if len(seeds) else np.zeros(len(people), np.uint64)
        self._seen.append((people, words_of(content, starts)))
        if self._packed is not None and (packed := pack_content(content)) is not None:
            self._packed.append(packed)
        else:
            self._packed = None

    def kept(self, again: Again) -> list[Mask]:
        """Return which rows of each block count.

        ``again``: ``again(masks)`` returns, block by block, the contents of the rows where masks
        are true. It is called only if words do not decide.
        """
        people = np.concatenate([people for people, _ in self._seen])
        words = np.concatenate([words for _, words in self._seen])
        totals = np.bincount(people[people >= 0], minlength=1)
        (many,) = np.nonzero((people >= 0) & (totals[people] > self._unit.max_rows))
        order = many[np.lexsort((words[many], people[many]))]
        chosen, runs = smallest(people[order], words[order], self._unit.max_rows)
        cut = cut_through(chosen, runs)
        if cut.any():
            rows = order[cut]
            order[cut] = rows[np.lexsort((self._by_content(rows, again), runs[cut]))]
        keep = np.ones(len(people), bool)
        keep[order] = chosen
        return self._in_blocks(keep)

    def _by_content(self, rows: npt.NDArray[np.intp], again: Again) -> npt.NDArray[Any]:
        """Return numbers for rows, ordered and equal as their contents are."""
        if self._packed is not None:
            return np.asarray(np.concatenate(self._packed)[rows])
        wanted = np.zeros(sum(len(people) for people, _ in self._seen), bool)
        wanted[rows] = True
        numbers = np.zeros(len(wanted), np.int64)
        numbers[wanted] = number_people(again(self._in_blocks(wanted)))
        return np.asarray(numbers[rows])

    def _in_blocks(self, mask: Mask) -> list[Mask]:
        return np.split(mask, np.cumsum([len(people) for people, _ in self._seen])[:-1])

    def _numbers_of(self, ids: TypedColumn) -> npt.NDArray[np.int32]:
        """Return the number of each row's person; rows without an id belong to nobody."""
        unit = self._unit
        read = IDS[unit.id_type].read(ids)
        if unit.missing == "error" and read.values.null_count:
            raise id_refusal(read, unit.id_column, as_numbers=unit.id_type == "number")
        coded = read.values.dictionary_encode()
        numbers = [self._number(person) for person in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*numbers, _NOBODY], np.int32)[places])

    def _number(self, person: str) -> int:
        number = self._people.setdefault(person, len(self._people))
        if number == len(self._seeds):
            digest = hashlib.blake2b(person.encode(), digest_size=8, key=self._key).digest()
            self._seeds.append(int.from_bytes(digest, "little"))
        return number


class PersonRows(RowSource):
    """The rows of another source that count under the unit ``Person``.

    A separate pass decides which rows count and keeps one bit per row. If the limit falls within
    rows of a person with equal words, a second pass compares them.

    ``source``: opened with the id column of the unit. ``content``: returns what a view sees of the
    rows of a block.
    """

    def __init__(self, source: RowSource, unit: Person, content: Content, key: bytes) -> None:
        if source.id_column != unit.id_column:
            raise DataError(
                f"Column {unit.id_column!r} must be read as the id column; "
                "open the data with id_column."
            )
        named = source.names is not None
        super().__init__(source.selection, named=named, block_rows=source.block_rows)
        self._source = source
        self._unit, self._content, self._key = unit, content, key
        self._chosen: list[FilteredPart] | None = None

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows that count in parts; the first call reads the source and decides."""
        if self._chosen is None:
            self._chosen = self._decide(count)
        return self._chosen

    def _blocks(self) -> Iterator[Block]:
        for part in self.parts():
            yield from part.blocks()

    def _decide(self, count: int) -> list[FilteredPart]:
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

        def chosen(masks: list[Mask]) -> list[FilteredPart]:
            bits = iter([(len(mask), np.packbits(mask)) for mask in masks])
            return [
                FilteredPart(part, tuple(islice(bits, blocks)))
                for part, blocks in zip(parts, lengths, strict=True)
            ]

        def again(masks: list[Mask]) -> Iterator[npt.NDArray[Any]]:
            return (self._content(block) for part in chosen(masks) for block in part.blocks())

        return chosen(bound.kept(again))

    @property
    def stays_here(self) -> str | None:
        return self._source.stays_here

    def at_close(self, call: Callable[[], object]) -> None:
        # The opener closes the inner source, maybe not this wrapper.
        self._source.at_close(call)

    def close(self) -> None:
        super().close()
        self._source.close()


def limit_rows_per_person(
    source: RowSource, unit: Unit, content: Content, seed: np.random.SeedSequence | None = None
) -> RowSource:
    """Return the rows that count: all of them unless the unit is a person.

    ``content``: returns what a view sees of the rows of a block. ``seed``: which rows are drawn;
    by default the system decides anew each time.
    """
    if not isinstance(unit, Person):
        return source
    return PersonRows(source, unit, content, _key(seed))


def _key(seed: np.random.SeedSequence | None) -> bytes:
    if seed is None:
        return SystemBits().words(_KEY_BYTES // 8).tobytes()
    # A child of the seed used only here, so that the noise is unaffected.
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, STRIDE))
    return own.generate_state(_KEY_BYTES // 8, np.uint64).tobytes()
