"""The kinds of release, one per family of algorithms, and what each must contain.

To add a kind, describe it with a :class:`ReleaseKind` and pass it to :func:`register_kind` in the
module ``release`` of a family that is listed in ``privclust.families``. Saving, loading, the
privacy part of the report and the command line then work for it. The kind's own part of the report
is its ``template``, which shows what the function ``context`` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import ReleaseError
from privclust.families import FAMILIES
from privclust.release.facts import Facts, to_csv
from privclust.schema.coordinates import Coordinates
from privclust.tasks import load

if TYPE_CHECKING:
    from privclust.release.release import Release


# Checks that kinds of release share; each raises one sentence that says what to correct.


def check_centres(release: Release, name: str) -> None:
    """Raise unless an array has at least one centre, as wide as the schema says."""
    count, coordinates = release.arrays[name].shape
    if not count:
        raise ReleaseError(f"A {release.kind} release needs at least one centre; fit it again.")
    check_coordinates(release, coordinates, "centres")


def check_coordinates(release: Release, n_coordinates: int, what: str) -> None:
    """Raise unless the schema declares ``n_coordinates`` numbers and categories."""
    declared = Coordinates(release.schema).dimension
    if n_coordinates != declared:
        raise ReleaseError(
            f"The {what} have {n_coordinates} coordinates where the schema declares {declared} "
            "numbers and categories; give one coordinate for each Box and each category."
        )


def check_not_negative(release: Release, *names: str) -> None:
    """Raise if one of these arrays has an entry below zero."""
    for name in names:
        if (release.arrays[name] < 0).any():
            raise ReleaseError(f"The array {name!r} has negative entries; correct it.")


Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class ReleaseKind:
    """What sets one kind of release apart from the others."""

    name: str  # the name in ``release.json``, that of the family
    title: str  # what a reader calls it, such as ``"k-means clustering"``
    # The required arrays, each with names for its axes; axes of one name have one length. Other
    # arrays may be added.
    arrays: Mapping[str, tuple[str, ...]]
    # Takes a release whose arrays have these shapes and raises if they do not fit its schema.
    check: Callable[[Release], None]
    # Takes a release and returns its :class:`~privclust.release.facts.Facts`.
    facts: Callable[[Release], Facts]
    template: str  # the path of its part of the report within the package
    # The function that takes a release and returns what the template shows, as
    # ``"module:function"``; it is imported when a report is made.
    context: str
    # Functions as ``"module:function"``, imported when they are needed: one that takes a release
    # and returns its tables by the names of their CSV files, and one that draws it on axes.
    tables: str = ""
    plot: str = ""
    # The path of the part that specialists read, folded away at the end of the report.
    details: str | None = None
    # Takes a release and rows in any supported form and yields their labels, part by part.
    labels: Callable[..., Iterator[npt.NDArray[np.int64]]] | None = None
    # Whether rows may be given as triples of a matrix; ``labels`` then takes its shape as well.
    takes_triples: bool = False
    # What a publisher may give names to, and the array with one entry for each, such as
    # ``("column", "column_labels")``; or the function that counts them in a release.
    named: tuple[str, str | Callable[[Release], int]] | None = None
    # The same for other lists of names of ``About``, by the name of the list.
    also_named: Mapping[str, tuple[str, Callable[[Release], int]]] = field(default_factory=dict)

    def context_of(self, release: Release) -> dict[str, Any]:
        """Return what the template shows of a release."""
        shown: dict[str, Any] = load(self.context)(release)
        return shown

    def tables_of(self, release: Release) -> dict[str, bytes]:
        """Return the CSV files of a release, by their names."""
        made = load(self.tables)(release) if self.tables else {}
        return {name: to_csv(table) for name, table in made.items()}

    def check_shapes(self, arrays: Arrays) -> dict[str, int]:
        """Return the length of every named axis; raise if an array is missing or misshapen."""
        lengths: dict[str, int] = {}
        for name, axes in self.arrays.items():
            if name not in arrays:
                raise ReleaseError(f"A {self.name} release needs the array {name!r}; add it.")
            shape = arrays[name].shape
            fits = len(shape) == len(axes)
            fits = fits and all(
                lengths.setdefault(axis, length) == length
                for axis, length in zip(axes, shape, strict=True)
            )
            if not fits:
                wanted = " × ".join(axes)
                raise ReleaseError(
                    f"The array {name!r} has the shape {shape}, which does not fit {wanted} "
                    f"with {lengths or 'any lengths'}; correct it."
                )
        return lengths

    def check_names(self, release: Release) -> None:
        """Raise unless the publisher's names fit the release."""
        nothing = "", lambda _: 0
        for listed in ("names", "row_groups", "column_groups"):
            names = getattr(release.about, listed)
            of = self.named if listed == "names" else self.also_named.get(listed)
            what, counted = of or nothing
            count = counted(release) if callable(counted) else len(release.arrays.get(counted, ()))
            if names and not count:
                raise ReleaseError(
                    f"There is nothing to name in this {self.name} release; its schema names the "
                    "columns."
                )
            if names and len(names) != count:
                raise ReleaseError(
                    f"There are {len(names)} names for {count} {what}s; give one name per {what}."
                )


_KINDS: dict[str, ReleaseKind] = {}


def register_kind(kind: ReleaseKind) -> None:
    """Register a kind; a later registration of the same name replaces it."""
    _KINDS[kind.name] = kind


def all_kinds() -> dict[str, ReleaseKind]:
    """Return every kind by its name."""
    # Imported late: the modules of the kinds import this one.
    for family in FAMILIES:
        import_module(family.release_module)
    return dict(_KINDS)


def get_kind(name: str) -> ReleaseKind:
    """Return the kind of this name."""
    kinds = all_kinds()
    if name not in kinds:
        raise ReleaseError(
            f"A release of the kind {name!r} is not known here; use one of {', '.join(kinds)}."
        )
    return kinds[name]
