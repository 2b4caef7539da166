"""Before the door: files, frames and arrays become blocks of typed columns, record i row i."""

from privclust.reading.declared import open_declared
from privclust.reading.opening import open_rows

__all__ = ["open_declared", "open_rows"]
