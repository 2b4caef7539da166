"""A release comes back as it was, or not at all; and it labels rows from any source alike."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import privclust
from privclust.budget import Budget
from privclust.privacy.loss import Loss
from privclust.privacy.meter import Charge, Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release, ReleaseError, storage
from privclust.release import arrays as npz
from privclust.release.document import digest_of
from privclust.schema import Box, Categories, Schema
from privclust.unit import AddRemoveRow

NAMES = ("age", "income", "visits")
SCHEMA = Schema({"age": Box(0, 120), "income": Box(0, 1000), "visits": Box(0, 50, missing=5)})
CENTERS = np.array([[20.0, 100, 5], [60, 900, 10], [80, 200, 40], [41.5, 512.25, 20.125]])


def statement(
    epsilon=1, delta=0, *, private=True, unit=None, queries=("count", "sums", "sums, step 2")
) -> PrivacyStatement:
    """Return the statement of a fit that spent all of its budget."""
    budget = Budget(epsilon, delta)
    meter = Meter(budget)
    for query, share in zip(queries, budget.split([1] * len(queries)), strict=True):
        loss = Loss(None, share.amount) if delta else Loss.of_pure(share.amount)
        meter.charge(query, loss, f"noise of {query}")
    receipt = "receipt-42" if private else None
    return PrivacyStatement.from_meter(
        meter, unit=unit or AddRemoveRow(), private=private, receipt=receipt
    )


def make_release(centers=CENTERS, schema=SCHEMA, *, sizes=None, privacy=None, **changes) -> Release:
    """Return a k-means release as the estimator would make it."""
    centers = np.asarray(centers, dtype=np.float64)
    k = len(centers)
    arrays = {
        "cluster_centers": centers,
        "cluster_sizes": np.arange(k) * 100 + 50 if sizes is None else np.asarray(sizes),
        "cluster_sizes_error": np.full(k, 7.5),
    }
    fields = {
        "kind": "kmeans",
        "arrays": arrays,
        "schema": schema,
        "parameters": {"n_clusters": k, "rescale": False, "method": "lloyd"},
        "privacy": privacy or statement(),
        "created": "2025-11-15",
    }
    return Release(**(fields | changes))


def rows(n=500, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 1, (n, 3)) * (SCHEMA.high - SCHEMA.low)


def brute_force(X, centers=CENTERS, scales=1.0) -> list[int]:
    return [int(np.argmin([np.sum(((x - c) / scales) ** 2) for c in centers])) for x in X]


def one_sentence(error: pytest.ExceptionInfo, *parts: str) -> None:
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert "; " in text or "upgrade" in text
    for part in parts:
        assert part in text


def outcome(call, *arguments, **keywords):
    """Return what a call returns, or the sentence it raises."""
    try:
        return call(*arguments, **keywords)
    except ReleaseError as error:
        return str(error)


# --- round trips -------------------------------------------------------------------------------


@pytest.fixture(params=["folder", "file.privclust"])
def place(request, tmp_path) -> Path:
    return tmp_path / request.param


def test_a_release_comes_back_as_it_was(place):
    release = make_release()
    assert release.save(place) == place
    back = Release.load(place)
    assert back == release
    assert back.digest == release.digest
    assert back.schema == release.schema
    assert back.privacy == release.privacy
    assert back.parameters == release.parameters
    assert (back.kind, back.created) == ("kmeans", "2025-11-15")
    assert back.library_version == privclust.__version__
    for name, array in release.arrays.items():
        assert back.arrays[name].dtype == array.dtype
        assert np.array_equal(back.arrays[name], array)
        assert not back.arrays[name].flags.writeable


numeric = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes()
    | hnp.unsigned_integer_dtypes()
    | hnp.floating_dtypes(sizes=(32, 64))
)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(
        numeric,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements={"allow_nan": False, "allow_infinity": False},
    )
)
def test_any_finite_array_survives(extra):
    arrays = {**make_release().arrays, "extra": extra}
    held = make_release(arrays=arrays).arrays
    back = npz.from_npz(npz.to_npz(held), npz.described(held))
    assert back["extra"].shape == extra.shape
    assert back["extra"].dtype == extra.dtype.newbyteorder("=")
    assert np.array_equal(back["extra"], extra)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | numbers | words | st.lists(numbers)


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(words, plain, max_size=4))
def test_parameters_survive(tmp_path_factory, parameters):
    path = tmp_path_factory.mktemp("parameters") / "release"
    release = make_release(parameters=parameters)
    release.save(path)
    assert Release.load(path).parameters == parameters


def test_equal_releases_are_written_as_equal_bytes(tmp_path):
    make_release().save(tmp_path / "a.privclust")
    make_release().save(tmp_path / "b.privclust")
    assert (tmp_path / "a.privclust").read_bytes() == (tmp_path / "b.privclust").read_bytes()


def test_the_digest_tells_releases_apart():
    shuffled = Schema({name: SCHEMA[name] for name in reversed(NAMES)})
    nudged = CENTERS.copy()
    nudged[0, 0] = np.nextafter(nudged[0, 0], 1e9)
    different = [
        make_release(),
        make_release(nudged),
        make_release(schema=shuffled),
        make_release(privacy=statement(2)),
        make_release(privacy=statement(private=False)),
        make_release(parameters={"n_clusters": 4}),
        make_release(created="2025-11-16"),
    ]
    assert len({release.digest for release in different}) == len(different)


def test_the_document_says_all_that_a_reader_needs(tmp_path):
    make_release().save(tmp_path / "r")
    document = json.loads((tmp_path / "r" / "release.json").read_text(encoding="utf-8"))
    assert document["format_version"] == 1
    assert document["library_version"] == privclust.__version__
    assert document["noise_mode"] == "secure"
    assert document["privacy"]["receipt"] == "receipt-42"
    assert [query["pure"] for query in document["privacy"]["queries"]] == ["1/3"] * 3
    assert document["schema"] == SCHEMA.to_dict()
    content = (tmp_path / "r" / "arrays.npz").read_bytes()
    assert document["arrays_file"]["sha256"] == hashlib.sha256(content).hexdigest()
    with np.load(tmp_path / "r" / "arrays.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["cluster_centers"], CENTERS)


def test_the_report_is_saved_when_asked_for(tmp_path):
    make_release().save(tmp_path / "with", report=True)
    make_release().save(tmp_path / "without")
    assert (tmp_path / "with" / "report.html").is_file()
    assert not (tmp_path / "without" / "report.html").exists()
    assert Release.load(tmp_path / "with") == Release.load(tmp_path / "without")


def test_a_release_pickles():
    assert pickle.loads(pickle.dumps(make_release())) == make_release()


# --- what cannot be a release ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"kind": "nonsense"}, "'nonsense'"),
        ({"created": "yesterday"}, "created"),
        ({"parameters": {"f": print}}, "'f'"),
        ({"parameters": {"x": float("nan")}}, "'x'"),
        ({"parameters": {"x": "\ud800"}}, "'x'"),
        ({"arrays": {"cluster_centers": CENTERS}}, "'cluster_sizes'"),
        ({"schema": Schema({"age": Box(0, 120)})}, "3 coordinates"),
        ({"centers": np.empty((0, 3))}, "at least one centre"),
        ({"centers": [[1, 2, np.nan]]}, "'cluster_centers'"),
        ({"sizes": [1, 2]}, "'cluster_sizes'"),
        ({"sizes": ["a", "b", "c", "d"]}, "'cluster_sizes'"),
        ({"sizes": np.array([{}, 1, 2, 3], dtype=object)}, "'cluster_sizes'"),
    ],
)
def test_a_wrong_release_cannot_be_made(changes, part):
    with pytest.raises(ReleaseError) as error:
        make_release(**changes)
    one_sentence(error, part)


def test_array_names_cannot_leave_the_file():
    arrays = {**make_release().arrays, "../evil": np.zeros(1)}
    with pytest.raises(ReleaseError, match="cannot name an array"):
        make_release(arrays=arrays)


def test_a_statement_that_spends_more_than_it_promises_is_refused():
    query = Charge("count", Loss.of_pure(Fraction(2)), "noise")
    lie = PrivacyStatement(Fraction(1), Fraction(0), {}, "All.", (query,), True)
    with pytest.raises(ReleaseError, match="cost more than it promises"):
        make_release(privacy=lie)


# --- damaged releases --------------------------------------------------------------------------


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
    "private by hand": (lambda path: edit(path, put(False, "privacy", "private")), "noise mode"),
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
    one_sentence(error, str(path), part)
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
    one_sentence(error, str(path), f"'{key}' is missing")


@pytest.mark.parametrize("key", ["private", "epsilon", "delta", "unit", "protects", "queries"])
def test_every_key_of_the_statement_is_needed(tmp_path, key):
    path = tmp_path / "release"
    make_release().save(path)
    edit(path, drop("privacy", key))
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    one_sentence(error, str(path), f"'{key}' is missing")


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
    one_sentence(error, str(path), "no part of a release")
    assert {p.name for p in tmp_path.iterdir()} == {"r.privclust", "source"}


@pytest.mark.parametrize("missing", ["release.json", "arrays.npz"])
def test_a_zip_without_a_file_is_refused(tmp_path, files, missing):
    path = zipped(tmp_path / "r.privclust", [file for file in files if file[0] != missing])
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    one_sentence(error, str(path), missing)


def test_a_zip_bomb_is_not_unpacked(tmp_path, files, monkeypatch):
    monkeypatch.setitem(storage._LIMITS, "release.json", 10_000)
    bomb = [("release.json", b" " * 10_000_000), *(f for f in files if f[0] == "arrays.npz")]
    path = zipped(tmp_path / "r.privclust", bomb)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    one_sentence(error, str(path), "larger")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_zip_is_refused(tmp_path, content):
    path = tmp_path / "r.privclust"
    path.write_bytes(content)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    one_sentence(error, str(path), "not a complete release")


@settings(max_examples=60, deadline=None)
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
    one_sentence(error, "nowhere", "check the path")


# --- writing is all or nothing -----------------------------------------------------------------


def test_an_existing_release_is_kept_unless_told(place):
    first, second = make_release(), make_release(created="2025-11-16")
    first.save(place)
    with pytest.raises(ReleaseError) as error:
        second.save(place)
    one_sentence(error, str(place), "overwrite=True")
    assert Release.load(place) == first
    second.save(place, overwrite=True)
    assert Release.load(place) == second
    assert list(place.parent.iterdir()) == [place]


def test_an_empty_folder_is_filled(tmp_path):
    make_release().save(tmp_path)
    assert Release.load(tmp_path) == make_release()


def test_a_folder_with_other_files_is_never_replaced(tmp_path):
    place = tmp_path / "home"
    place.mkdir()
    (place / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError) as error:
        make_release().save(place, overwrite=True)
    one_sentence(error, str(place), "not a release")
    assert (place / "thesis.txt").read_text() == "years of work"


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "a.privclust").mkdir()
    (tmp_path / "b").write_text("text")
    for name in ("a.privclust", "b"):
        with pytest.raises(ReleaseError) as error:
            make_release().save(tmp_path / name, overwrite=True)
        one_sentence(error, name, "not a release")


def test_readers_get_the_usual_permissions(place):
    make_release().save(place)
    umask = os.umask(0)
    os.umask(umask)
    written = place if place.is_file() else place / "release.json"
    assert written.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("call", [0, 1, 2])
@pytest.mark.parametrize("step", ["fsync", "rename", "replace", "open"])
def test_a_failure_while_writing_leaves_what_was_there(place, monkeypatch, step, call, overwrite):
    before = make_release(created="2025-11-01")
    if overwrite:
        before.save(place)
    done = 0

    def failing(real):
        def called(*arguments, **keywords):
            nonlocal done
            done += 1
            # Later calls work again, so that the way back is not blocked.
            if done == call + 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*arguments, **keywords)

        return called

    if step == "open":
        monkeypatch.setattr(storage, "open", failing(open), raising=False)
    else:
        monkeypatch.setattr(storage.os, step, failing(getattr(os, step)))
    answer = outcome(make_release().save, place, overwrite=True)
    assert answer == place if done <= call else "does not fit on the disk" in answer
    monkeypatch.undo()
    if place.exists():
        assert Release.load(place) in (before, make_release())
    else:
        assert not overwrite
    assert list(place.parent.iterdir()) in ([], [place])


def test_an_interrupt_leaves_nothing(place, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(storage.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_release().save(place)
    assert list(place.parent.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("text")
    with pytest.raises(ReleaseError) as error:
        make_release().save(tmp_path / "file" / "release")
    one_sentence(error, "cannot be written", "choose a writable place")
    with pytest.raises(ReleaseError) as error:
        make_release().save(tmp_path / "missing" / "release")
    one_sentence(error, "does not exist", "create it")

    def denied(*arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(storage.os, "mkdir", denied)
    with pytest.raises(ReleaseError) as error:
        make_release().save(tmp_path / "release")
    one_sentence(error, "Permission denied", "choose a writable place")


# --- prediction --------------------------------------------------------------------------------


def saved(X, path: Path) -> Path:
    table = pa.table({"id": np.arange(len(X)), **dict(zip(NAMES, X.T, strict=True))})
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=100)
    elif path.suffix == ".tsv":
        pl.DataFrame(table).write_csv(path, separator="\t")
    else:
        pa.csv.write_csv(table, path)
    return path


FORMS = {
    "numpy": lambda X, tmp: X,
    "fortran": lambda X, tmp: np.asfortranarray(X),
    "list": lambda X, tmp: X.tolist(),
    "object": lambda X, tmp: X.astype(object),
    "sparse": lambda X, tmp: sparse.csr_array(X),
    "pandas": lambda X, tmp: pd.DataFrame(X[:, ::-1], columns=NAMES[::-1]).assign(other="text"),
    "pandas, numbered": lambda X, tmp: pd.DataFrame(X),
    "pandas, nullable": lambda X, tmp: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "polars": lambda X, tmp: pl.DataFrame(X, schema=NAMES).with_columns(other=pl.lit("text")),
    "polars, lazy": lambda X, tmp: pl.LazyFrame(X, schema=NAMES),
    "table": lambda X, tmp: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "batch": lambda X, tmp: pa.record_batch(dict(zip(NAMES, X.T, strict=True))),
    "reader": lambda X, tmp: pa.table(dict(zip(NAMES, X.T, strict=True))).to_reader(50),
    "csv": lambda X, tmp: saved(X, tmp / "rows.csv"),
    "csv as text": lambda X, tmp: str(saved(X, tmp / "rows.csv")),
    "tsv": lambda X, tmp: saved(X, tmp / "rows.tsv"),
    "parquet": lambda X, tmp: saved(X, tmp / "rows.parquet"),
}


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_labels_are_the_nearest_centres_whatever_holds_the_rows(tmp_path, form, rescale):
    X = rows()
    release = make_release(parameters={"n_clusters": 4, "rescale": rescale})
    labels = release.predict(FORMS[form](X, tmp_path))
    assert isinstance(labels, np.ndarray)
    assert labels.dtype.kind == "i"
    expected = brute_force(X, scales=SCHEMA.high - SCHEMA.low if rescale else 1.0)
    assert labels.tolist() == expected


def test_the_metric_matters():
    X = rows()
    plain = make_release().predict(X)
    assert (plain != make_release(parameters={"rescale": True}).predict(X)).any()


def test_a_large_offset_costs_no_digits():
    schema = Schema({"seconds": Box(1.7e9, 1.7e9 + 1)})
    release = make_release([[1.7e9 + 0.25], [1.7e9 + 0.75]], schema)
    X = 1.7e9 + np.linspace(0, 1, 41)[:, None]
    assert release.predict(X).tolist() == brute_force(X, release.arrays["cluster_centers"])


def test_many_rows_are_read_in_parts(tmp_path, monkeypatch):
    from privclust.data.sources import base

    monkeypatch.setattr(base, "_BLOCK_ROWS", 7)
    X = rows(100)
    for form in FORMS:
        assert make_release().predict(FORMS[form](X, tmp_path)).tolist() == brute_force(X)


MISSING = {
    "numpy": lambda X: X,
    "masked": lambda X: np.ma.masked_invalid(X),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES, nan_to_null=True),
    "arrow": lambda X: pa.table({n: pa.array(x, mask=np.isnan(x)) for n, x in zip(NAMES, X.T)}),  # noqa: B905
}


@pytest.mark.parametrize("form", MISSING)
def test_missing_values_follow_the_rule_of_the_schema(form):
    X = rows()
    X[::3, 2] = np.nan
    filled = np.where(np.isnan(X), 5.0, X)
    assert make_release().predict(MISSING[form](X)).tolist() == brute_force(filled)
    X[7, 0] = np.nan
    with pytest.raises(ValueError, match="missing numbers") as error:
        make_release().predict(MISSING[form](X))
    one_sentence(error, "'age'", "leave those rows out")


def test_missing_fields_of_a_csv_file(tmp_path):
    (tmp_path / "rows.csv").write_text("age,income,visits\n20, 100 ,\n60,900,NA\n")
    assert make_release().predict(tmp_path / "rows.csv").tolist() == [0, 1]


FRAME = pd.DataFrame(rows(3), columns=NAMES)
TWICE = pd.DataFrame(np.zeros((2, 4)), columns=["age", "income", "visits", "age"])
BAD_ROWS = {
    "one column less": (np.zeros((2, 2)), "2 columns"),
    "one-dimensional": (np.zeros(3), "2-d array"),
    "ragged": ([[1, 2, 3], [4, 5]], "differ in length"),
    "infinite": (np.array([[1, np.inf, 2]]), "'income'"),
    "text": (np.array([["1", "2", "x"]]), "'age'"),
    "text in pandas": (FRAME.assign(income="12"), "'income'"),
    "text in polars": (pl.DataFrame(FRAME).with_columns(income=pl.lit("12")), "'income'"),
    "dates": (FRAME.assign(age=pd.Timestamp("2020-01-01")), "'age'"),
    "mixed": (FRAME.astype(object).assign(age=[1, "x", {}]), "'age'"),
    "column missing": (FRAME.drop(columns="visits"), "'visits'"),
    "column missing in polars": (pl.DataFrame(FRAME).drop("visits"), "'visits'"),
    "column missing in a lazy frame": (pl.LazyFrame(FRAME).drop("visits"), "'visits'"),
    "column twice": (TWICE, "'age'"),
    "a series": (pl.Series([1.0]), "named columns"),
    "something else": (42, "int"),
    "no such file": ("nowhere.csv", "nowhere.csv"),
    "unknown format": (__file__, "unknown format"),
}


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_are_answered_in_one_sentence(bad):
    X, part = BAD_ROWS[bad]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        make_release().predict(X)
    one_sentence(error, part)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("text.csv", b"age,income,visits\n1,2,many\n", "'visits'"),
        ("short.csv", b"age,income\n1,2\n", "'visits'"),
        ("ragged.csv", b"age,income,visits\n1,2,3\n1,2\n", "ragged.csv"),
        ("empty.csv", b"", "empty.csv"),
        ("broken.parquet", b"PAR1 and no more", "broken.parquet"),
    ],
)
def test_bad_files_are_answered_in_one_sentence(tmp_path, name, content, part):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        make_release().predict(tmp_path / name)
    one_sentence(error, part)


@pytest.mark.parametrize("empty", [np.empty((0, 3)), FRAME.iloc[:0], pl.DataFrame(FRAME).head(0)])
def test_no_rows_are_answered_in_one_sentence(empty):
    with pytest.raises(ValueError, match="no rows"):
        make_release().predict(empty)


def test_categories_beside_the_numbers_are_refused():
    schema = Schema({"age": Box(0, 120), "sex": Categories(["f", "m"])})
    with pytest.raises(ReleaseError) as error:
        make_release([[10], [90]], schema)
    one_sentence(error, "'sex'", "declare a Box")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_labels_are_added_in_the_frames_own_library(make):
    frame = make(FRAME)
    labelled = make_release().label(frame)
    assert type(labelled) is type(frame)
    assert list(labelled["cluster"].to_numpy()) == brute_force(FRAME.to_numpy())
    assert "cluster" not in (frame.column_names if isinstance(frame, pa.Table) else frame.columns)
    with pytest.raises(ReleaseError) as error:
        make_release().label(labelled)
    one_sentence(error, "'cluster'")
    assert make_release().label(labelled, "group") is not None


def test_a_pandas_index_is_kept():
    frame = FRAME.set_axis(["a", "b", "c"])
    assert make_release().label(frame).index.tolist() == ["a", "b", "c"]


def test_an_array_takes_no_column():
    with pytest.raises(ReleaseError) as error:
        make_release().label(np.zeros((2, 3)))
    one_sentence(error, "ndarray", "predict")


# --- how it looks ------------------------------------------------------------------------------


def test_the_repr_is_short_and_says_what_is_promised():
    text = repr(make_release())
    assert "ε = 1" in text
    assert "4 clusters" in text
    assert "NOT PRIVATE" not in text
    assert len(text) < 200


def test_a_seeded_release_says_so_everywhere(tmp_path):
    release = make_release(privacy=statement(private=False))
    release.save(tmp_path / "r", report=True)
    back = Release.load(tmp_path / "r")
    for text in (repr(back), str(back), back._repr_html_(), back.to_html()):
        assert "NOT PRIVATE" in text
    document = json.loads((tmp_path / "r" / "release.json").read_text(encoding="utf-8"))
    assert document["noise_mode"] == "seeded"
    assert document["privacy"]["private"] is False


def test_the_release_loads_drawing_libraries_only_for_the_report():
    code = "import privclust.release, sys; print({'matplotlib', 'jinja2'} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert found.stdout.strip() == "set()"


def test_the_release_stays_outside_the_door():
    """It may hand the caller's rows to a door, and reach nothing behind one."""
    folder = Path(storage.__file__).parent
    for module in folder.glob("*.py"):
        inside = r"(from|import) privclust\.(data\.(?!\w*door\b)|privacy\.noise)"
        assert not re.search(inside, module.read_text(encoding="utf-8"))
