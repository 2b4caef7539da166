"""The release of a fit: the values that may be published, with the statement of what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._lazy import is_instance_of, loaded_module
from privclust.exceptions import ParameterError, ReleaseError
from privclust.notes import Signal
from privclust.release import npz, storage
from privclust.release.document import (
    About,
    check_date,
    check_promise,
    digest_of,
    make_document,
    plain_parameters,
)
from privclust.release.facts import Facts, check_missing
from privclust.release.kinds import get_kind
from privclust.release.npz import DamageError
from privclust.release.signal import check_notes, signal_of_release
from privclust.release.signature import Signature, sign_document
from privclust.release.storage import open_stored, pack_files, unpack_files
from privclust.reports.axes import axes_or_new
from privclust.schema.schema import Schema
from privclust.statement import PrivacyStatement, html_alarm, html_table
from privclust.tasks import load

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )


# Adding labels to a data frame as a column, in the frame's own library.


def check_new_column(frame: Any, column: str) -> None:
    """Raise if a column of this name cannot be added to the frame."""
    if not any(is_instance_of(frame, *kind) for kind in _ADDERS):
        raise ReleaseError(
            f"A column cannot be added to an object of type {type(frame).__name__}; give a pandas "
            "or polars frame or an Arrow table, or use predict."
        )
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    if column in names:
        raise ReleaseError(f"Column {column!r} already exists; choose another name for the labels.")


def add_column(frame: Any, column: str, labels: npt.NDArray[np.int64]) -> Any:
    """Return the frame with the labels added as its last column."""
    return next(add for kind, add in _ADDERS.items() if is_instance_of(frame, *kind))(
        frame, column, labels
    )


_ADDERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): lambda frame, name, labels: frame.assign(**{name: labels}),
    ("polars", "DataFrame"): lambda frame, name, labels: frame.with_columns(
        loaded_module("polars").Series(name, labels)
    ),
    ("pyarrow", "Table"): lambda frame, name, labels: frame.append_column(name, pa.array(labels)),
}


# A release at a glance: what a terminal and a notebook show of it.


def text_card(release: Release) -> list[tuple[str, str]]:
    """Return the most important facts, each with its label."""
    return [*release.facts().summary, ("queries", str(len(release.privacy.queries)))]


def html_card(release: Release) -> str:
    """Return a small table in HTML."""
    rows = [*text_card(release), ("created", release.created), ("digest", release.digest[:12])]
    words = release.privacy.promise
    promise = f"<p>{escape(words)}</p>" if release.privacy.private else html_alarm(words)
    title = release.about.title or f"Release: {get_kind(release.kind).title}"
    return f"<div><b>{escape(title)}</b>{promise}{html_table(rows)}</div>"


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
    Two releases are equal if they say the same and have the same numbers, see :attr:`digest`; what
    a publisher adds does not make it a different release.
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
        object.__setattr__(self, "arrays", npz.check_arrays(self.arrays))
        object.__setattr__(self, "parameters", plain_parameters(self.parameters))
        object.__setattr__(self, "created", check_date(self.created))
        check_promise(self.privacy)
        check_notes(self.parameters)
        kind = get_kind(self.kind)
        kind.check_shapes(self.arrays)
        kind.check(self)
        check_missing(self)
        kind.check_names(self)

    @property
    def signal(self) -> Signal:
        """Whether it shows the rows: "seen"; "hidden", at least in part, by noise; or "none"."""
        return signal_of_release(self)

    @property
    def digest(self) -> str:
        """SHA-256 of all that the release says and of every number in it."""
        return digest_of(make_document(self))

    def with_about(self, about: About) -> Release:
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
            The private key, or its PEM file.
        """
        return replace(self, signature=sign_document(key, make_document(self)))

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
        self.signature.check(make_document(self), public_key)
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
            Write the report for human readers next to the values.

        Returns
        -------
        path : Path
            Where the release is.
        """
        storage.write_release(Path(path), pack_files(self, report=report), overwrite=overwrite)
        return Path(path)

    def keep(self, name: str = "release") -> Path | None:
        """Write the release to a temporary path, as a last resort, and return the path.

        Parameters
        ----------
        name : str
            What to call the folder.
        """
        return storage.save_elsewhere(name, pack_files(self))

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
        with open_stored(path) as files:
            fields, digest = unpack_files(files)
        try:
            release = cls(**fields)
        except ReleaseError as error:
            problem = str(error).partition(";")[0]
            raise DamageError(problem[0].lower() + problem[1:]) from None
        if release.digest != digest:
            raise DamageError("release.json has an entry that is not part of a release")
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
        kind = get_kind(self.kind)
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
        check_new_column(frame, column)
        return add_column(frame, column, self.predict(frame))

    def to_html(self) -> str:
        """Return the report for human readers as one self-contained HTML page."""
        from privclust.reports.page import html_report

        signed = self.signature
        found = None if signed is None else signed.found(make_document(self))
        return html_report(self, get_kind(self.kind), found)

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

    def plot(self, columns: Sequence[str] | None = None, *, ax: Any = None) -> Any:
        """Draw the released values and return the axes.

        Parameters
        ----------
        columns : sequence of str or None
            One or two columns of numbers to draw, in the units of the data; those in which the
            clusters differ most if not given. Of distances between categories, one column.
        ax : matplotlib Axes or None
            Where to draw; a new figure if not given.
        """
        axes = axes_or_new(ax)
        load(get_kind(self.kind).plot)(self, axes, columns)
        axes.set_title(self.about.title or self.privacy.promise, parse_math=False, wrap=True)
        return axes

    def facts(self) -> Facts:
        """Return the release at a glance, for people and for machines."""
        return get_kind(self.kind).facts(self)

    def __repr__(self) -> str:
        facts = ", ".join(f"{value} {label}" for label, value in text_card(self))
        return f"<Release of {self.kind}: {facts}; {self.privacy.promise}>"

    def _repr_html_(self) -> str:
        return html_card(self)


def check_kind(release: Any, kind: str) -> Release:
    """Return a release, and raise if it is none or of another kind."""
    if not isinstance(release, Release):
        raise ParameterError(
            f"A {kind} is read from a Release, got {type(release).__name__}; give "
            "Release.load(PATH)."
        )
    if release.kind != kind:
        raise ReleaseError(
            f"A release of the kind {release.kind!r} is not a {kind}; give one of the kind "
            f"{kind!r}."
        )
    return release
