"""A release as the files that are stored, and back; where they are stored is not known here."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from privclust.release import arrays as npz
from privclust.release.document import digest_of, document_of, parsed, parts_of
from privclust.release.errors import DamageError
from privclust.release.kinds import known_kinds
from privclust.release.reading import StoredFiles
from privclust.release.signature import Signature
from privclust.release.storage import ARRAYS, DOCUMENT, REPORT, SIGNATURE

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["fields_from", "packed"]


def packed(release: Release, *, report: bool = False) -> dict[str, bytes]:
    """Return the files of a release by their names."""
    content = npz.to_npz(release.arrays)
    document = document_of(release)
    document["arrays_file"] = {"name": ARRAYS, "sha256": hashlib.sha256(content).hexdigest()}
    document["digest"] = digest_of(document)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    files = {DOCUMENT: text.encode("utf-8"), ARRAYS: content}
    if release.signature is not None:
        files[SIGNATURE] = release.signature.to_json()
    if report:
        files[REPORT] = release.to_html().encode("utf-8")
    return files


def fields_from(files: StoredFiles) -> tuple[dict[str, Any], str]:
    """Return the fields of the release in these files, and the digest that it must have."""
    document = parsed(files.read(DOCUMENT))
    if document["kind"] not in known_kinds():
        kind = document["kind"]
        raise DamageError(f"its kind {kind!r} is not known here", "upgrade privclust")
    # The declared sizes come first: no more than they allow is ever read.
    content = files.read(ARRAYS, npz.largest_npz(document["arrays"]))
    if hashlib.sha256(content).hexdigest() != document["arrays_file"].get("sha256"):
        raise DamageError("arrays.npz does not match its checksum")
    arrays = npz.from_npz(content, document["arrays"])
    if npz.described(arrays) != document["arrays"]:
        raise DamageError("its arrays do not match their checksums")
    signed = files.has(SIGNATURE)
    signature = Signature.from_json(files.read(SIGNATURE)) if signed else None
    fields = {"arrays": arrays, "signature": signature, **parts_of(document)}
    return fields, document["digest"]
