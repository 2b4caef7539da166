"""The rules of the service: registration, charges, the queue, ticks and stored answers."""

from __future__ import annotations

import dataclasses
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from privclust import AddRemoveRow, Box, Categories, Person, Schema
from privclust.exceptions import BudgetGoneError, LedgerConflictError, LedgerVersionError
from privclust.service import clock
from privclust.service import database as databases
from privclust.service.accounts import Accounts
from privclust.service.clock import first_tick_from, next_tick, tick_after
from privclust.service.database import Database, Migration, migrations
from privclust.service.errors import ConflictError, ForbiddenError, NotFoundError, ServiceError
from privclust.service.jobs import FinishedJob
from privclust.service.questions import FitQuestion
from privclust.service.registered import Datasets
from privclust.service.registration import check_rules
from privclust.service.releases import release_from
from privclust.service.worker import ChargedLedger, fit_question, run_at
from service.clocks import later, run_one
from service.serving import PASSWORD, SCHEMA, Serving, check_again, register, write_rows

FAR = 10**10


def soon() -> int:
    """Return the next tick, and let it come."""
    tick = tick_after(clock.now(), 60)
    clock.sleep_until(tick)
    return tick


# The database.
def test_a_database_is_brought_up_to_date_once(serving: Serving) -> None:
    again = Database.open(serving.database.ledger.url)
    applied = again.rows("SELECT number FROM service_versions ORDER BY number")
    assert applied == [(it.number,) for it in migrations()]


def test_a_database_of_an_older_version_keeps_what_it_has(
    tmp_path: Path, new_postgres_url: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in (str(tmp_path / "old.db"), new_postgres_url()):
        with monkeypatch.context() as patch:
            patch.setattr(databases, "migrations", lambda: migrations()[:6])
            old = Database.open(url)
        old.write(
            "INSERT INTO service_users (id, name, role, password, must_change, active, created) "
            "VALUES ('1', 'ann', 'analyst', 'x', 0, 1, 1)"
        )
        old.write(
            "INSERT INTO service_datasets (id, name, path, facts, unit, most_rows, digest, frozen, "
            "note, created) VALUES ('2', 'visits', 'v.csv', ?, ?, 10, 'd', '', '', 1)",
            SCHEMA.to_json(),
            '{"name": "add-remove-row"}',
        )
        opened = Database.open(url)
        accounts, datasets = Accounts(opened), Datasets(opened, tmp_path)
        assert accounts.by_name("ann").role == "analyst"
        (kept,) = datasets.all()
        assert (kept.name, kept.schema, dict(kept.meanings)) == ("visits", SCHEMA, {})


def test_a_database_of_a_later_version_is_refused(serving: Serving) -> None:
    serving.database.write("INSERT INTO service_versions VALUES (99, 'x', 0)")
    with pytest.raises(LedgerVersionError, match="an older version cannot use them"):
        Database.open(serving.database.ledger.url)


def test_a_step_that_was_changed_is_refused(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = [Migration(1, "SELECT 1;\n"), *migrations()[1:]]
    monkeypatch.setattr(databases, "migrations", lambda: changed)
    with pytest.raises(LedgerVersionError, match="not the one"):
        Database.open(serving.database.ledger.url)


def test_the_ledger_stays_valid_with_tables_beside_it(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    assert serving.database.ledger.verify().entries == 3


# Registration.
@pytest.mark.parametrize(
    "fact",
    [Box(0, 1), Categories(["a"], missing="category"), Categories(["a"], unknown="other")],
)
def test_a_rule_that_can_fail_on_a_row_is_refused(fact: Box | Categories) -> None:
    with pytest.raises(ServiceError, match="could fail on a row"):
        check_rules(Schema({"x": fact, "y": Box(0, 1, missing=0)}), AddRemoveRow())


@pytest.mark.parametrize(
    "path",
    [
        "../x.csv",
        "/etc/passwd",
        "",
        ".",
        "a/../../x.csv",
        "*.csv",
        "s3://x/y.csv",
        "a\0b",
        "out.csv",
    ],
)
def test_a_path_does_not_leave_the_data_folder(serving: Serving, path: str, tmp_path: Path) -> None:
    write_rows(tmp_path / "x.csv")
    (tmp_path / "data" / "out.csv").symlink_to(tmp_path / "x.csv")
    with pytest.raises(ServiceError, match="below the data folder"):
        register(serving.datasets, "other", path, SCHEMA, AddRemoveRow(), 1000)


def test_more_rows_than_declared_are_refused(serving: Serving) -> None:
    with pytest.raises(ServiceError, match="more rows than"):
        register(serving.datasets, "other", "visits.csv", SCHEMA, AddRemoveRow(), 10)


def test_missing_ids_are_refused(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "data" / "p.csv").write_text("who,age\na,1\n,2\n")
    with pytest.raises(ServiceError, match="missing ids"):
        register(
            serving.datasets,
            "other",
            "p.csv",
            Schema({"age": Box(0, 9, missing=0)}),
            Person("who", 1),
            1000,
        )


def test_the_same_rows_have_one_budget(serving: Serving, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "data" / "visits.csv", tmp_path / "data" / "copy.csv")
    for path in ("visits.csv", "copy.csv"):
        with pytest.raises(ConflictError, match="has its own budget"):
            register(serving.datasets, "other", path, SCHEMA, AddRemoveRow(), 1000)


@pytest.mark.parametrize("how", ["a folder", "a folder with more", "a folder around it"])
def test_the_same_rows_in_a_folder_have_one_budget(
    serving: Serving, tmp_path: Path, how: str
) -> None:
    data = tmp_path / "data"
    (data / "sub").mkdir()
    shutil.copy(data / "visits.csv", data / "sub" / "part.csv")
    if how == "a folder with more":
        write_rows(data / "sub" / "more.csv", 30)
    if how == "a folder around it":
        write_rows(data / "sub" / "part.csv", 30)
        register(serving.datasets, "inner", "sub/part.csv", SCHEMA, AddRemoveRow(), 1000)
        write_rows(data / "sub" / "part.csv", 31)
    before = serving.database.ledger.head()
    with pytest.raises(ConflictError, match="its own budget"):
        register(serving.datasets, "again", "sub", SCHEMA, AddRemoveRow(), 1000)
    assert serving.database.ledger.head() == before


def test_rows_of_another_data_set_are_not_checked_in(serving: Serving, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_rows(data / "other.csv", 30)
    other = register(serving.datasets, "other", "other.csv", SCHEMA, AddRemoveRow(), 1000)
    shutil.copy(data / "visits.csv", data / "other.csv")
    with pytest.raises(ConflictError, match="its own budget"):
        check_again(serving.datasets, other)


def test_a_refused_data_set_leaves_nothing_behind(serving: Serving) -> None:
    with pytest.raises(ServiceError):
        register(serving.datasets, "other", "visits.csv", SCHEMA, AddRemoveRow(), 10)
    assert [dataset.name for dataset in serving.datasets.all()] == ["visits"]
    assert serving.database.ledger.datasets() == ["visits"]


# Asking.
def test_a_job_is_charged_when_it_is_queued_and_settled_when_it_is_done(
    any_serving: Serving,
) -> None:
    answer = any_serving.jobs.ask(any_serving.ann, any_serving.visits, any_serving.question())
    assert any_serving.charges() == [answer.job_id]
    assert run_one(any_serving.database, any_serving.settings)
    job = any_serving.jobs.one(answer.job_id, any_serving.steward)
    release = release_from(any_serving.releases.file(job.release_id or "", any_serving.steward))
    (settled,) = [e for e in any_serving.database.ledger.history() if e.kind == "settle"]
    assert (job.state, settled.digest) == ("done", release.digest)
    assert release.privacy.receipt == job.receipt
    assert release.privacy.private


def test_a_budget_that_is_gone_queues_nothing(serving: Serving) -> None:
    with pytest.raises(BudgetGoneError):
        serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="3"))
    assert serving.jobs.of(serving.steward) == []


def test_a_repeated_request_is_one_job_and_one_charge(serving: Serving) -> None:
    first = serving.jobs.ask(serving.ann, serving.visits, serving.question(), "a" * 32)
    again = serving.jobs.ask(serving.ann, serving.visits, serving.question(), "a" * 32)
    other_tab = serving.jobs.ask(serving.ann, serving.visits, serving.question(), "b" * 32)
    assert first.job_id == again.job_id == other_tab.job_id
    assert serving.charges() == ["a" * 32]


def test_a_request_is_not_taken_for_another_one(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question(), "a" * 32)
    with pytest.raises(ConflictError):
        serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="0.5"), "a" * 32)
    assert serving.charges() == ["a" * 32]


def test_whoever_was_granted_nothing_knows_of_nothing(serving: Serving) -> None:
    with pytest.raises(NotFoundError):
        serving.jobs.ask(serving.bob, serving.visits, serving.question())
    with pytest.raises(NotFoundError):
        serving.datasets.one(serving.visits.id, serving.bob)
    assert serving.datasets.visible_to(serving.bob) == []


def test_a_steward_asks_nothing(serving: Serving) -> None:
    with pytest.raises(ForbiddenError):
        serving.jobs.ask(serving.steward, serving.visits, serving.question())


def test_revoked_and_frozen_data_sets_are_not_asked(serving: Serving) -> None:
    serving.datasets.freeze(serving.visits, "a look at the files")
    with pytest.raises(ConflictError, match="frozen"):
        serving.jobs.ask(serving.ann, serving.visits, serving.question())
    check_again(serving.datasets, serving.visits)
    serving.datasets.revoke(serving.visits, serving.ann)
    with pytest.raises(NotFoundError):
        serving.jobs.ask(serving.ann, serving.visits, serving.question())
    assert serving.charges() == []


def test_of_fifty_requests_for_the_last_epsilon_one_wins(any_serving: Serving) -> None:
    any_serving.jobs.ask(any_serving.ann, any_serving.visits, any_serving.question(epsilon="1"))

    def ask(number: int) -> bool:
        # Fifty different questions, so that none is answered by another one's job.
        columns = ["age", "cost"][: 1 + number % 2]
        question = any_serving.question(family="kmeans", clusters=1 + number, columns=columns)
        try:
            any_serving.jobs.ask(any_serving.ann, any_serving.visits, question)
        except BudgetGoneError:
            return False
        return True

    with ThreadPoolExecutor(50) as pool:
        won = list(pool.map(ask, range(50)))
    assert sum(won) == 1
    assert len(any_serving.charges()) == len(any_serving.jobs.of(any_serving.steward)) == 2


@pytest.mark.parametrize(
    "given",
    [
        {"random_state": 1},
        {"seed": 1},
        {"ledger": None},
        {"family": "nothing"},
        {"columns": "age"},
        {"columns": ["nobody"]},
        {"clusters": "0"},
        {"clusters": "9" * 30},
        {"epsilon": "1e999999999"},
        {"epsilon": "nan"},
        {"epsilon": "1/0"},
        {"epsilon": "101"},
    ],
)
def test_a_question_holds_only_what_may_be_asked(given: dict[str, object]) -> None:
    with pytest.raises(ServiceError):
        FitQuestion.parse({"family": "kmeans", "columns": ["age"]} | given, SCHEMA)


# Running.
def test_jobs_of_one_data_set_run_one_after_the_other(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="1"))
    serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="0.5"))
    tick = soon()
    assert serving.queue.take(tick) is not None
    assert serving.queue.take(tick) is None


def test_a_changed_file_freezes_the_data_set_and_tells_the_analyst_nothing(
    serving: Serving, tmp_path: Path
) -> None:
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    write_rows(tmp_path / "data" / "visits.csv", 41)
    run_one(serving.database, serving.settings)
    assert serving.datasets.by_id(serving.visits.id).frozen
    seen = serving.jobs.one(answer.job_id, serving.ann, FAR)
    assert (seen.state, seen.details, seen.release_id) == ("failed", "", None)
    assert "files changed" in serving.jobs.one(answer.job_id, serving.steward).details


def test_files_that_change_while_they_are_read_release_nothing(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(*given: Any) -> FinishedJob:
        finished = fit_question(*given)
        write_rows(tmp_path / "data" / "visits.csv", 41)
        return finished

    monkeypatch.setattr("privclust.service.worker.fit_question", changing)
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    run_one(serving.database, serving.settings)
    assert serving.datasets.by_id(serving.visits.id).frozen
    job = serving.jobs.one(answer.job_id, serving.steward)
    assert (job.state, job.release_id) == ("failed", None)
    assert "files changed" in job.details
    assert serving.releases.visible_to(serving.steward) == []
    assert not [e for e in serving.database.ledger.history() if e.kind == "settle"]


def test_a_charge_pays_for_one_fit(serving: Serving) -> None:
    question = serving.question()
    charged = ChargedLedger("r", "visits", question.budget, AddRemoveRow())
    assert charged.reserve("visits", question.budget, AddRemoveRow(), "") == "r"
    with pytest.raises(LedgerConflictError):
        charged.reserve("visits", question.budget, AddRemoveRow(), "")
    other = serving.question(epsilon="0.5").budget
    with pytest.raises(LedgerConflictError):
        ChargedLedger("r", "visits", question.budget, AddRemoveRow()).reserve(
            "visits", other, AddRemoveRow(), ""
        )


def test_an_interrupted_job_waits_for_the_steward(serving: Serving) -> None:
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    taken = serving.queue.take(soon())
    assert serving.queue.interrupt_left_over() == 1
    assert not run_one(serving.database, serving.settings)
    assert serving.jobs.one(answer.job_id, serving.ann, FAR).state == "failed"
    serving.queue.put_back(answer.job_id)
    assert run_one(serving.database, serving.settings)
    assert serving.jobs.one(answer.job_id, serving.steward).state == "done"
    assert taken is not None
    assert serving.charges() == [answer.job_id]
    with pytest.raises(ConflictError):
        serving.queue.give_up(answer.job_id)


@pytest.mark.parametrize("state", ["queued", "running", "done", "failed", "given up"])
def test_only_an_interrupted_job_is_run_again(serving: Serving, state: str) -> None:
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    if state == "done":
        run_one(serving.database, serving.settings)
    elif state != "queued":
        taken = serving.queue.take(soon())
        assert taken is not None
        if state == "failed":
            serving.queue.show(serving.queue.fail(taken, "a row that could not be read"))
        elif state == "given up":
            serving.queue.interrupt_left_over()
            serving.queue.give_up(answer.job_id)
    before = serving.jobs.one(answer.job_id, serving.steward)
    assert before.state == state.replace("given up", "failed")
    with pytest.raises(ConflictError, match="Only an interrupted job"):
        serving.queue.put_back(answer.job_id)
    assert serving.jobs.one(answer.job_id, serving.steward) == before


def test_a_worker_that_lost_its_job_stores_nothing(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    taken = serving.queue.take(soon())
    assert taken is not None
    finished = fit_question(
        taken, serving.visits, str(serving.datasets.resolve_path(serving.visits))
    )
    serving.queue.interrupt_left_over()
    assert not serving.queue.finish(taken, finished)
    assert serving.releases.visible_to(serving.steward) == []
    assert not [e for e in serving.database.ledger.history() if e.kind == "settle"]


# Time.
def test_the_grid_of_ticks_is_made_of_public_facts() -> None:
    assert first_tick_from(1000, 3, 60) == 60
    assert first_tick_from(10**8, 3, 60) == 60 * 32
    assert [next_tick(1000, 60, 1000 + wait) for wait in (0, 1, 60, 61, 120, 121, 500)] == [
        1060, 1060, 1060, 1120, 1120, 1240, 1960,
    ]  # fmt: skip
    assert [tick_after(moment, 60) for moment in (0, 59, 60, 61)] == [60, 60, 120, 120]


def test_the_end_of_a_job_is_seen_at_a_tick_and_not_before(any_serving: Serving) -> None:
    serving = any_serving
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    waiting, entries = serving.jobs.one(answer.job_id, serving.ann), serving.database.ledger.head()
    shows = run_at(soon(), serving.database, serving.settings)
    assert shows == clock.now() + waiting.first_tick
    for early in (shows - 60, shows - 1):
        serving.queue.show(early)
        assert serving.jobs.one(answer.job_id, serving.ann, shows - 1) == waiting
        assert serving.releases.visible_to(serving.ann) == []
        assert serving.database.ledger.head() == entries
    serving.queue.show(shows)
    seen = serving.jobs.one(answer.job_id, serving.ann, shows)
    assert (seen.state, seen.finished_at) == ("done", None)
    assert dataclasses.replace(seen, state="", release_id=None) == dataclasses.replace(
        waiting, state="", release_id=None
    )
    assert len(serving.releases.visible_to(serving.ann)) == 1
    assert serving.database.ledger.head().entries == entries.entries + 1


def test_a_second_asking_does_not_tell_that_the_job_has_ended(serving: Serving) -> None:
    first = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    before = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    shows = run_at(soon(), serving.database, serving.settings)
    assert serving.jobs.ask(serving.ann, serving.visits, serving.question()) == before
    assert before.job_id == first.job_id
    assert shows is not None
    clock.sleep_until(shows)
    serving.queue.show(shows)
    assert serving.jobs.ask(serving.ann, serving.visits, serving.question()).free


def test_a_release_that_waits_for_its_tick_outlives_its_worker(serving: Serving) -> None:
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    shows = run_at(soon(), serving.database, serving.settings)
    assert serving.queue.interrupt_left_over() == 0
    assert shows is not None
    serving.queue.show(shows)
    assert serving.jobs.one(answer.job_id, serving.ann, shows).state == "done"


def test_a_job_that_killed_its_worker_shows_that_at_a_tick(serving: Serving) -> None:
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    later(1)
    other = serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="0.5"))
    began = soon()
    serving.queue.take(began)
    clock.sleep_until(began + 70)
    serving.queue.interrupt_left_over()
    assert serving.jobs.one(answer.job_id, serving.ann, began + 119).state == "waiting"
    assert serving.jobs.one(answer.job_id, serving.ann, began + 120).state == "failed"
    assert serving.queue.take(began + 60) is None
    taken = serving.queue.take(began + 120)
    assert taken is not None
    assert taken.id == other.job_id


def test_the_same_question_is_answered_from_the_stored_release_at_no_cost(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving.datasets.grant(serving.visits, serving.bob, "1", "0", "")
    first = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    run_one(serving.database, serving.settings)
    later()
    again = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    assert (again.job_id, again.free) == (first.job_id, True)
    others = serving.jobs.ask(serving.bob, serving.visits, serving.question())
    job = serving.jobs.one(others.job_id, serving.bob)
    assert (others.free, job.state, job.was_charged) == (True, "done", False)
    assert serving.releases.one(job.release_id or "", serving.bob)
    assert serving.charges() == [first.job_id]


# Accounts.
def test_a_password_is_needed_and_a_session_ends(serving: Serving) -> None:
    assert serving.accounts.sign_in("ann", "wrong") is None
    assert serving.accounts.sign_in("nobody", PASSWORD) is None
    cookie = serving.accounts.sign_in("ann", PASSWORD) or ""
    session = serving.accounts.session(cookie)
    assert session is not None
    assert session.user == serving.ann
    serving.accounts.sign_out(cookie)
    assert serving.accounts.session(cookie) is None


def test_no_secret_is_stored_as_it_is(serving: Serving, tmp_path: Path) -> None:
    cookie = serving.accounts.sign_in("ann", PASSWORD) or ""
    token = serving.accounts.add_token(serving.ann, "laptop", "run", 1)
    stored = (tmp_path / "service.db").read_bytes()
    assert not any(secret.encode() in stored for secret in (PASSWORD, cookie, token))


def test_tokens_and_sessions_end_with_the_password_and_the_account(serving: Serving) -> None:
    token = serving.accounts.add_token(serving.ann, "laptop", "run", 1)
    assert serving.accounts.holder_of(token) == (serving.ann, "run")
    serving.accounts.reset(serving.ann)
    assert serving.accounts.holder_of(token) is None
    cookie = serving.accounts.sign_in("bob", PASSWORD) or ""
    token = serving.accounts.add_token(serving.bob, "laptop", "read", 1)
    serving.accounts.set_active(serving.bob, active=False)
    assert serving.accounts.holder_of(token) is serving.accounts.session(cookie) is None
    assert serving.accounts.sign_in("bob", PASSWORD) is None


def test_an_account_that_is_opened_again_has_none_of_its_old_tokens(serving: Serving) -> None:
    cookie = serving.accounts.sign_in("bob", PASSWORD) or ""
    token = serving.accounts.add_token(serving.bob, "laptop", "read", 1)
    serving.accounts.set_active(serving.bob, active=False)
    serving.accounts.set_active(serving.bob, active=True)
    assert serving.accounts.sign_in("bob", PASSWORD)
    assert serving.accounts.holder_of(token) is serving.accounts.session(cookie) is None


def test_a_token_after_its_end_is_nobodys(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = serving.accounts.add_token(serving.ann, "laptop", "run", 1)
    later(90_000)
    assert serving.accounts.holder_of(token) is None


def test_an_analyst_gives_no_token_a_stewards_scope(serving: Serving) -> None:
    with pytest.raises(ServiceError, match="scope"):
        serving.accounts.add_token(serving.ann, "laptop", "steward", 1)


def test_nobody_is_called_everyone(serving: Serving) -> None:
    with pytest.raises(ServiceError):
        serving.accounts.add("everyone", "analyst")
