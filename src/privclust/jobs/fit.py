"""``Fit``: a model and its data on the way to a published release; the same for every family.

The heavy parts of the library are imported when a fit runs: whoever only prepares one starts at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privclust.engines.progress import Listener
    from privclust.jobs.publish import Destination, Published
    from privclust.release import About, Release

__all__ = ["Fit"]


@dataclass(frozen=True)
class Fit:
    """A fit that is ready to run; nothing is read and nothing charged before it runs.

    Attributes
    ----------
    model : private estimator
        With its budget, unit and ledger.
    data : anything that ``model.fit`` takes first
    beside : mapping
        What else ``model.fit`` takes, by name.
    names : callable or None
        Takes the release and returns public names of what it numbers.
    """

    model: Any
    data: Any
    beside: Mapping[str, Any] = field(default_factory=dict)
    names: Callable[[Release], Sequence[str]] | None = None

    def run(
        self, place: Destination, about: About | None = None, listener: Listener | None = None
    ) -> Published:
        """Fit the model and publish its release.

        Parameters
        ----------
        place : Destination
            Where the release goes; checked beforehand, because a fit costs budget.
        about : About or None
            What its publisher says about it.
        listener : callable or None
            Told how many rows are read, for the eyes of whoever holds them.

        Raises
        ------
        NotSavedError
            The release could not be written; the error says where it is kept, if anywhere.
        """
        return place.publish(self._described(self.released(listener), about))

    def released(self, listener: Listener | None = None) -> Release:
        """Fit the model and return its release, which is not written anywhere yet."""
        from privclust.engines.progress import listening

        with nullcontext() if listener is None else listening(listener):
            self.model.fit(self.data, **self.beside)
        release: Release = self.model.release()
        return release

    def _described(self, release: Release, about: About | None) -> Release:
        from privclust.jobs.publish import described_or_not
        from privclust.release import About

        words = about or About()
        if self.names is not None:
            words = replace(words, names=tuple(self.names(release)))
        return release if words == About() else described_or_not(release, words)
