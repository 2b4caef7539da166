"""Where the release of a fit goes, and how it is told; the same for every family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from privclust.cli import files, screen

if TYPE_CHECKING:
    from privclust.release import Release

__all__ = ["Place"]


@dataclass(frozen=True)
class Place:
    """The paths of a release and of its report, if one is wanted."""

    release: Path
    report: Path | None
    overwrite: bool

    @classmethod
    def checked(cls, release: Path, *, report: bool, overwrite: bool) -> Place:
        """Return the place; raise if it cannot be written, before a fit costs any budget."""
        files.check_release(release, overwrite=overwrite)
        page = files.report_of(release) if report else None
        if page is not None and files.is_one_file(release):
            files.check_file(page, "Report", (".html",), overwrite=overwrite)
        return cls(release, page, overwrite)

    def publish(
        self,
        release: Release,
        facts: Mapping[str, Any],
        *shown: RenderableType,
        as_json: bool,
    ) -> None:
        """Write the release and its report, and tell about them.

        Parameters
        ----------
        release : Release
            What was released.
        facts : mapping
            What a machine is told about this kind of release.
        *shown : renderable
            What a person is shown about it.
        as_json : bool
            Whether a machine asks.
        """
        # The release first, by itself: it has cost budget, and a report can be made at any time.
        release.save(self.release, overwrite=self.overwrite)
        if self.report is not None:
            release.report(self.report)
        if not release.privacy.private:
            screen.alarm(release.privacy.promise)
        screen.answer(
            self._document(release, facts), *shown, *self._words(release), as_json=as_json
        )

    def _document(self, release: Release, facts: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "kind": release.kind,
            "private": release.privacy.private,
            "promise": release.privacy.promise,
            **facts,
            "privacy": release.privacy.to_dict(),
            "digest": release.digest,
            "release": str(self.release),
            "report": None if self.report is None else str(self.report),
        }

    def _words(self, release: Release) -> list[str]:
        privacy = release.privacy
        if privacy.private:
            words = ["", f"This release is {privacy.promise}.", privacy.protects]
        else:
            words = ["", privacy.promise]
        words.append(f"Release: {self.release}")
        return words if self.report is None else [*words, f"Report:  {self.report}"]
