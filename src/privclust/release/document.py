"""``release.json``: a release as plain data, with what its publisher says, every entry checked.

None of it comes from the data, so it may be added at any time. It is not part of the digest, which
a ledger knows before anything is published; a signature covers it.

The digest covers everything a release says and every number in it, but not what its publisher says
about it. It detects damage and careless edits; it is not a signature, since anyone who rewrites a
release can recompute it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

from privclust.exceptions import ReleaseError
from privclust.release.npz import DamageError, describe_arrays
from privclust.schema.schema import Schema
from privclust.statement import PrivacyStatement

if TYPE_CHECKING:
    from privclust.release.release import Release


# What a publisher says about a release: its title, the holder of the data, whom to ask.

_LONGEST = 2000  # characters


@dataclass(frozen=True)
class About:
    """What a publisher says at the top of the report; all of it is public and optional.

    Parameters
    ----------
    title : str or None
        The title of the release.
    dataset : str or None
        The data that were clustered.
    holder : str or None
        Who holds them.
    contact : str or None
        Whom to ask.
    purpose : str or None
        What the release was made for.
    names : sequence of str
        Public names of what a release numbers: the clusters of k-means and of a density, the
        components of a mixture, the columns of a co-clustering, the new centres of a
        source-target release.
    row_groups, column_groups : sequence of str
        Public names of the clusters of rows and of columns of a co-clustering.
    """

    title: str | None = None
    dataset: str | None = None
    holder: str | None = None
    contact: str | None = None
    purpose: str | None = None
    names: Sequence[str] = ()
    row_groups: Sequence[str] = ()
    column_groups: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in _LINES:
            object.__setattr__(self, name, _check_line(name, getattr(self, name)))
        for name in _LISTS:
            names = getattr(self, name)
            if isinstance(names, str) or not all(isinstance(text, str) for text in names):
                raise ReleaseError(
                    "The names of a release must be a list of text; give one name per item."
                )
            object.__setattr__(self, name, tuple(_one_line(text) for text in names))

    @property
    def lines(self) -> dict[str, str]:
        """What is said, without the names, by field."""
        lines = {name: getattr(self, name) for name in _LINES}
        return {name: text for name, text in lines.items() if text is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return what is said as plain data."""
        names = {name: list(getattr(self, name)) for name in _LISTS}
        return self.lines | {name: listed for name, listed in names.items() if listed}

    @classmethod
    def from_dict(cls, plain: Any) -> About:
        """Read it back from :meth:`to_dict`; the data come from a file and are not trusted."""
        known = {field.name for field in fields(cls)}
        if not isinstance(plain, Mapping) or not set(plain) <= known:
            raise DamageError("'about' in release.json has an unknown entry")
        if not all(isinstance(plain.get(name, []), list) for name in _LISTS):
            raise DamageError("the names in release.json are not a list")
        try:
            return cls(**plain)
        except ReleaseError:
            raise DamageError("'about' in release.json is not plain text") from None


_LINES = ("title", "dataset", "holder", "contact", "purpose")
_LISTS = ("names", "row_groups", "column_groups")


def _check_line(name: str, text: object) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ReleaseError(f"The {name} of a release must be short text; shorten or drop it.")
    return _one_line(text) or None


def _one_line(text: str) -> str:
    """Return printable text on one line; half a surrogate pair could not be written to a file."""
    readable = text.encode("utf-8", errors="replace").decode("utf-8")
    return " ".join("".join(char if char.isprintable() else " " for char in readable).split())


FORMAT = "privclust-release"
VERSION = 1

_KEYS = {
    "kind": str,
    "library_version": str,
    "created": str,
    "noise_mode": str,
    "privacy": dict,
    "schema": dict,
    "parameters": dict,
    "arrays": dict,
    "arrays_file": dict,
    "digest": str,
}
# The parts of a document that its digest does not cover.
_APART = ("about", "arrays_file", "digest")
_PRIVACY_KEYS: dict[str, type | tuple[type, ...]] = {
    "private": bool,
    "epsilon": str,
    "delta": str,
    "unit": dict,
    "protects": str,
    "queries": list,
    "receipt": (str, type(None)),
}
_QUERY_KEYS: dict[str, type | tuple[type, ...]] = {
    "query": str,
    "noise": str,
    "pure": (str, type(None)),
    "rho": str,
}
# Fractions as they are written; a power of ten such as 1e999999999 would fill the memory.
_FRACTION = re.compile(r"\d{1,4000}(/\d{1,4000})?")


def make_document(release: Release) -> dict[str, Any]:
    """Return the content of ``release.json``, without the checksums of files."""
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "kind": release.kind,
        "library_version": release.library_version,
        "created": release.created,
        "noise_mode": _noise_mode(release.privacy),
        "privacy": release.privacy.to_dict(),
        "schema": release.schema.to_dict(),
        "parameters": release.parameters,
        "arrays": describe_arrays(release.arrays),
        "about": release.about.to_dict(),
    }


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a document says, whatever the file format of the arrays."""
    covered = {key: value for key, value in document.items() if key not in _APART}
    # The order of keys is kept: the order of columns matters.
    return hashlib.sha256(json.dumps(covered, allow_nan=False).encode("ascii")).hexdigest()


def parse_document(content: bytes) -> dict[str, Any]:
    """Return the object in a ``release.json`` whose format and keys are known."""
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise DamageError("release.json is not valid JSON") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamageError("release.json does not describe a release")
    if document.get("format_version") != VERSION:
        found = document.get("format_version")
        raise DamageError(
            f"it has format version {found!r} where this library reads {VERSION}",
            "upgrade privclust",
        )
    _check_keys(document, _KEYS, "release.json")
    if digest_of(document) != document["digest"]:
        raise DamageError("release.json was changed after it was written")
    return document


def split_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return all fields of the release that a checked document describes, except its arrays."""
    privacy = _statement(document["privacy"])
    if document["noise_mode"] != _noise_mode(privacy):
        raise DamageError("its noise mode contradicts its privacy statement")
    try:
        schema = Schema.from_dict(document["schema"])
    except (ValueError, TypeError):
        raise DamageError("its schema cannot be read") from None
    same = ("kind", "library_version", "created", "parameters")
    about = About.from_dict(document.get("about", {}))
    return {key: document[key] for key in same} | {
        "schema": schema,
        "privacy": privacy,
        "about": about,
    }


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the parameters as JSON would give it back."""
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        try:
            text = json.dumps(
                {str(name): value}, default=_plain, allow_nan=False, ensure_ascii=False
            )
            text.encode("utf-8")  # half a surrogate pair could not be written to a file
        except (TypeError, ValueError, RecursionError):
            raise ReleaseError(
                f"The parameter {name!r} cannot be written to a release; use numbers, text, "
                "lists and dicts."
            ) from None
        plain.update(json.loads(text))
    return plain


def check_date(created: str) -> str:
    """Return an ISO date; raise on anything else."""
    try:
        return date.fromisoformat(created).isoformat()
    except (TypeError, ValueError):
        raise ReleaseError(f"created={created!r} is not a date; write it as 2025-12-31.") from None


def check_promise(privacy: PrivacyStatement) -> None:
    """Raise if the queries cost more than what the statement promises, or than was charged."""
    try:
        covered = privacy.paid_from.covers(privacy.spent)
        float(privacy.epsilon)
    except (ValueError, OverflowError):
        raise ReleaseError(
            "The privacy statement promises a meaningless ε or δ; correct it."
        ) from None
    if not covered:
        paid = "it promises" if privacy.receipt is None else "was charged to the ledger"
        raise ReleaseError(
            f"The queries of the privacy statement cost more than {paid}; correct it."
        )


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy
        return value.tolist()
    raise TypeError


def _noise_mode(privacy: PrivacyStatement) -> str:
    return "seeded" if privacy.seeded else "secure"


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _check_keys(table: Any, keys: Mapping[str, type | tuple[type, ...]], where: str) -> None:
    if not isinstance(table, dict):
        raise DamageError(f"{where} is not a table")
    for key, types in keys.items():
        if key not in table:
            raise DamageError(f"{key!r} is missing from {where}")
        if not isinstance(table[key], types):
            raise DamageError(f"{key!r} in {where} is of the wrong type")


def _statement(plain: Any) -> PrivacyStatement:
    """Read the privacy statement; a word in place of ``false`` must not read as true."""
    listed = {"flaws": list} if "flaws" in plain else {}  # the first releases had no such list
    _check_keys(plain, _PRIVACY_KEYS | listed, "the privacy statement")
    amounts = [plain["epsilon"], plain["delta"]]
    for query in plain["queries"]:
        worded = {"asks": str} if "asks" in query else {}  # those of 0.1 did not say what they ask
        _check_keys(query, _QUERY_KEYS | worded, "a query of the privacy statement")
        amounts += [query["rho"], query["pure"] or "0"]
    if not all(_FRACTION.fullmatch(amount) for amount in amounts):
        raise DamageError("the privacy statement has an amount that is not a fraction")
    try:
        return PrivacyStatement.from_dict(plain)
    except (ValueError, TypeError, ArithmeticError):
        raise DamageError("the privacy statement cannot be read") from None
