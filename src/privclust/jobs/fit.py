"""``Fit``: a model and its data on the way to a published release; the same for every family.

A release has cost budget. Whatever happens after the fit, it is written somewhere or returned.

The heavy parts of the library are imported when a fit runs: preparing one is quick.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privclust.exceptions import NotSavedError, ReleaseError
from privclust.jobs import output_paths as places

if TYPE_CHECKING:
    from privclust.engines.choose import Listener
    from privclust.release.document import About
    from privclust.release.release import Release


# Errors that a user can meet, each as one sentence on one line; anything else is a defect.


def user_errors() -> tuple[type[Exception], ...]:
    """Return the errors that are meant for users, not defects."""
    return (ValueError, OSError, MemoryError)


def sentence_of(error: BaseException) -> str:
    """Return the message of an expected error on one line; a path in it may have line breaks."""
    text = str(error)
    if isinstance(error, MemoryError):
        text = "There is not enough memory; ask for less, or use a larger machine."
    if isinstance(error, OSError) and error.strerror:
        where = f"'{error.filename}': " if error.filename else ""
        text = f"{where}{error.strerror}."
    return sentence_with_notes(text, error)


def sentence_with_notes(sentence: str, error: BaseException) -> str:
    """Return the sentence with the error's notes, such as what stays charged."""
    notes = [note[:1].lower() + note[1:].rstrip(".") for note in getattr(error, "__notes__", [])]
    whole = f"{sentence.rstrip('.')}; {'; '.join(notes)}." if notes else sentence
    return " ".join(whole.split())


# Where the release of a fit goes, and what is said about it; the same for every family.


@dataclass(frozen=True)
class Publication:
    """A release that was written, and where."""

    release: Release
    path: Path
    report: Path | None

    def to_dict(self) -> dict[str, Any]:
        """Return what was published as plain data, for a machine."""
        report = None if self.report is None else str(self.report)
        return summary_of(self.release) | {"release": str(self.path), "report": report}

    @property
    def sentences(self) -> list[str]:
        """What was published, in words for a person."""
        privacy = self.release.privacy
        if privacy.private:
            sentences = [f"This release is {privacy.promise}.", privacy.protects]
        else:
            sentences = [privacy.promise]
        sentences.append(f"Release: {self.path}")
        return sentences if self.report is None else [*sentences, f"Report:  {self.report}"]


@dataclass(frozen=True)
class Destination:
    """The paths of a release and of its report, if one is wanted."""

    release: Path
    report: Path | None
    overwrite: bool

    @classmethod
    def check(cls, release: Path, *, report: bool, overwrite: bool) -> Destination:
        """Return the destination; raise if it is not writable, before a fit costs any budget."""
        places.check_release(release, overwrite=overwrite)
        page = places.report_of(release) if report else None
        if page is not None and places.is_one_file(release):
            places.check_file(page, "Report", (".html",), overwrite=overwrite)
        return cls(release, page, overwrite)

    def publish(self, release: Release) -> Publication:
        """Write the release, and then its report, which can be made at any time.

        Raises NotSavedError: the release could not be written here; the error says where it is
        kept, if anywhere.
        """
        try:
            release.save(self.release, overwrite=self.overwrite)
        except NotSavedError:
            raise
        except ReleaseError as error:  # another process has created it since the check
            kept = release.keep(self.release.name)
            where = "" if kept is None else f" (it was kept in '{kept}')"
            raise NotSavedError(f"{str(error).rstrip('.')}{where}.", kept) from None
        except BaseException as error:  # an interrupt, or not enough memory
            kept = release.keep(self.release.name)
            if kept is not None:
                error.add_note(f"The release was kept in '{kept}'.")
            raise
        if self.report is not None:
            self._write_report(release, self.report)
        return Publication(release, self.release, self.report)

    def _write_report(self, release: Release, page: Path) -> None:
        try:
            release.report(page)
        except ReleaseError as error:
            raise ReleaseError(
                f"The release is in '{self.release}', but without its report: {error}"
            ) from None


def summary_of(release: Release) -> dict[str, Any]:
    """Return a release at a glance as plain data, wherever it is stored."""
    return {
        "kind": release.kind,
        "private": release.privacy.private,
        "promise": release.privacy.promise,
        **release.facts().values,
        "about": release.about.to_dict(),
        "privacy": release.privacy.to_dict(),
        "digest": release.digest,
    }


def try_describe(release: Release, about: About) -> Release:
    """Return the release with its publisher's words, or without them if they do not fit.

    Invalid words must not lose a release that was paid for; they cause a warning instead.
    """
    try:
        return release.with_about(about)
    except ReleaseError as error:
        warnings.warn(
            f"{str(error).rstrip('.')}; the release is published without them, add them with "
            "'privclust release describe'.",
            stacklevel=2,
        )
        return release


@dataclass(frozen=True)
class Fit:
    """A fit that is ready to run; nothing is read and nothing charged before it runs."""

    model: Any  # with its budget, unit and ledger
    data: Any
    # Further arguments of ``model.fit``, by name.
    beside: Mapping[str, Any] = field(default_factory=dict)
    # Takes the release and returns public names for its numbered items.
    names: Callable[[Release], Sequence[str]] | None = None

    def run(
        self, place: Destination, about: About | None = None, listener: Listener | None = None
    ) -> Publication:
        """Fit the model and publish its release.

        ``place``: where the release goes; checked beforehand, because a fit costs budget.
        ``listener``: called with the number of rows read, for the eyes of their holder only. Raises
        NotSavedError: the release could not be written; the error says where it is kept, if
        anywhere.
        """
        return place.publish(self._describe(self.make_release(listener), about))

    def make_release(self, listener: Listener | None = None) -> Release:
        """Fit the model and return its release, which is not written anywhere yet."""
        from privclust.engines.choose import progress_listener

        with nullcontext() if listener is None else progress_listener(listener):
            self.model.fit(self.data, **self.beside)
        release: Release = self.model.release()
        return release

    def _describe(self, release: Release, about: About | None) -> Release:
        from privclust.release.document import About

        words = about or About()
        if self.names is not None:
            words = replace(words, names=tuple(self.names(release)))
        return release if words == About() else try_describe(release, words)
