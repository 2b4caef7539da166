"""The release of a fit: the values that may be published, with the statement of what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import ReleaseError
from privclust.notes import Signal
from privclust.release import arrays as npz
from privclust.release import storage
from privclust.release.about import About
from privclust.release.document import (
    check_promise,
    checked_date,
    digest_of,
    document_of,
    plain_parameters,
)
from privclust.release.errors import DamageError
from privclust.release.facts import Facts
from privclust.release.kinds import kind_named
from privclust.release.packing import fields_from, packed
from privclust.release.reading import opened
from privclust.release.signal import check_notes, signal_of_release
from privclust.release.signature import Signature, signed_by
from privclust.schema import Schema
from privclust.statement import PrivacyStatement

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

__all__ = ["Release"]


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
    about : About
        What its publisher says about it; see :meth:`described`.
    signature : Signature or None
        Who vouches for it; see :meth:`sign`.

    Notes
    -----
    Two releases are equal if they say the same and hold the same numbers, see :attr:`digest`; what
    a publisher adds does not make it another release.
    """

    kind: str
    arrays: Mapping[str, npt.NDArray[Any]]
    schema: Schema
    parameters: Mapping[str, Any]
    privacy: PrivacyStatement
    library_version: str = field(default_factory=_library_version)
    created: str = field(default_factory=_today)
    about: About = field(default_factory=About)
    signature: Signature | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", npz.checked_arrays(self.arrays))
        object.__setattr__(self, "parameters", plain_parameters(self.parameters))
        object.__setattr__(self, "created", checked_date(self.created))
        check_promise(self.privacy)
        check_notes(self.parameters)
        kind = kind_named(self.kind)
        kind.check_shapes(self.arrays)
        kind.check(self)
        kind.check_names(self)

    @property
    def signal(self) -> Signal:
        """Whether it shows the rows: "seen"; "hidden", at least in part, by noise; or "none"."""
        return signal_of_release(self)

    @property
    def digest(self) -> str:
        """SHA-256 of all that the release says and of every number it holds."""
        return digest_of(document_of(self))

    def described(self, about: About) -> Release:
        """Return the same release with what its publisher says about it, not signed yet.

        Parameters
        ----------
        about : About
            Public words: title, data set, holder, contact, purpose, names. The digest stays the
            same.
        """
        return replace(self, about=about, signature=None)

    def sign(self, key: Ed25519PrivateKey | str | PathLike[str]) -> Release:
        """Return the same release, signed; save it to publish the signature with it.

        Parameters
        ----------
        key : Ed25519PrivateKey or path
            The private key, or the PEM file that holds it.
        """
        return replace(self, signature=signed_by(key, document_of(self)))

    def verify(self, public_key: Ed25519PublicKey | str | PathLike[str] | None = None) -> str:
        """Return the public key that the release is signed with; raise unless it matches.

        Parameters
        ----------
        public_key : Ed25519PublicKey, str, path or None
            The publisher's key, as hexadecimal text or a file. Without it only the text is checked:
            anyone could have signed it.
        """
        if self.signature is None:
            raise ReleaseError("The release is not signed; ask its publisher for a signed one.")
        self.signature.check(document_of(self), public_key)
        return self.signature.public_key

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
            Replace a release that is already there. Anything else is never replaced.
        report : bool, default=False
            Put the report for human readers beside the values.

        Returns
        -------
        path : Path
            Where the release is.
        """
        storage.write_release(Path(path), packed(self, report=report), overwrite=overwrite)
        return Path(path)

    def keep(self, name: str = "release") -> Path | None:
        """Write the release to a temporary place, when no other will take it, and return where.

        Parameters
        ----------
        name : str
            What to call the folder.
        """
        return storage.keep_elsewhere(name, packed(self))

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
        with opened(path) as files:
            fields, digest = fields_from(files)
        try:
            release = cls(**fields)
        except ReleaseError as error:
            problem = str(error).partition(";")[0]
            raise DamageError(problem[0].lower() + problem[1:]) from None
        if release.digest != digest:
            raise DamageError("release.json holds something that is not part of a release")
        return release

    def predict(self, X: Any, *, shape: tuple[int, int] | None = None) -> npt.NDArray[np.int64]:
        """Return the cluster of every row.

        Parameters
        ----------
        X : array, data frame, Arrow data or path
            New rows: a 2-d NumPy array or SciPy sparse matrix with the columns of the schema in
            their order; a pandas or polars frame or Arrow data with these columns among others; or
            the path of a CSV or Parquet file, which is read in parts.
        shape : tuple of int or None
            The shape of a matrix of counts that is given as triples (row, column, count).

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return np.concatenate([*self.predict_parts(X, shape=shape)])

    def predict_parts(
        self, X: Any, *, shape: tuple[int, int] | None = None
    ) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the clusters of the rows, as :meth:`predict` gives them, while they are read."""
        kind = kind_named(self.kind)
        if kind.labels is None:
            raise ReleaseError(f"A {self.kind} release does not label new rows; use its arrays.")
        if shape is not None and not kind.takes_triples:
            raise ReleaseError(f"A {self.kind} release labels rows, not triples; drop the shape.")
        for part in kind.labels(self, X, shape) if kind.takes_triples else kind.labels(self, X):
            yield part.astype(np.int64, copy=False)

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

        signed = self.signature
        found = None if signed is None else signed.found(document_of(self))
        return html_report(self, kind_named(self.kind), found)

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

    def facts(self) -> Facts:
        """Return what the release says at a glance, for people and for machines."""
        return kind_named(self.kind).facts(self)

    def __repr__(self) -> str:
        from privclust.release.card import at_a_glance

        facts = ", ".join(f"{value} {label}" for label, value in at_a_glance(self))
        return f"<Release of {self.kind}: {facts}; {self.privacy.promise}>"

    def _repr_html_(self) -> str:
        from privclust.release.card import html_card

        return html_card(self)
