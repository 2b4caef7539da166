"""What every source of rows has in common: blocks, the source itself, the choice of columns.

Errors about rows depend on private values. They are raised before anything is released, and their
text names the column and the remedy but never a value or a row number. Other libraries quote values
in theirs, so those never get through: see :func:`one_sentence`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from privclust._typing import Floats, Mask
from privclust.data.reading.parts import IN_MEMORY, Part, WholePart
from privclust.exceptions import DataError, NoRowsError, PrivclustError

if TYPE_CHECKING:
    import pyarrow as pa

    from privclust.schema import Kind

__all__ = [
    "Block",
    "RowReader",
    "Selection",
    "chosen_by_name",
    "chosen_by_position",
    "one_sentence",
    "quoted",
]


_BLOCK_ROWS = 65_536
_BLOCK_NUMBERS = 2**22  # 32 MB as float64: wide rows come in shorter blocks
_NAMES_SHOWN = 5
_LONGEST_SHOWN = 80


@contextmanager
def one_sentence(
    message: str, *errors: type[BaseException], error: type[PrivclustError] = DataError
) -> Iterator[None]:
    """Raise ``message`` in place of another library's error, whose text may quote a value.

    ``from None`` would only hide that error from a printed traceback; whoever walks the chain, as
    a logger does, would still find it. So it is let go.
    """
    try:
        yield
    except errors:
        try:
            raise error(message)
        except error as sentence:
            sentence.__context__ = None
            raise


class Block(ABC):
    """A run of consecutive rows.

    Attributes
    ----------
    names : tuple of str
        The columns asked for, in that order.
    n_rows : int
        Number of rows. PRIVATE, like everything a block holds.
    parse : bool
        Whether text stands for numbers, as in a CSV file.
    """

    names: tuple[str, ...]
    n_rows: int
    parse: bool = False

    @abstractmethod
    def numbers(
        self, names: Sequence[str] | None = None, *, lenient: Collection[str] = ()
    ) -> Floats:
        """Return columns as numbers.

        Parameters
        ----------
        names : sequence of str or None
            Columns to return; all columns of the block if not given.
        lenient : collection of str
            Columns in which a value that is not a number is missing; in others it is refused.

        Returns
        -------
        rows : ndarray of shape (n_rows, len(names)), float64, C-contiguous
            Missing values are NaN. The array may be the caller's own memory, and is then marked
            read-only: copy before writing.
        """

    @abstractmethod
    def column(self, name: str, kind: Kind | None = None) -> pa.Array:
        """Return one column as an Arrow array; missing values are null.

        Parameters
        ----------
        name : str
            A column of the block, or the id column.
        kind : "text", "integer", "boolean" or None
            Convert to the Arrow type ``ARROW_TYPE[kind]``; as it is stored if not given.
        """

    def __len__(self) -> int:
        return self.n_rows

    @abstractmethod
    def keep(self, mask: Mask) -> Block:
        """Return the rows where ``mask`` is true."""


@dataclass(frozen=True)
class Selection:
    """Which columns to read: those asked for, in that order, and the id column if there is one."""

    names: tuple[str, ...]
    id_column: str | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """Every column that has to be read."""
        if self.id_column is None or self.id_column in self.names:
            return self.names
        return (*self.names, self.id_column)


class RowReader(ABC):
    """Rows that can be read block by block, as often as needed.

    Opening a source looks at column names and types only; rows are first read by :meth:`blocks`.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns asked for; ``None`` for an unnamed array opened without names.
    n_columns : int
        Number of columns asked for.
    id_column : str or None
        The column that names a person, read beside the others.
    block_rows : int
        Rows per block, the last block excepted.
    n_rows : int or None
        Number of rows if it is known beforehand. PRIVATE when rows are added or removed between
        neighbours: it may drive a progress display of the data holder and must never leave.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        named: bool = True,
        n_rows: int | None = None,
        block_rows: int | None = None,
    ) -> None:
        self.selection = selection
        self.names = selection.names if named else None
        self.n_columns = len(selection.names)
        self.id_column = selection.id_column
        self.n_rows = n_rows
        width = max(1, len(selection.read))
        self.block_rows = block_rows or min(_BLOCK_ROWS, max(1, _BLOCK_NUMBERS // width))
        self._closed = False
        self._at_close: list[Callable[[], object]] = []

    @abstractmethod
    def _blocks(self) -> Iterator[Block]:
        """Read the rows once, in an order that is the same every time."""

    def blocks(self) -> Iterator[Block]:
        """Read the rows from the beginning; blocks are never empty."""
        if self._closed:
            raise DataError("The data source is closed; open it again to read its rows.")
        empty = True
        for block in self._blocks():
            if block.n_rows:
                empty = False
                yield block
        if empty:
            raise NoRowsError("The data have no rows; give at least one row.")

    @property
    def stays_here(self) -> str | None:
        """Why no other machine can read the rows, in one sentence, or nothing if it can."""
        return IN_MEMORY

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows in about ``count`` parts; in one, if the source cannot be cut."""
        return (WholePart(self),)

    def at_close(self, call: Callable[[], object]) -> None:
        """Run something when the source is closed."""
        self._at_close.append(call)

    def close(self) -> None:
        """Free what the source holds; its rows cannot be read any more."""
        self._closed = True
        while self._at_close:
            self._at_close.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def chosen_by_name(
    available: Sequence[str],
    columns: Sequence[str] | None,
    ignore: Sequence[str] | None = (),
    id_column: str | None = None,
) -> Selection:
    """Choose columns of named data; one that nobody declared is an error unless it may be ignored.

    ``ignore`` lists the columns that may be; ``None`` stands for all.
    """
    if id_column is not None and id_column not in available:
        raise DataError(
            f"Column {id_column!r} is the declared id column but absent from the data; "
            "correct the name or choose another privacy unit."
        )
    # What is absent comes first: if a file has no header, its "names" are the values of a row.
    times, declared = Counter(available), set(columns or ())
    absent = [name for name in columns or () if name not in times]
    if absent:
        is_, it, names = ("is", "it", "name") if len(absent) == 1 else ("are", "them", "names")
        raise DataError(
            f"{quoted(absent)} {is_} declared in the schema but absent from the data; "
            f"correct the {names}, or drop {it} from the schema."
        )
    if twice := [name for name in times if times[name] > 1]:
        raise DataError(f"{quoted(twice[:1])} occurs twice in the data; rename one of them.")
    aside = {*(available if ignore is None else ignore), id_column} - declared
    if columns is None:
        return _not_empty([name for name in available if name not in aside], id_column)
    extra = [name for name in available if name not in declared and name not in aside]
    if extra:
        is_, it = ("is", "it") if len(extra) == 1 else ("are", "them")
        raise DataError(
            f"{quoted(extra)} {is_} in the data but not declared in the schema; "
            f"declare {it}, or list {it} in ignore."
        )
    return _not_empty(columns, id_column)


def chosen_by_position(
    width: int, columns: Sequence[str] | None, id_column: str | None = None
) -> Selection:
    """Choose the columns of an unnamed array: all of them, named by position."""
    if id_column is not None:
        raise DataError(
            f"The id column {id_column!r} cannot be found in an array without column names; "
            "give a data frame or a file."
        )
    if columns is not None and len(columns) != width:
        raise DataError(
            f"The data have {width} columns but the schema declares {len(columns)}; "
            "give the declared columns in order."
        )
    return _not_empty([f"x{i}" for i in range(width)] if columns is None else columns, None)


def _not_empty(names: Sequence[str], id_column: str | None) -> Selection:
    if not names:
        # scikit-learn's words, without the number of rows, which is private.
        raise DataError(
            "The data have no columns to read, 0 feature(s) (shape=(, 0)) while a minimum of 1 is "
            "required; give at least one column."
        )
    return Selection(tuple(names), id_column)


def quoted(names: Sequence[str]) -> str:
    """Return "Column 'a'" or "Columns 'a', 'b'", shortened when there are many.

    Of each name its first line is shown: behind a quote that is not closed there are rows.
    """
    shown = ", ".join(repr(_first_line(name)) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"Column{'s' * (len(names) > 1)} {shown}{f' and {more} more' if more > 0 else ''}"


def _first_line(name: str) -> str:
    lines = name.splitlines()
    return (
        name if len(lines) < 2 and len(name) <= _LONGEST_SHOWN else f"{lines[0][:_LONGEST_SHOWN]}…"
    )
