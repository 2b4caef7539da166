"""A signature matches one release under one key, and nothing else."""

from __future__ import annotations

import json
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest

from privclust.exceptions import ReleaseError
from privclust.release.document import About
from privclust.release.release import Release
from privclust.release.signature import Signature, create_key
from privclust.schema.schema import Schema
from support.releases import CENTERS, SCHEMA, as_one_sentence, make_release, statement

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    return {name: (folder / name, create_key(folder / name)) for name in ("ours", "theirs")}


@pytest.mark.parametrize("name", ["folder", "file.privclust"])
def test_a_signed_release_is_verified_by_its_public_key(tmp_path, keys, name):
    place, public = keys["ours"]
    signed = make_release().with_about(About(title="Ours")).sign(place)
    signed.save(tmp_path / name, report=True)
    loaded = Release.load(tmp_path / name)
    for key in (None, public, public.upper(), f"{place}.pub", place.with_name("ours.pub")):
        assert loaded.verify(key) == public
    assert loaded.digest == make_release().digest


CHANGES = {
    "a number": lambda release: replace(
        release, arrays={**release.arrays, "cluster_centers": np.nextafter(CENTERS, 0)}
    ),
    "the schema": lambda release: replace(release, schema=Schema(SCHEMA.columns, note="other")),
    "a parameter": lambda release: replace(release, parameters={"n_clusters": 4}),
    "the statement": lambda release: replace(release, privacy=statement(2)),
    "the day": lambda release: replace(release, created="2025-11-16"),
    "the version": lambda release: replace(release, library_version="9"),
    "the title": lambda release: replace(release, about=About(title="Theirs")),
    "the contact": lambda release: replace(release, about=About(title="Ours", contact="me")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_part_of_a_signed_release_can_be_changed(keys, change):
    signed = make_release().with_about(About(title="Ours")).sign(keys["ours"][0])
    changed = CHANGES[change](signed)
    assert changed.signature == signed.signature
    with pytest.raises(ReleaseError) as error:
        changed.verify(keys["ours"][1])
    as_one_sentence(error, "changed after it was signed")


@pytest.mark.parametrize("part", ["public_key", "value"])
@pytest.mark.parametrize("at", [0, 31, -1])
def test_no_byte_of_a_signature_can_be_changed(keys, part, at):
    signed = make_release().sign(keys["ours"][0])
    content = bytearray(bytes.fromhex(getattr(signed.signature, part)))
    content[at] ^= 1
    changed = replace(signed.signature, **{part: content.hex()})
    with pytest.raises(ReleaseError) as error:
        replace(signed, signature=changed).verify()
    as_one_sentence(error, "does not match")


def test_another_key_is_noticed(keys):
    signed = make_release().sign(keys["theirs"][0])
    assert signed.verify() == keys["theirs"][1]
    with pytest.raises(ReleaseError) as error:
        signed.verify(keys["ours"][1])
    as_one_sentence(error, "a key other than the one given")


def test_a_release_that_is_not_signed_cannot_be_verified():
    with pytest.raises(ReleaseError) as error:
        make_release().verify()
    as_one_sentence(error, "not signed")


def test_new_words_need_a_new_signature(keys):
    assert make_release().sign(keys["ours"][0]).with_about(About(title="x")).signature is None


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", b"[" * 5000, b'{"algorithm": "Ed25519"}',
     b'{"algorithm": "none", "public_key": "", "signature": ""}',
     json.dumps({"algorithm": "Ed25519", "public_key": "zz" * 32, "signature": "0" * 128}).encode(),
     json.dumps({"algorithm": "Ed25519", "public_key": 7, "signature": "0" * 128}).encode()],
)  # fmt: skip
def test_a_damaged_signature_file_is_answered_in_one_sentence(tmp_path, content):
    path = make_release().save(tmp_path / "release")
    (path / "signature.json").write_bytes(content)
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path), "signature.json")


def test_a_private_key_is_for_its_owner_and_never_replaced(tmp_path):
    create_key(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(ReleaseError) as error:
        create_key(tmp_path / "key")
    as_one_sentence(error, "never replaced")
    assert (tmp_path / "key").read_bytes() == before


def test_what_is_no_key_is_refused(tmp_path, keys):
    (tmp_path / "text").write_text("hello")
    for wrong in (tmp_path / "text", tmp_path / "missing", f"{keys['ours'][0]}.pub"):
        with pytest.raises(ReleaseError) as error:
            make_release().sign(wrong)
        as_one_sentence(error)
    signed = make_release().sign(keys["ours"][0])
    for wrong in (tmp_path / "text", tmp_path / "missing", "ab", keys["ours"][0]):
        with pytest.raises(ReleaseError) as error:
            signed.verify(wrong)
        as_one_sentence(error)


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch, keys):
    signed = make_release().sign(keys["ours"][0])
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (lambda: make_release().sign(keys["ours"][0]), signed.verify):
        with pytest.raises(ReleaseError) as error:
            call()
        as_one_sentence(error, "pip install '.[signing]' in a clone")
    assert "not checked" in signed.to_html()


def test_a_report_shows_who_signed_and_never_shows_a_broken_signature_as_good(keys):
    place, public = keys["ours"]
    signed = make_release().sign(place)
    assert public in signed.to_html()
    assert "signature matches" in signed.to_html()
    broken = replace(signed, created="2025-11-16").to_html()
    assert "DOES NOT MATCH" in broken
    assert "signature matches" not in broken


def test_a_signature_reads_back_as_it_was_written(keys):
    signature = make_release().sign(keys["ours"][0]).signature
    assert Signature.from_json(signature.to_json()) == signature
