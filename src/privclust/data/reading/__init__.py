"""Sources: anything that holds rows, opened as a stream of row blocks of bounded size."""

from privclust.data.reading.base import Block, RowReader
from privclust.data.reading.convert import ARROW_TYPE
from privclust.data.reading.declared import open_declared
from privclust.data.reading.opening import open_rows

__all__ = ["ARROW_TYPE", "Block", "RowReader", "open_declared", "open_rows"]
