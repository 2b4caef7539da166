"""What a source-target fit returns: the sanitised source and the solution under it."""

from __future__ import annotations

from dataclasses import dataclass

from privclust.notes import Note
from privclust.source_target.sanitised import Sanitised
from privclust.source_target.solution import Solution

__all__ = ["SourceTargetResult"]


@dataclass(frozen=True)
class SourceTargetResult:
    """Released values only: the noisy source, and the centres chosen beside it."""

    released: Sanitised
    found: Solution

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the noisy source gives reason to doubt."""
        return self.released.notes
