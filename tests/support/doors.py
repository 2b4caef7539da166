"""Two doors that are asked as one, for transcripts of runs that open several views."""

from __future__ import annotations

from copy import copy

from privclust.privacy.meter import Meter
from support.transcripts import Transcript
from support.views import plenty_of


class PairOfDoors:
    """Stands for a door: every view is one of a pair, and every question is put to both."""

    def __init__(self, doors, budget):
        self._doors, self._plenty = doors, plenty_of(budget)
        self.schema, self.domain = doors[0].schema, doors[0].domain
        self.transcripts = []

    def within(self, schema, *, gap):
        other = copy(self)  # which shares the list of transcripts
        other._doors = [door.within(schema, gap=gap) for door in self._doors]
        other.schema, other.domain = schema, other._doors[0].domain
        return other

    def _paired(self, views):
        self.transcripts.append(Transcript(views))
        return self.transcripts[-1]

    def private(self):
        return self._paired([door.private(Meter(self._plenty), None) for door in self._doors])

    def cut(self, meter, seed, *public):
        return self._paired([d.cut(Meter(self._plenty), seed, *public) for d in self._doors])
