"""Signatures, keys and files of names: a result or one sentence, and never a key in an error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.cli.options import read_lines
from privclust.cli.screen import UsageError
from privclust.exceptions import ReleaseError
from privclust.release.release import Release
from privclust.release.signature import create_key, public_key_from
from support.damage import as_one_sentence, attempts


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Return a folder with a private key, a public key and a signed release."""
    folder = tmp_path_factory.mktemp("signed")
    create_key(folder / "key")
    rows = np.linspace(0, 1, 60).reshape(-1, 2)
    made = PrivateKMeans(2, bounds=(0, 1), random_state=0).fit(rows).release()
    made.sign(folder / "key").save(folder / "release")
    return folder


def test_any_signature_is_loaded_or_one_sentence_and_only_the_true_one_fits(signed):
    path, key = signed / "release" / "signature.json", public_key_from(signed / "key.pub")
    good = path.read_bytes()
    genuine = Release.load(signed / "release").signature
    for content in attempts(good):
        path.write_bytes(content)
        try:
            release = Release.load(signed / "release")
            release.verify(key)
        except ReleaseError as error:
            as_one_sentence(error)
        else:
            assert release.signature == genuine
    path.write_bytes(good)


def test_any_public_key_file_is_read_or_one_sentence(signed, tmp_path):
    path = tmp_path / "x.pub"
    for content in attempts((signed / "key.pub").read_bytes()):
        path.write_bytes(content)
        try:
            assert len(public_key_from(path)) == 64
        except ReleaseError as error:
            as_one_sentence(error)


def test_any_private_key_file_signs_or_one_sentence_that_quotes_nothing_of_it(signed, tmp_path):
    good, path = (signed / "key").read_bytes(), tmp_path / "x"
    release = Release.load(signed / "release")
    secret = good.decode().splitlines()[1]
    pieces = [secret[start : start + 8] for start in range(20, len(secret) - 8)]
    for content in attempts(good):
        path.write_bytes(content)
        try:
            release.sign(path).verify()
        except ReleaseError as error:
            as_one_sentence(error, pieces)


def test_any_file_of_names_names_the_centres_or_one_sentence(signed, tmp_path):
    path, release = tmp_path / "names.txt", Release.load(signed / "release")
    for content in attempts("Ärzte\nvisits per year\n".encode()):
        path.write_bytes(content)
        try:
            names = read_lines(path)
            described = release.with_about(replace(release.about, names=names))
        except (UsageError, ReleaseError) as error:
            as_one_sentence(error)
        else:
            assert len(described.about.names) == len(names)
            assert all(name.isprintable() for name in described.about.names)
            assert described.to_html()
