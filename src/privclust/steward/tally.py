"""The counts of a column and of people that a steward's check adds up, block by block."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from privclust._typing import Mask
from privclust.data.columns.kinds import TAGS, TypedColumn
from privclust.data.columns.table import ARROW_TYPE, IDS, category_line, number_line
from privclust.data.columns.words import id_refusal, in_words
from privclust.data.rows import Block
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.writing import Writing
from privclust.steward.causes import likely_cause
from privclust.steward.likely import is_missing
from privclust.unit.rows import IdType

_BYTES = TAGS.index("bytes")
# Different values that do not read as declared, of which the cause is looked for.
_MOST_KEPT = 1000
# More than this share of a column that cannot be read is no accident.
_FEW = 0.05


@dataclass
class Tally:
    """The counts of one column."""

    name: str
    fact: Fact
    writing: Writing
    rows: int = 0
    stored: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)  # texts that do not read as declared
    fine: Counter[str] = field(default_factory=Counter)  # and some that do

    def add(self, block: Block) -> Mask:
        """Count the rows of a block and return which of them are clipped."""
        column = block.column(self.name)
        self.rows += block.n_rows
        self.stored.add(_type_phrase(column))
        self.kinds.add(column.kind)
        if isinstance(self.fact, Categories):
            self._add_categories(column, self.fact)
            return np.zeros(block.n_rows, np.bool_)
        return self._add_numbers(column, self.fact)

    def _add_categories(self, column: TypedColumn, fact: Categories) -> None:
        read = category_line(fact.kind, self.writing).read(column)
        listed = pc.is_in(read.values, value_set=pa.array(fact.values, ARROW_TYPE[fact.kind]))
        missing = _mask(read.values.is_null()) & ~read.foreign
        unknown = ~_mask(listed) & ~missing
        self.counts["missing"] += int(missing.sum())
        self.counts["unknown"] += int(unknown.sum())
        self._keep(column, unknown)

    def _add_numbers(self, column: TypedColumn, fact: Box | Bins) -> Mask:
        numbers = number_line(self.writing).read(column).values.to_numpy(zero_copy_only=False)
        finite = np.isfinite(numbers)
        missing = ~finite & is_missing(column)
        low, high = (fact.low, fact.high) if isinstance(fact, Box) else _ends(fact)
        below, above = finite & (numbers < low), finite & (numbers > high)
        self.counts["missing"] += int(missing.sum())
        self.counts["foreign"] += int((~finite & ~missing).sum())
        self.counts["below"] += int(below.sum())
        self.counts["above"] += int(above.sum())
        self.counts["outside"] += int((below | above).sum())
        self._keep(column, ~finite & ~missing)
        return np.asarray(below | above)

    def _keep(self, column: TypedColumn, odd: Mask) -> None:
        """Remember some of the values that do not read as declared, to look for the cause."""
        if len(self.odd) < _MOST_KEPT and odd.any():
            kept = column.keep(odd)
            # Cells of mixed kinds are structs, of which Arrow finds no distinct ones.
            values = kept.array if column.kind == "cell" else kept.words()
            values = values.slice(0, _MOST_KEPT)
            if column.kind == "cell":
                self.counts["bytes"] += int(pc.sum(pc.equal(values.field("tag"), _BYTES)).as_py())
                values = values.field("text")
            self.odd.update(str(value) for value in values.to_pylist() if value is not None)
        if column.kind == "field" and len(self.fine) < _MOST_KEPT:
            there = column.keep(~odd & ~is_missing(column)).words()
            self.fine.update(there.slice(0, _MOST_KEPT).to_pylist())

    def problems(self) -> list[str]:
        """Return what a fit would refuse, and the cure."""
        strict = self.fact.missing == "error"
        rule = "a constant" if isinstance(self.fact, Box) else '"category"'
        found = []
        if strict and self.counts["missing"]:
            found.append(self._said("missing", f"missing; declare missing = {rule} for it"))
        if strict and self.counts["foreign"]:
            cure = self._cause() or self._no_cause(f"declare missing = {rule} for it", "foreign")
            found.append(self._said("foreign", f"not of the declared form; {cure}"))
        if self._lists_all and self.counts["unknown"]:
            cure = self._cause() or 'list them, or declare unknown = "other" for it'
            found.append(self._said("unknown", f"not in the declared list; {cure}"))
        return found

    def doubts(self) -> list[str]:
        """Return what a fit would read without an error, and wrongly."""
        found = []
        if self.fact.missing != "error" and self._share("foreign") > _FEW:
            shown = self.fact.to_dict()["missing"]
            cure = self._cause() or self._no_cause("", "foreign")
            words = f"not of the declared form, so missing = {shown!r} would stand for them; {cure}"
            found.append(self._said("foreign", words))
        cause = self._cause() if self.counts["unknown"] and not self._lists_all else None
        if self._share("unknown") > (_FEW if cause else 0.5) and not self._lists_all:
            cure = cause or "list those that matter"
            found.append(self._said("unknown", f'not listed, so they count as "(other)"; {cure}'))
        constant = isinstance(self.fact, Box) and self.fact.missing != "error"
        if constant and self._share("missing") > 0.5:
            words = 'missing; ignore the column, or declare edges and missing = "category" for it'
            found.append(self._said("missing", words))
        if isinstance(self.fact, Box) and self._share("outside") > 0.5:
            words = (
                "beyond the bounds, which would stand for them; declare wider ones, or ignore it"
            )
            found.append(self._said("outside", words))
        return found

    @property
    def _lists_all(self) -> bool:
        return isinstance(self.fact, Categories) and self.fact.unknown == "error"

    def _said(self, what: str, words: str) -> str:
        share = f" ({self._share(what):.0%})" if self._share(what) > _FEW else ""
        return f"Column {self.name!r}: {self.counts[what]:,}{share} of its values are {words}."

    def _share(self, what: str) -> float:
        return self.counts[what] / max(1, self.rows)

    def _cause(self) -> str | None:
        if self.counts["bytes"]:
            return "declare the encoding of the file, such as --encoding cp1252"
        return likely_cause(self.odd, self.fine, self.fact, self.writing, self.kinds)

    def _no_cause(self, usual: str, what: str) -> str:
        if self._share(what) <= _FEW:
            return usual
        return "look at the column, which may be another one or written in another way"


class PeopleTally:
    """The rows of every person."""

    def __init__(self, id_type: IdType) -> None:
        self._type = id_type
        self._rows: Counter[str] = Counter()
        self.missing = 0
        self.problem: str | None = None

    def add(self, ids: TypedColumn, name: str) -> None:
        read = IDS[self._type].read(ids)
        if read.foreign.any():
            self.problem = str(id_refusal(read, name, as_numbers=self._type == "number"))
            return
        self.missing += read.values.null_count
        for entry in read.values.drop_null().value_counts().to_pylist():
            self._rows[entry["values"]] += entry["counts"]

    @property
    def rows_of_people(self) -> NDArray[np.int64]:
        """How many rows each person has."""
        return np.array([*self._rows.values()], np.int64)


def _ends(fact: Bins) -> tuple[float, float]:
    return fact.edges[0], fact.edges[-1]


def _type_phrase(column: TypedColumn) -> str:
    if column.kind in ("text", "field", "cell"):
        return in_words(column)
    stored = column.array.type
    return str(stored.value_type if pt.is_dictionary(stored) else stored)


def _mask(array: pa.Array) -> Mask:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)
