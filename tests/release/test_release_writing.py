"""Writing a release is all or nothing."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from pathlib import Path

import pytest

from privclust.exceptions import NotSavedError, ReleaseError
from privclust.release import storage
from privclust.release.release import Release
from support.releases import (
    as_one_sentence,
    make_release,
    outcome,
)


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path_factory) -> Path:
    """Where releases are kept that cannot be written where they should be."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(params=["folder", "file.privclust"])
def place(request, tmp_path) -> Path:
    return tmp_path / request.param


def test_an_existing_release_is_kept_unless_told(place):
    first, second = make_release(), make_release(created="2025-11-16")
    first.save(place)
    with pytest.raises(ReleaseError) as error:
        second.save(place)
    as_one_sentence(error, str(place), "overwrite=True")
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
    as_one_sentence(error, str(place), "not a release")
    assert (place / "thesis.txt").read_text() == "years of work"


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "a.privclust").mkdir()
    (tmp_path / "b").write_text("text")
    for name in ("a.privclust", "b"):
        with pytest.raises(ReleaseError) as error:
            make_release().save(tmp_path / name, overwrite=True)
        as_one_sentence(error, name, "not a release")


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
    as_one_sentence(error, "cannot be written", "choose a writable path")
    with pytest.raises(ReleaseError) as error:
        make_release().save(tmp_path / "missing" / "release")
    as_one_sentence(error, "does not exist", "create it")

    def denied(*arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(storage.os, "mkdir", denied)
    with pytest.raises(ReleaseError) as error:
        make_release().save(tmp_path / "release")
    as_one_sentence(error, "Permission denied", "choose a writable path")


def no_space_in(folder: Path, monkeypatch) -> None:
    """Let every file below ``folder`` fail as on a full disk."""

    def full(path, mode):
        if folder in Path(path).parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open(path, mode)

    monkeypatch.setattr(storage, "open", full, raising=False)


def test_a_release_that_does_not_fit_on_the_disk_is_kept_and_named(place, monkeypatch, temporary):
    no_space_in(place.parent, monkeypatch)
    with pytest.raises(NotSavedError) as error:
        make_release().save(place)
    as_one_sentence(error, "does not fit on the disk", str(error.value.kept))
    assert temporary in error.value.kept.parents
    assert Release.load(error.value.kept) == make_release()
    assert list(place.parent.iterdir()) == []


def test_a_release_that_fits_nowhere_says_so(place, monkeypatch):
    no_space_in(Path("/"), monkeypatch)
    with pytest.raises(NotSavedError) as error:
        make_release().save(place)
    assert error.value.kept is None
    as_one_sentence(error, "does not fit on the disk")
    assert "kept" not in str(error.value)


def test_of_two_writers_at_once_the_second_replaces_nothing(place, monkeypatch):
    first, second = make_release(), make_release(created="2025-11-16")
    real = storage._check_free

    def overtaken(*arguments):
        real(*arguments)
        monkeypatch.setattr(storage, "_check_free", real)
        first.save(place)  # between the look and the writing of the second

    monkeypatch.setattr(storage, "_check_free", overtaken)
    with pytest.raises(ReleaseError) as error:
        second.save(place)
    as_one_sentence(error, "exists", "overwrite=True")
    assert Release.load(place) == first
    assert list(place.parent.iterdir()) == [place]


def test_many_writers_that_overwrite_each_other_leave_one_whole_release(place):
    releases = [make_release(created=f"2025-11-{day:02}") for day in range(1, 9)]
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda r=r: answers.append(outcome(r.save, place, overwrite=True)))
        for r in releases
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [place] * len(releases)
    assert Release.load(place) in releases
    assert list(place.parent.iterdir()) == [place]


def test_a_document_too_large_to_be_read_again_is_not_written(place, monkeypatch):
    monkeypatch.setattr(storage, "LARGEST_DOCUMENT", 100)
    with pytest.raises(ReleaseError) as error:
        make_release().save(place)
    as_one_sentence(error, "too large")
