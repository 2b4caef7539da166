"""``privclust release``: words, keys, signatures; and fits whose release finds no place."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from privclust.release import storage
from privclust.release.release import Release
from support.command_line import Run


def test_a_release_is_described_signed_and_verified(released: Path, run: Run) -> None:
    digest = Release.load("release").digest
    said = run("release", "describe", "release", "--title", "Clumps", "--contact", "a@example.org")
    assert said.exit_code == 0, said.stderr
    made = json.loads(run("release", "keygen", "key", "--json").stdout)
    signed = run("release", "sign", "release", "--key", "key")
    assert signed.exit_code == 0, signed.stderr
    assert made["public_key"] in signed.stdout
    for key in (made["public_key"], "key.pub"):
        result = run("release", "verify", "release", "--public-key", key, "--json")
        assert result.exit_code == 0, result.stderr
        answer = json.loads(result.stdout)
        assert (answer["verified"], answer["key_was_given"]) == (True, True)
        assert answer["digest"] == digest
    assert "anyone may have made it" in run("release", "verify", "release").stdout
    loaded = Release.load("release")
    assert (loaded.about.title, loaded.about.contact) == ("Clumps", "a@example.org")
    assert made["public_key"] in run("report", "release").stdout
    assert made["public_key"] in Path("release/report.html").read_text(encoding="utf-8")


def test_a_forged_release_does_not_verify(released: Path, run: Run) -> None:
    run("release", "keygen", "key")
    run("release", "keygen", "other")
    run("release", "sign", "release", "--key", "key")
    wrong = run("release", "verify", "release", "--public-key", "other.pub")
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert "a key other than the one given" in wrong.stderr
    document = Path("release/release.json")
    text = document.read_text(encoding="utf-8").replace('"about": {}', '"about": {"title": "Fake"}')
    assert "Fake" in text
    document.write_text(text, encoding="utf-8")
    forged = run("release", "verify", "release", "--public-key", "key.pub")
    assert (forged.exit_code, forged.stdout) == (1, "")
    assert "changed after it was signed" in forged.stderr


def test_a_report_that_was_changed_is_found_beside_a_release_that_was_not(
    released: Path, run: Run
) -> None:
    run("release", "keygen", "key")
    run("release", "sign", "release", "--key", "key")
    verify = ("release", "verify", "release", "--public-key", "key.pub")
    Path("release/report.html").unlink(missing_ok=True)
    assert json.loads(run(*verify, "--json").stdout)["report_matches"] is None
    run("report", "release")
    assert json.loads(run(*verify, "--json").stdout)["report_matches"] is True
    assert run(*verify).stderr == ""
    with Path("release/report.html").open("ab") as page:
        page.write(b"\xff and nobody is ill")
    changed = run(*verify)
    assert changed.exit_code == 1
    assert "The report does not say what was signed" in changed.stderr
    assert json.loads(run(*verify, "--json").stdout)["verified"] is False
    run("report", "release", "--overwrite")
    assert run(*verify).stderr == ""


def test_words_that_are_not_given_stay_and_a_signature_falls(released: Path, run: Run) -> None:
    run("release", "describe", "release", "--title", "One", "--holder", "Us")
    run("release", "keygen", "key")
    run("release", "sign", "release", "--key", "key")
    run("release", "describe", "release", "--title", "Two")
    loaded = Release.load("release")
    assert (loaded.about.title, loaded.about.holder) == ("Two", "Us")
    assert loaded.signature is None
    nothing = run("release", "describe", "release")
    assert nothing.exit_code == 2
    assert "nothing to change" in nothing.stderr


def test_a_release_in_one_file_is_signed_too(released: Path, run: Run) -> None:
    Release.load("release").save("one.privclust")
    run("release", "keygen", "key")
    assert run("release", "sign", "one.privclust", "--key", "key").exit_code == 0
    verified = run("release", "verify", "one.privclust", "--public-key", "key.pub")
    assert verified.exit_code == 0, verified.stderr


def test_a_report_within_the_folder_is_made_anew(released: Path, run: Run) -> None:
    run("report", "release")
    run("release", "describe", "release", "--title", "A new title")
    assert "A new title" in Path("release/report.html").read_text(encoding="utf-8")


def full_disk(monkeypatch: pytest.MonkeyPatch, everywhere: bool) -> None:
    folder = Path.cwd()

    def full(path: object, mode: str) -> object:
        if everywhere or folder in Path(str(path)).parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open(str(path), mode)

    monkeypatch.setattr(storage, "open", full, raising=False)


FIT = ("kmeans", "data.csv", "--bounds", "-10", "10", "-k", "3", "--seed", "0", "-o", "paid")


def test_a_full_disk_keeps_the_paid_release_and_says_where(
    released: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))
    full_disk(monkeypatch, everywhere=False)
    result = run(*FIT)
    assert result.exit_code == 1
    assert "does not fit on the disk" in result.stderr
    kept = result.stderr.split("kept in '")[1].split("'")[0]
    assert len(Release.load(kept).arrays["cluster_sizes"]) == 3


def test_a_release_that_fits_nowhere_is_printed(
    released: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk(monkeypatch, everywhere=True)
    result = run(*FIT)
    assert result.exit_code == 1
    printed = json.loads(result.stdout)
    assert len(printed["clusters"]) == 3
    assert set(printed["clusters"][0]["center"]) == {"x", "y"}
    assert printed["privacy"]["queries"]


def test_names_that_do_not_fit_lose_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    counts = sparse.csr_array(np.random.default_rng(0).poisson(3, (30, 6)))
    sparse.save_npz("counts.npz", counts)
    Path("names.txt").write_text("a\nb\n")
    fit = (
        "cocluster",
        "counts.npz",
        "--row-clusters",
        "2",
        "--column-clusters",
        "2",
        "--epsilon",
        "50",
    )
    result = run(*fit, "--names", "names.txt", "-o", "release")
    assert result.exit_code == 0, result.stderr
    assert "2 names for 6 columns" in result.stderr
    Path("names.txt").write_text("\n".join("abcdef"))
    named = run("release", "describe", "release", "--names", "names.txt")
    assert named.exit_code == 0, named.stderr
    assert Release.load("release").about.names == tuple("abcdef")
