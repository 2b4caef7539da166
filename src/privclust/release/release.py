"""The release of a fit: the values that may be published, with the statement of what they cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import ReleaseError
from privclust.privacy.statement import PrivacyStatement
from privclust.release import arrays as npz
from privclust.release import storage
from privclust.release.document import (
    check_promise,
    checked_date,
    digest_of,
    document_of,
    parsed,
    parts_of,
    plain_parameters,
)
from privclust.release.errors import DamageError
from privclust.release.kinds import kind_named, known_kinds
from privclust.schema import Schema

__all__ = ["Release"]

_ALARM = "background:#b3261e;color:#fff;padding:.3em .6em;font-weight:bold"


def _library_version() -> str:
    from privclust import __version__

    return __version__


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """What may be published of a fit.

    Parameters
    ----------
    kind : str
        The family of algorithms, such as ``"kmeans"``.
    arrays : mapping of str to array
        The released values; copied and made read-only.
    schema : Schema
        The declared facts about the columns.
    parameters : mapping
        Public parameters of the estimator, as plain data.
    privacy : PrivacyStatement
        What was protected, how strongly, and every query with its cost.
    library_version : str
        The version of privclust that made the release.
    created : str
        The day, in UTC, as an ISO date.

    Notes
    -----
    Two releases are equal if they say the same and hold the same numbers, see :attr:`digest`.
    """

    kind: str
    arrays: Mapping[str, npt.NDArray[Any]]
    schema: Schema
    parameters: Mapping[str, Any]
    privacy: PrivacyStatement
    library_version: str = field(default_factory=_library_version)
    created: str = field(default_factory=_today)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", npz.checked_arrays(self.arrays))
        object.__setattr__(self, "parameters", plain_parameters(self.parameters))
        object.__setattr__(self, "created", checked_date(self.created))
        check_promise(self.privacy)
        kind = kind_named(self.kind)
        kind.check_shapes(self.arrays)
        kind.check(self)

    @property
    def digest(self) -> str:
        """SHA-256 of all that the release says and of every number it holds."""
        return digest_of(document_of(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def save(
        self, path: str | PathLike[str], *, overwrite: bool = False, report: bool = False
    ) -> Path:
        """Write the release, all or nothing.

        Parameters
        ----------
        path : path
            A folder that does not exist yet or is empty; or a file, if the path ends in
            ``.privclust``.
        overwrite : bool, default=False
            Replace a release that is there already. Anything else is never replaced.
        report : bool, default=False
            Put the report for human readers beside the values.

        Returns
        -------
        path : Path
            Where the release is.
        """
        content = npz.to_npz(self.arrays)
        document = document_of(self)
        document["arrays_file"] = {
            "name": storage.ARRAYS,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        document["digest"] = digest_of(document)
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        files = {storage.DOCUMENT: text.encode("utf-8"), storage.ARRAYS: content}
        if report:
            files[storage.REPORT] = self.to_html().encode("utf-8")
        storage.write_release(Path(path), files, overwrite=overwrite)
        return Path(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Release:
        """Read a release from a folder or a ``.privclust`` file; no code in it is ever run."""
        try:
            return cls._read(Path(path))
        except DamageError as error:
            raise ReleaseError(
                f"Release '{path}' cannot be read: {error.problem}; {error.remedy}."
            ) from None

    @classmethod
    def _read(cls, path: Path) -> Release:
        text, content = storage.read_files(path)
        document = parsed(text)
        if document["kind"] not in known_kinds():
            kind = document["kind"]
            raise DamageError(f"its kind {kind!r} is not known here", "upgrade privclust")
        if hashlib.sha256(content).hexdigest() != document["arrays_file"].get("sha256"):
            raise DamageError("arrays.npz does not match its checksum")
        arrays = npz.from_npz(content, document["arrays"])
        if npz.described(arrays) != document["arrays"]:
            raise DamageError("its arrays do not match their checksums")
        try:
            return cls(arrays=arrays, **parts_of(document))
        except ReleaseError as error:
            problem = str(error).partition(";")[0]
            raise DamageError(problem[0].lower() + problem[1:]) from None

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the cluster of every row.

        Parameters
        ----------
        X : array, data frame, Arrow data or path
            New rows: a 2-d NumPy array or SciPy sparse matrix with the columns of the schema in
            their order; a pandas or polars frame or Arrow data with these columns among others; or
            the path of a CSV or Parquet file, which is read in parts.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return np.concatenate([*self.predict_parts(X)])

    def predict_parts(self, X: Any) -> Iterator[npt.NDArray[np.intp]]:
        """Yield the clusters of the rows, as :meth:`predict` gives them, while they are read."""
        kind = kind_named(self.kind)
        if kind.labels is None:
            raise ReleaseError(f"A {self.kind} release does not label new rows.")
        yield from kind.labels(self, X)

    def label(self, frame: Any, column: str = "cluster") -> Any:
        """Return the frame with a column of labels added, in the frame's own library.

        Parameters
        ----------
        frame : pandas or polars data frame, or Arrow table
            New rows; the frame itself is not changed.
        column : str, default="cluster"
            Name of the new column.
        """
        from privclust.release.frames import check_new_column, with_column

        check_new_column(frame, column)
        return with_column(frame, column, self.predict(frame))

    def to_html(self) -> str:
        """Return the report for human readers as one self-contained HTML page."""
        from privclust.reports.page import html_report

        return html_report(self)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report for human readers; see :meth:`to_html`.

        Parameters
        ----------
        path : path
            The file to write, or a folder, in which it is called ``report.html``. An older report
            is replaced.

        Returns
        -------
        path : Path
            The file written.
        """
        target = Path(path)
        target = target / storage.REPORT if target.is_dir() else target
        storage.write_file(target, self.to_html().encode("utf-8"), "Report")
        return target

    def _facts(self) -> list[tuple[str, str]]:
        kind = kind_named(self.kind)
        return [*kind.summary(self), ("queries", str(len(self.privacy.queries)))]

    def __repr__(self) -> str:
        facts = ", ".join(f"{value} {label}" for label, value in self._facts())
        return f"<Release of {self.kind}: {facts}; {self.privacy.promise}>"

    def _repr_html_(self) -> str:
        rows = [*self._facts(), ("created", self.created), ("digest", self.digest[:12])]
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(label)}</th><td>{escape(value)}</td></tr>"
            for label, value in rows
        )
        style = "" if self.privacy.private else f" style='{_ALARM}'"
        promise = f"<p{style}>{escape(self.privacy.promise)}</p>"
        return f"<div><b>Release: {escape(kind_named(self.kind).title)}</b>{promise}" + (
            f"<table>{cells}</table></div>"
        )
