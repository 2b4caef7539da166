"""A damaged release is answered in one sentence, and no code in it is ever run."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.exceptions import ReleaseError
from privclust.release import npz
from privclust.release import storage as reading
from privclust.release.document import digest_of
from privclust.release.release import Release
from support.releases import (
    as_one_sentence,
    make_release,
    outcome,
)


def edit(path: Path, change, *, mend: bool = True) -> None:
    """Change the document; ``mend`` computes the digest anew, as a forger would."""
    file = path / "release.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    if mend:
        document["digest"] = digest_of(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def replace_arrays(path: Path, content: bytes) -> None:
    (path / "arrays.npz").write_bytes(content)
    sha = hashlib.sha256(content).hexdigest()
    edit(path, lambda document: document["arrays_file"].update(sha256=sha))


def pickled_npz(trace: Path) -> bytes:
    """Return an npz with a pickle in it that leaves a trace when it is run."""

    class Bomb:
        def __reduce__(self):
            return (Path.touch, (trace,))

    buffer = io.BytesIO()
    arrays = dict(make_release().arrays)
    arrays["cluster_sizes"] = np.array([Bomb()], dtype=object)
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def huge_header_npz() -> bytes:
    """Return an npz whose header claims terabytes."""
    entry = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(entry, header)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in make_release().arrays:
            archive.writestr(f"{name}.npy", entry.getvalue())
    return buffer.getvalue()


def truncate(path: Path, name: str) -> None:
    content = (path / name).read_bytes()
    (path / name).write_bytes(content[: len(content) // 2])


def drop(*keys):
    def change(document):
        table = document
        for key in keys[:-1]:
            table = table[key]
        del table[keys[-1]]

    return change


def put(value, *keys):
    def change(document):
        table = document
        for key in keys[:-1]:
            table = table[key]
        table[keys[-1]] = value

    return change


def resized_centers(document):
    document["arrays"]["cluster_centers"]["shape"] = [10**9, 10**9]


DAMAGE = {
    "no document": (lambda path: (path / "release.json").unlink(), "release.json is missing"),
    "no arrays": (lambda path: (path / "arrays.npz").unlink(), "arrays.npz is missing"),
    "half a document": (lambda path: truncate(path, "release.json"), "not valid JSON"),
    "half the arrays": (lambda path: truncate(path, "arrays.npz"), "checksum"),
    "other arrays": (
        lambda path: (path / "arrays.npz").write_bytes(npz.to_npz({"a": np.zeros(3)})),
        "checksum",
    ),
    "arrays cut, checksum mended": (
        lambda path: replace_arrays(path, npz.to_npz(make_release().arrays)[:300]),
        "not a complete npz",
    ),
    "a pickle": (
        lambda path: replace_arrays(path, pickled_npz(path.parent / "trace")), "'cluster_sizes'",
    ),
    "a huge header": (lambda path: replace_arrays(path, huge_header_npz()), "than declared"),
    "not a release": (lambda path: (path / "release.json").write_text("[]"), "does not describe"),
    "not text": (lambda path: (path / "release.json").write_bytes(b"\xff\xfe\x00"), "JSON"),
    "deep nesting": (lambda path: (path / "release.json").write_text("[" * 10**5), "JSON"),
    "infinity": (
        lambda path: (path / "release.json").write_text('{"a": Infinity}'), "JSON",
    ),
    "new version": (
        lambda path: edit(path, put(2, "format_version")), "version 2 where this library reads 1",
    ),
    "unknown kind": (lambda path: edit(path, put("later", "kind")), "kind 'later'"),
    "edited": (
        lambda path: edit(path, put("1/10", "privacy", "epsilon"), mend=False), "was changed",
    ),
    "too cheap": (lambda path: edit(path, put("1/10", "privacy", "epsilon")), "cost more"),
    "nonsense ε": (lambda path: edit(path, put("0", "privacy", "epsilon")), "ε or δ"),
    "a power that fills the memory": (
        lambda path: edit(path, put("1e999999999", "privacy", "epsilon")), "not a fraction",
    ),
    "division by zero": (lambda path: edit(path, put("1/0", "privacy", "delta")), "privacy"),
    "truth as a word": (
        lambda path: edit(path, put("false", "privacy", "private")), "'private'",
    ),
    "private by hand": (
        lambda path: edit(path, put(False, "privacy", "private")), "privacy statement",
    ),
    "seeded by hand": (lambda path: edit(path, put("seeded", "noise_mode")), "noise mode"),
    "flaws of another type": (lambda path: edit(path, put("", "privacy", "flaws")), "'flaws'"),
    "flaws that are no texts": (
        lambda path: edit(path, put([0], "privacy", "flaws")), "privacy statement",
    ),
    "queries of another type": (
        lambda path: edit(path, put(["count"], "privacy", "queries")), "a query",
    ),
    "bad schema": (lambda path: edit(path, put({"columns": {}}, "schema")), "schema"),
    "other schema": (
        lambda path: edit(path, drop("schema", "columns", "age")), "3 coordinates",
    ),
    "huge shape": (lambda path: edit(path, resized_centers), "larger than any release"),
    "unknown type": (
        lambda path: edit(path, put("object", "arrays", "cluster_sizes", "dtype")), "unknown type",
    ),
    "undeclared array": (
        lambda path: edit(path, drop("arrays", "cluster_sizes")), "not those declared",
    ),
    "array checksum": (
        lambda path: edit(path, put("0", "arrays", "cluster_sizes", "sha256")), "checksums",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_release_is_answered_in_one_sentence(tmp_path, damage):
    path = tmp_path / "release"
    make_release().save(path)
    harm, part = DAMAGE[damage]
    harm(path)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), part)
    assert list(tmp_path.iterdir()) == [path]  # no pickle was run


@pytest.mark.parametrize(
    "key",
    ["kind", "library_version", "created", "noise_mode", "privacy", "schema", "parameters",
     "arrays", "arrays_file", "digest"],
)  # fmt: skip
def test_every_key_is_needed(tmp_path, key):
    path = tmp_path / "release"
    make_release().save(path)
    edit(path, drop(key), mend=False)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), f"'{key}' is missing")


@pytest.mark.parametrize("key", ["private", "epsilon", "delta", "unit", "protects", "queries"])
def test_every_key_of_the_statement_is_needed(tmp_path, key):
    path = tmp_path / "release"
    make_release().save(path)
    edit(path, drop("privacy", key))
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), f"'{key}' is missing")


def zipped(path: Path, entries: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


@pytest.fixture
def files(tmp_path) -> list[tuple[str, bytes]]:
    make_release().save(tmp_path / "source")
    return [(p.name, p.read_bytes()) for p in sorted((tmp_path / "source").iterdir())]


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil", "a/../../evil", "run.py"])
def test_a_zip_with_other_files_is_refused(tmp_path, files, name):
    path = zipped(tmp_path / "r.privclust", [*files, (name, b"evil")])
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "not part of a release")
    assert {p.name for p in tmp_path.iterdir()} == {"r.privclust", "source"}


@pytest.mark.parametrize("missing", ["release.json", "arrays.npz"])
def test_a_zip_without_a_file_is_refused(tmp_path, files, missing):
    path = zipped(tmp_path / "r.privclust", [file for file in files if file[0] != missing])
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), missing)


def test_a_zip_bomb_is_not_unpacked(tmp_path, files, monkeypatch):
    monkeypatch.setitem(reading._LIMITS, "release.json", 10_000)
    bomb = [("release.json", b" " * 10_000_000), *(f for f in files if f[0] == "arrays.npz")]
    path = zipped(tmp_path / "r.privclust", bomb)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "larger")


@pytest.mark.parametrize("name", ["release.json", "arrays.npz", "signature.json"])
def test_a_folder_with_a_file_beyond_its_limit_is_read_no_further(tmp_path, monkeypatch, name):
    make_release().save(tmp_path / "r")
    (tmp_path / "r" / "signature.json").write_bytes(b"{}")
    asked = []

    class Counting(io.FileIO):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    limit = 100
    monkeypatch.setitem(reading._LIMITS, name, limit)
    (tmp_path / "r" / name).write_bytes(b" " * 10_000)
    monkeypatch.setattr(reading, "open", lambda path, mode: Counting(path), raising=False)
    with pytest.raises(ReleaseError) as error:
        Release.load(tmp_path / "r")
    as_one_sentence(error, name, "larger than that of any release")
    assert asked[-1] == limit + 1


def forged(path: Path, shape: list[int], *, method=zipfile.ZIP_STORED, as_file=False) -> Path:
    """Write a release of one enormous cluster, consistent in itself, as a forger would."""
    release = make_release()
    release.save(path)
    entry = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": tuple(shape)}
    np.lib.format.write_array_header_1_0(entry, header)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, array in release.arrays.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, array)
            archive.writestr(f"{name}.npy", part.getvalue())
        archive.writestr("extra.npy", entry.getvalue() + bytes(8 * int(np.prod(shape))))
    described = {"dtype": "float64", "shape": shape, "sha256": "0" * 64}
    edit(path, put(described, "arrays", "extra"))
    replace_arrays(path, buffer.getvalue())
    if not as_file:
        return path
    entries = [(part.name, part.read_bytes()) for part in path.iterdir()]
    return zipped(path.with_suffix(".privclust"), entries)


def test_arrays_that_unpack_to_more_than_they_hold_are_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_SMALL", 2**16)
    path = forged(tmp_path / "r", [2**17], as_file=True)
    monkeypatch.setattr(zipfile.ZipFile, "open", only_the_document(zipfile.ZipFile.open))
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "unpack to far more")


def only_the_document(real):
    """Return a way to open entries of a zip that knows the document alone."""

    def opened(archive, name, *arguments, **keywords):
        assert name == "release.json", "memory was spent"
        return real(archive, name, *arguments, **keywords)

    return opened


def test_arrays_that_are_packed_in_the_npz_are_refused(tmp_path):
    path = forged(tmp_path / "r", [2**17], method=zipfile.ZIP_DEFLATED)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "packed")


def test_no_more_of_the_arrays_is_read_than_their_declared_shapes_need(tmp_path):
    path = tmp_path / "r"
    make_release().save(path)
    replace_arrays(path, (path / "arrays.npz").read_bytes() + bytes(200_000))
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "larger")


@pytest.mark.parametrize("shape", [[2**31], [2**31, 0], [10**4000], [2**20, 2**20], [-1]])
def test_an_absurd_shape_is_refused_before_the_arrays_are_opened(tmp_path, shape):
    path = tmp_path / "r"
    make_release().save(path)
    edit(path, put(shape, "arrays", "cluster_sizes", "shape"))
    (path / "arrays.npz").unlink()
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path))
    assert "arrays.npz" not in str(error.value)


def test_an_added_key_is_no_part_of_a_release(tmp_path):
    path = tmp_path / "r"
    make_release().save(path)
    edit(path, put("this one is fine", "note"))
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "not part of a release")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_zip_is_refused(tmp_path, content):
    path = tmp_path / "r.privclust"
    path.write_bytes(content)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "not a complete release")


@given(st.data())
def test_no_flipped_byte_goes_unnoticed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flip") / "r.privclust"
    release = make_release()
    release.save(path)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    answer = outcome(Release.load, path)
    # Some bytes of a zip carry no meaning.
    assert answer == release or str(path) in answer


def test_nothing_at_the_path(tmp_path):
    with pytest.raises(ReleaseError) as error:
        Release.load(tmp_path / "nowhere")
    as_one_sentence(error, "nowhere", "check the path")
