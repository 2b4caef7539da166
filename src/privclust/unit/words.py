"""The words for each unit in reports and notes: all but those of its promise.

They are separate from the units because no proof depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UnitWords:
    """What a unit is called in sentences."""

    # One and several of what is counted, such as "somebody's row" and "rows".
    one: str
    many: str
    # The subject of odds and guesses.
    odds: str
    guess: str
    # The data and their neighbours, in which the chance of a conclusion is compared.
    here: str
    there: str
    limit: str  # what the unit leaves open, in a sentence
    # What a person may have several of, each protected by itself; empty if protected together.
    per_person: str = ""


_WORDS = {
    "add-remove-row": UnitWords(
        one="somebody's row",
        many="rows",
        odds="that a given row is in the data",
        guess="that this row is in the data",
        here="with any one row in the data",
        there="without that row",
        limit="Each row is protected by itself.",
        per_person="rows",
    ),
    "replace-row": UnitWords(
        one="somebody's row",
        many="rows",
        odds="between any two guesses about what a given row says",
        guess="that the row says one thing and not another",
        here="from these data",
        there="with any one row replaced by another",
        limit="How many rows there are is not protected, only what they say, each by itself.",
        per_person="rows",
    ),
    "person": UnitWords(
        one="somebody's row",
        many="rows",
        odds="that a given person is in the data",
        guess="that this person is in the data",
        here="with any one person in the data",
        there="without that person",
        limit="All rows of a person are protected together, as far as they carry the same "
        "identifier.",
    ),
    "matrix-count": UnitWords(
        one="somebody's count",
        many="counts",
        odds="that a given count was made",
        guess="that this count was made",
        here="from this matrix",
        there="with one more or one less in any one entry",
        limit="Each count is protected by itself; the shape of the matrix is not protected.",
        per_person="counts",
    ),
    "matrix-entry": UnitWords(
        one="somebody's entry",
        many="entries above zero",
        odds="between any two guesses about what a given entry is",
        guess="that the entry is one number and not another",
        here="from this matrix",
        there="with any one entry changed to another number",
        limit="Each entry is protected by itself; the shape of the matrix is not protected.",
        per_person="entries",
    ),
    "matrix-row": UnitWords(
        one="somebody's row",
        many="rows",
        odds="that a given row is in the matrix",
        guess="that this row is in the matrix",
        here="with any one row in the matrix",
        there="without that row",
        limit="Each row is protected by itself; the number of columns is not protected.",
        per_person="rows",
    ),
}
# A release may come from a later version, with a unit that this one does not know.
_UNKNOWN = UnitWords(
    one="one of them",
    many="what is protected",
    odds="between the data with and without what is protected",
    guess="that it is in the data",
    here="from these data",
    there="from data that differ in what is protected",
    limit="The protection covers what the sentence above names, and nothing larger.",
)


def words_of(name: str) -> UnitWords:
    """Return what the unit of this name is called."""
    return _WORDS.get(name, _UNKNOWN)
