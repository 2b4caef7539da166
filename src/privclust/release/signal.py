"""Whether a release shows the rows, and what its notes say: fields that programs read.

Files of 0.1 and 0.2 have only warnings. Only here are these read by their words, which must stay as
they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from privclust.exceptions import ReleaseError
from privclust.notes import Note, Signal

if TYPE_CHECKING:
    from privclust.release.release import Release


_SIGNALS: tuple[Signal, ...] = get_args(Signal)
_UNSEEN_OF_0_2 = "never saw the rows"
_MISSED_OF_0_2 = (
    "Some rows seem to lie farther from the cells than distances were clipped to, so that the "
    "inertia is too small; compare numbers of clusters by it, and raise epsilon or declare closer "
    "bounds before you quote it."
)


def check_notes(parameters: Mapping[str, Any]) -> None:
    """Raise unless signal and notes, if there are any, can be understood."""
    if parameters.get("signal", "seen") not in _SIGNALS:
        raise ReleaseError(
            f"The parameter 'signal' of a release must be one of {', '.join(_SIGNALS)}; correct it."
        )
    if "signal" not in parameters:
        return
    notes, warnings = (parameters.get(name, []) for name in ("notes", "warnings"))
    lists = isinstance(notes, list) and isinstance(warnings, list)
    if not lists or len(notes) != len(warnings):
        raise ReleaseError("A release needs one warning for each of its notes; correct it.")


def signal_of_release(release: Release) -> Signal:
    """Return whether a release shows the rows."""
    if "signal" in release.parameters:
        signal: Signal = release.parameters["signal"]
        return signal
    warnings = [str(warning) for warning in release.parameters.get("warnings", ())]
    if any(_UNSEEN_OF_0_2 in warning for warning in warnings):
        return "none"
    hidden = release.kind == "summary" and any(told != _MISSED_OF_0_2 for told in warnings)
    return "hidden" if hidden else "seen"


def with_notes(told: Mapping[str, Any], notes: Iterable[Note]) -> dict[str, Any]:
    """Return signal, notes and warnings, as parameters, with more notes but the same signal."""
    more = list(notes)
    if not more:
        return dict(told)
    codes = [*told.get("notes", ()), *(note.code for note in more)]
    texts = [*told.get("warnings", ()), *(note.text for note in more)]
    return {**told, "notes": codes, "warnings": texts}


def without_note(release: Release, code: str) -> dict[str, Any]:
    """Return signal, notes and warnings of a release as parameters, except the notes of a code."""
    parameters = release.parameters
    warnings = parameters.get("warnings", ())
    if "signal" not in parameters:
        missed = _MISSED_OF_0_2 if code == "far-rows-missed" else None
        kept = [told for told in warnings if told != missed]
        return {"warnings": kept} if kept else {}
    notes = zip(parameters.get("notes", ()), warnings, strict=True)
    left = [(note, told) for note, told in notes if note != code]
    shown = {"notes": [note for note, _ in left], "warnings": [told for _, told in left]}
    return {"signal": parameters["signal"], **(shown if left else {})}
