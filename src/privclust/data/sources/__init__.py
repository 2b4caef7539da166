"""Sources: anything that holds rows, opened as a stream of row blocks of bounded size."""

from privclust.data.sources.base import Block, DataError, RowSource
from privclust.data.sources.convert import ARROW_TYPE
from privclust.data.sources.opening import open_rows

__all__ = ["ARROW_TYPE", "Block", "DataError", "RowSource", "open_rows"]
