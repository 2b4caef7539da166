"""Public facts about the data: what each column may hold, declared by the user, never inferred.

A schema is written before any private row is read, and everything that depends on the range of the
data (clipping, sensitivities, histogram cells) is derived from it alone.
"""

from privclust.schema.ball_fact import Ball
from privclust.schema.dialect import Csv
from privclust.schema.facts import Bins, Box, Categories, Fact, Kind
from privclust.schema.schema import Schema

__all__ = ["Ball", "Bins", "Box", "Categories", "Csv", "Fact", "Kind", "Schema"]
