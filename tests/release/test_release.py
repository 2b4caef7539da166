"""A release comes back as it was, or cannot be made at all; and it says what it is."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import privclust
from privclust.budget import Budget, Loss
from privclust.exceptions import ReleaseError
from privclust.privacy.meter import Charge
from privclust.release import npz, storage
from privclust.release.release import Release
from privclust.reports.values import format_error
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.statement import PrivacyStatement
from privclust.unit.rows import AddRemoveRow
from support.releases import (
    CENTERS,
    NAMES,
    SCHEMA,
    as_one_sentence,
    make_release,
    statement,
)

pytestmark = pytest.mark.usefixtures("blank_pictures")


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
    back = npz.from_npz(npz.to_npz(held), npz.describe_arrays(held))
    assert back["extra"].shape == extra.shape
    assert back["extra"].dtype == extra.dtype.newbyteorder("=")
    assert np.array_equal(back["extra"], extra)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | numbers | words | st.lists(numbers)


@settings(max_examples=25)
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
    as_one_sentence(error, part)


def test_array_names_cannot_leave_the_file():
    arrays = {**make_release().arrays, "../evil": np.zeros(1)}
    with pytest.raises(ReleaseError, match="cannot name an array"):
        make_release(arrays=arrays)


def test_a_statement_that_spends_more_than_it_promises_is_refused():
    query = Charge("count", Loss.of_pure(Fraction(2)), "noise")
    lie = PrivacyStatement(Fraction(1), Fraction(0), {}, "All.", (query,))
    with pytest.raises(ReleaseError, match="cost more than it promises"):
        make_release(privacy=lie)


def test_what_was_charged_to_a_ledger_by_its_rho_cannot_be_paid_in_pure_epsilon():
    query = Charge("count", Loss.of_pure(Fraction(1)), "noise")
    plain = (Fraction(1), Fraction(1, 10**6), AddRemoveRow().to_dict(), "All.", (query,))
    assert make_release(privacy=PrivacyStatement(*plain)).privacy.paid_from == Budget(1)
    with pytest.raises(ReleaseError, match="cost more than was charged to the ledger"):
        make_release(privacy=PrivacyStatement(*plain, receipt="receipt-42"))
    in_rho = Charge("count", Loss(None, Budget(1, 1e-6).amount), "noise")
    strict = PrivacyStatement(*plain[:4], (in_rho,), receipt="receipt-42")
    assert make_release(privacy=strict).privacy == strict


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


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (0, "0"),
        (0.0123, "0.012"),
        (1, "1"),
        (9.96, "10"),
        (47.4, "47"),
        (141, "140"),
        (12345, "12,000"),
    ],
)
def test_an_error_is_shown_with_two_digits_and_without_an_exponent(error, shown):
    assert format_error(error) == shown
