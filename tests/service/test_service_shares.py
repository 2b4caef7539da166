"""Nobody stands in the way of others: shares of the queue and of plans, limits, cancelling."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from privclust.service import clock
from privclust.service.clock import at_most, tick_after
from privclust.service.errors import ConflictError, NotFoundError, ServiceError, TooManyError
from privclust.service.planner import Planner, _in_time
from privclust.service.worker import Worker
from service.browser import Browser, services_on, signed_in
from service.clocks import later, run_one
from service.serving import Serving
from service.test_service_api import Api


def ask(serving: Serving, user: Any, epsilon: str) -> str:
    return serving.jobs.ask(user, serving.visits, serving.question(epsilon=epsilon)).job_id


def test_whoever_asks_much_does_not_stand_in_the_way_of_others(any_serving: Serving) -> None:
    serving = any_serving
    serving.datasets.grant(serving.visits, serving.bob, "1", "0", "")
    many = []
    for n in range(3):
        many.append(ask(serving, serving.ann, f"0.0{n + 1}"))
        later(1)
    run_one(serving.database, serving.settings)
    one = ask(serving, serving.bob, "0.5")
    order = []
    for _ in range(3):
        tick = tick_after(clock.now(), 60)
        clock.sleep_until(tick)
        taken = serving.queue.take(tick)
        assert taken is not None
        order.append(taken.id)
        shown = serving.queue.fail(taken, "")
        clock.sleep_until(shown)
        serving.queue.show(shown)
    assert order == [one, *many[1:]]


def test_a_few_jobs_of_one_analyst_wait_at_once(serving: Serving) -> None:
    for n in range(20):
        ask(serving, serving.ann, f"0.00{n + 1:02}")
    with pytest.raises(TooManyError, match="20 jobs waiting"):
        ask(serving, serving.ann, "0.5")
    assert len(serving.charges()) == 20


def test_a_job_that_has_not_begun_is_cancelled_by_whoever_asked_or_a_steward(
    any_serving: Serving,
) -> None:
    serving = any_serving
    first, second = ask(serving, serving.ann, "0.1"), ask(serving, serving.ann, "0.2")
    with pytest.raises(ConflictError):
        serving.queue.cancel(first, serving.bob)
    serving.queue.cancel(first, serving.ann)
    serving.queue.cancel(second, serving.steward)
    assert not run_one(serving.database, serving.settings)
    assert serving.jobs.one(first, serving.ann).state == "failed"
    assert "Cancelled by ann" in serving.jobs.one(first, serving.steward).details
    assert serving.charges() == [first, second]


def test_a_job_that_has_begun_is_not_cancelled(serving: Serving) -> None:
    job, tick = ask(serving, serving.ann, "0.1"), tick_after(clock.now(), 60)
    clock.sleep_until(tick)
    taken = serving.queue.take(tick)
    assert taken is not None
    for _ in range(2):  # whether it has ended meanwhile shows in nothing
        with pytest.raises(ConflictError, match="has not begun"):
            serving.queue.cancel(job, serving.ann)
        serving.queue.fail(taken, "")


def test_pages_and_programs_cancel(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    job = f"/jobs/{ask(serving, serving.ann, '0.1')}"
    assert "Cancel it if it has not begun" in ann.get(job).text
    assert signed_in(serving, "bob").post(f"{job}/cancel").status_code == 404
    assert ann.post(f"{job}/cancel", job).status_code == 303
    other = f"/jobs/{ask(serving, serving.ann, '0.2')}"
    assert Api(serving, "ann", "read")("POST", f"{other}/cancel").status_code == 403
    assert Api(serving, "ann", "run")("POST", f"{other}/cancel").status_code == 204
    with pytest.raises(NotFoundError):
        serving.jobs.one(other[6:], serving.bob)


class Stuck:
    """A pool that ends nothing by itself."""

    def __init__(self) -> None:
        self.begun: list[tuple[Any, Future[Any]]] = []

    def submit(self, make: Any) -> Future[Any]:
        self.begun.append((make, Future()))
        return self.begun[-1][1]


def test_plans_of_one_analyst_leave_room_for_others(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner, pool = Planner(own_process=False), Stuck()
    monkeypatch.setattr(planner, "_executor", lambda: pool)
    monkeypatch.setattr("privclust.service.planner._MOMENT", 0.01)

    async def flood() -> None:
        for n in range(250):
            question = serving.question(epsilon=f"0.{1000 + n}")
            assert await planner.plan_soon(serving.visits, question, "ann") is None

    asyncio.run(flood())
    waiting = [it for it in planner._kept["plan"].values() if not it.done()]
    assert len(waiting) == 9  # one is being made
    other = planner.plan_soon(serving.visits, serving.question(epsilon="0.7"), "bob")
    assert asyncio.run(other) is None
    pool.begun[0][1].set_result({})
    assert '"epsilon": "0.7"' in repr(pool.begun[1][0])  # it is bob's turn
    pool.begun[1][1].set_exception(BrokenProcessPool())
    assert len(pool.begun) == 3  # a process that dies stops nobody


def test_what_takes_too_long_is_given_up() -> None:
    with pytest.raises(TimeoutError), at_most(1):
        time.sleep(5)
    with pytest.raises(ServiceError, match="too long to plan"):
        _in_time(1, time.sleep, 5)
    assert _in_time(1, int, "5") == 5


class Killed:
    """A process that notes that it was killed."""

    def __init__(self) -> None:
        self.kills = 0

    def kill(self) -> None:
        self.kills += 1


def test_a_steward_stops_a_job_that_runs_here_and_an_analyst_does_not(
    serving: Serving, false_clock: Any
) -> None:
    services, process = services_on(serving), Killed()
    services.worker = Worker(serving.settings)
    services.worker._process = process
    browsers = {name: Browser(services) for name in ("sue", "ann")}
    for name, browser in browsers.items():
        browser.sign_in(name)
    job = f"/jobs/{ask(serving, serving.ann, '0.1')}"
    later(60)
    assert serving.queue.take(tick_after(clock.now(), 60)) is not None
    assert browsers["ann"].post(f"{job}/cancel", job).status_code == 409
    assert "Stop this job?" in browsers["sue"].post(f"{job}/cancel", job).text
    assert process.kills == 0
    assert browsers["sue"].confirm(f"{job}/cancel", job).status_code == 303
    assert process.kills == 1
    serving.queue.interrupt_left_over()  # as the next worker does
    assert serving.jobs.one(job[6:], serving.steward).state == "interrupted"
    serving.database.write("UPDATE service_jobs SET state = 'running', worker = 'elsewhere:1'")
    assert browsers["sue"].confirm(f"{job}/cancel", job).status_code == 409
    assert process.kills == 1
