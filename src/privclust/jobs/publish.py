"""Where the release of a fit goes, and what is said about it; the same for every family.

A release has cost budget. Whatever happens after the fit, it is written somewhere or handed over.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privclust.exceptions import NotSavedError, ReleaseError
from privclust.jobs import places
from privclust.release import About, Release

__all__ = ["Destination", "Published", "described_or_not", "summary_of"]


@dataclass(frozen=True)
class Published:
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
    def checked(cls, release: Path, *, report: bool, overwrite: bool) -> Destination:
        """Return the place; raise if it cannot be written, before a fit costs any budget."""
        places.check_release(release, overwrite=overwrite)
        page = places.report_of(release) if report else None
        if page is not None and places.is_one_file(release):
            places.check_file(page, "Report", (".html",), overwrite=overwrite)
        return cls(release, page, overwrite)

    def publish(self, release: Release) -> Published:
        """Write the release, and then its report, which can be made at any time.

        Raises
        ------
        NotSavedError
            The release could not be written here; the error says where it is kept, if anywhere.
        """
        try:
            release.save(self.release, overwrite=self.overwrite)
        except NotSavedError:
            raise
        except ReleaseError as error:  # somebody has taken the place since it was checked
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
        return Published(release, self.release, self.report)

    def _write_report(self, release: Release, page: Path) -> None:
        try:
            release.report(page)
        except ReleaseError as error:
            raise ReleaseError(
                f"The release is in '{self.release}', but without its report: {error}"
            ) from None


def summary_of(release: Release) -> dict[str, Any]:
    """Return what a release says at a glance as plain data, wherever it is stored."""
    return {
        "kind": release.kind,
        "private": release.privacy.private,
        "promise": release.privacy.promise,
        **release.facts().values,
        "about": release.about.to_dict(),
        "privacy": release.privacy.to_dict(),
        "digest": release.digest,
    }


def described_or_not(release: Release, about: About) -> Release:
    """Return the release with its publisher's words, or without them if they do not fit.

    Wrong words must not lose a release that was paid for; they are warned of instead.
    """
    try:
        return release.described(about)
    except ReleaseError as error:
        warnings.warn(
            f"{str(error).rstrip('.')}; the release is published without them, add them with "
            "'privclust release describe'.",
            stacklevel=2,
        )
        return release
