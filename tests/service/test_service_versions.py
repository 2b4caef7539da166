"""New rows under an old name: answers are those of the rows that were checked, and say which."""

from __future__ import annotations

from pathlib import Path

from service.browser import signed_in
from service.clocks import run_one
from service.serving import Serving, check_again, write_rows
from service.test_service_api import Api


def check_new_rows(serving: Serving, folder: Path, n_rows: int) -> None:
    write_rows(folder / "data" / "visits.csv", n_rows)
    check_again(serving.datasets, serving.datasets.by_id(serving.visits.id))


def test_the_same_question_about_new_rows_is_a_new_one(serving: Serving, tmp_path: Path) -> None:
    serving.datasets.grant(serving.visits, serving.bob, "1", "0", "")
    first = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    run_one(serving.database, serving.settings)
    check_new_rows(serving, tmp_path, 60)
    # A page that was open all the while still has the data set as it was.
    again = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    assert (again.free, again.known) == (False, False)
    assert serving.charges() == [first.job_id, again.job_id]
    run_one(serving.database, serving.settings)
    for user in (serving.ann, serving.bob):
        answer = serving.jobs.ask(user, serving.visits, serving.question())
        job = serving.jobs.one(answer.job_id, user)
        assert answer.free
        assert serving.releases.one(job.release_id or "", user).version == 2


def test_a_release_is_of_the_rows_that_were_there_when_it_was_made(
    serving: Serving, tmp_path: Path
) -> None:
    asked = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    check_new_rows(serving, tmp_path, 60)
    run_one(serving.database, serving.settings)
    (release,) = serving.releases.visible_to(serving.ann)
    assert release.version == 2
    again = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    assert (again.free, again.job_id) == (True, asked.job_id)


def test_the_same_rows_checked_again_stay_the_same_version(serving: Serving) -> None:
    serving.datasets.freeze(serving.visits, "a look at the files")
    check_again(serving.datasets, serving.visits)
    assert serving.datasets.by_id(serving.visits.id).version == 1


def test_pages_and_programs_say_which_version_a_release_describes(
    serving: Serving, tmp_path: Path
) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    run_one(serving.database, serving.settings)
    (release,) = serving.releases.visible_to(serving.ann)
    ann = signed_in(serving, "ann")
    place = f"/releases/{release.id}"
    assert "<dt>version of the data</dt><dd>1</dd>" in ann.get(place).text
    assert "checked in since" not in ann.get(place).text
    check_new_rows(serving, tmp_path, 60)
    assert "version 2 was checked in since" in ann.get(place).text
    assert "version 2" in ann.get(f"/datasets/{serving.visits.id}").text
    api = Api(serving, "ann", "read")
    assert [it["version"] for it in api("GET", "/releases").json()] == [1]
    assert [it["version"] for it in api("GET", "/datasets").json()] == [2]
