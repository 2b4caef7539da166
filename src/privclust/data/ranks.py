"""Ranks of rows: words that look random, and the order of contents where words are equal.

A word is a hash, and rows can be made whose words are equal. So nothing but fairness depends on it:
whatever the words, the rows that are chosen are a function of the multiset of a person's rows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from privclust._typing import AnyArray, Integers, Mask, ShortLabels, Words

# The multipliers and shifts of SplitMix64, whose every step is one to one.
STRIDE, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def words_of(content: AnyArray, starts: Words) -> Words:
    """Return a hash of each row that begins with a secret word of its person."""
    words = starts
    for column in _as_words(content).T:
        words = _mixed(words ^ _mixed(column))
    return words


def _as_words(content: AnyArray) -> Words:
    """Return numbers as 64-bit words, equal ones as equal words."""
    if content.dtype.kind == "f":
        return (content.astype(np.float64) + 0.0).view(np.uint64)  # there is one zero only
    return content.astype(np.int64).view(np.uint64)


def _mixed(words: Words) -> Words:
    """Return words that look random; different words stay different."""
    words = words + np.uint64(STRIDE)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(words ^ (words >> np.uint64(31)))


def packed(content: AnyArray) -> Words | None:
    """Return each row as one word, words in the order of the rows' bytes, if all of them fit."""
    width = content.shape[1]
    if width == 1:
        return _as_words(content)[:, 0]
    bits = 64 // max(width, 1)
    if content.size and not (content.min() >= 0 and content.max() < 2**bits):
        return None
    whole = content.astype(np.uint64)
    words = np.zeros(len(content), np.uint64)
    for column in whole.T:
        words = words << np.uint64(bits) | column
    return words if np.array_equal(whole, content) else None


def numbered(contents: Iterable[AnyArray]) -> Integers:
    """Return a number for each row: equal rows have the same, others are ordered by their bytes."""
    places: dict[bytes, int] = {}
    found = []
    for content in contents:
        width, whole = 8 * content.shape[1], _as_words(content).astype(">u8").tobytes()
        lines = (whole[start : start + width] for start in range(0, len(whole), width))
        found.append(np.array([places.setdefault(line, len(places)) for line in lines], np.int64))
    numbers = {line: number for number, line in enumerate(sorted(places))}
    return np.array([numbers[line] for line in places], np.int64)[np.concatenate(found)]


def smallest(people: ShortLabels, words: Words, count: int) -> tuple[Mask, Integers]:
    """Return which rows, ordered by person and word, are the ``count`` first of their person.

    And the number of the run of equal words of one person that each row is in.
    """
    same_person = _repeats(people)
    same_word = same_person & _repeats(words)
    # Equal rows are numbered and ranked apart, so that each has the chance of any other row.
    copies = _places_in_runs(same_word)
    by_rank = np.lexsort((_mixed(words + _mixed(copies.astype(np.uint64))), people))
    chosen = np.empty(len(people), bool)
    chosen[by_rank] = _places_in_runs(same_person) < count
    return chosen, np.cumsum(~same_word)


def cut_through(chosen: Mask, runs: Integers) -> Mask:
    """Return the rows of runs of which some rows are chosen and others are not."""
    shares = np.bincount(runs, chosen) / np.maximum(np.bincount(runs), 1)
    return np.asarray(((shares > 0) & (shares < 1))[runs])


def _repeats(values: AnyArray) -> Mask:
    """Return which values are those before them."""
    return np.concatenate([np.zeros(1, bool), values[1:] == values[:-1]])[: len(values)]


def _places_in_runs(goes_on: Mask) -> Integers:
    """Return the place of each entry in its run; ``goes_on`` says which entries continue one."""
    here = np.arange(len(goes_on))
    return np.asarray(here - np.maximum.accumulate(np.where(goes_on, 0, here)))
