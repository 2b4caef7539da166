"""Plans and dry runs, in a process of their own: they need time, and pages must not wait for them.

Neither touches data: a plan rehearses on synthetic rows, and a dry run fits to them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import count
from typing import Any

from privclust.jobs.fit import sentence_of
from privclust.plan import Measure
from privclust.service.clock import at_most
from privclust.service.declared import parse_facts
from privclust.service.errors import ServiceError, TooManyError
from privclust.service.questions import FitQuestion
from privclust.service.registered import Dataset
from privclust.unit import unit_from

# A plan is a few lines, and the report of a dry run a long page.
_MOST_KEPT = {"plan": 2000, "dry run": 20}
_MOST_WAITING, _MOST_EACH = 200, 8
_MOST_DRY_ROWS = 5000
_MOMENT = 0.25  # seconds
# Up to the first a result counts as good as without privacy; from the second on, factors are told.
_AS_GOOD, _TWICE = 1.02, 2.0
_BUSY = "Too many plans are being made at the moment; try again in a minute."
_SUPERSEDED = "You have asked for other plans since, so this one was dropped; ask for it again."
_TOO_LONG = "This takes too long to plan; ask for fewer clusters or columns."


class Planner:
    """Makes plans, and remembers them.

    ``own_process``: whether to plan in a process; otherwise in a thread, which starts at once.
    ``seconds``: how long one plan may take, in a process.
    """

    def __init__(self, *, own_process: bool = True, seconds: int = 120) -> None:
        self._own_process, self._seconds = own_process, seconds
        self._lock, self._is_busy = threading.RLock(), False
        # What each user waits for, and whose turn was when.
        self._turns: dict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        self._served, self._count = dict[str, int](), count(1)
        self._pool: Executor | None = None
        self._kept: dict[str, OrderedDict[str, Future[Any]]] = {
            what: OrderedDict() for what in _MOST_KEPT
        }

    def warm_up(self) -> None:
        """Let the process import what it needs, before anybody waits for it."""
        self._executor().submit(_import_libraries)

    async def plan(self, dataset: Dataset, question: FitQuestion, user: str = "") -> dict[str, Any]:
        """Return the plan of a question, as plain data and with its sentence."""
        found: dict[str, Any] = await self._result("plan", _make_plan, dataset, question, user)
        return found

    async def plan_soon(
        self, dataset: Dataset, question: FitQuestion, user: str = ""
    ) -> dict[str, Any] | None:
        """Return the plan if it is ready in a moment, and otherwise None; then ask again."""
        try:
            return await asyncio.wait_for(self.plan(dataset, question, user), _MOMENT)
        except TimeoutError:  # it is being made, and will be remembered
            return None

    async def dry_run(self, dataset: Dataset, question: FitQuestion, user: str = "") -> str:
        """Return the report of a fit to synthetic rows."""
        found: str = await self._result("dry run", _dry, dataset, question, user)
        return found

    def close(self) -> None:
        """End the process, whatever it plans at the moment."""
        self._turns.clear()
        if self._pool is None:
            return
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        for process in processes:
            process.terminate()
        # The thread that feeds the process ends with it, and gives its semaphores back.
        self._pool.shutdown(wait=bool(processes), cancel_futures=True)
        self._pool = None

    async def _result(
        self,
        what: str,
        make: Callable[..., Any],
        dataset: Dataset,
        question: FitQuestion,
        user: str,
    ) -> Any:
        """Return what is remembered, or make it; equal questions about equal facts are one."""
        asked = json.dumps(question.to_dict(), sort_keys=True)
        facts, unit = dataset.schema.to_json(), json.dumps(dataset.unit.to_dict())
        public = (facts, unit, asked, dataset.most_rows)
        kept, key = self._kept[what], hashlib.sha256(repr(public).encode()).hexdigest()
        if key not in kept:
            kept[key] = self._submit(user, _in_time, self._seconds, make, *public)
            while len(kept) > _MOST_KEPT[what]:
                kept.popitem(last=False)
        future = kept[key]
        try:
            if future.done():
                return future.result()
            return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            if not future.cancelled():
                raise
            kept.pop(key, None)
            raise TooManyError(_SUPERSEDED) from None
        except Exception as error:
            kept.pop(key, None)
            if isinstance(error, BrokenProcessPool):
                raise TooManyError(_BUSY) from None
            raise

    def _submit(self, user: str, make: Callable[..., Any], *given: Any) -> Future[Any]:
        """Let something be made when it is the user's turn; users take turns, one plan each."""
        made = Future[Any]()
        with self._lock:
            mine = self._turns.setdefault(user, deque())
            if len(mine) >= _MOST_EACH:  # anyone who types on wants the newest plan
                mine.popleft()[0].cancel()
            elif sum(map(len, self._turns.values())) >= _MOST_WAITING:
                raise TooManyError(_BUSY)
            mine.append((made, partial(make, *given)))
        self._begin_next()
        return made

    def _begin_next(self) -> None:
        with self._lock:
            waiting = [user for user, plans in self._turns.items() if plans]
            if self._is_busy or not waiting:
                return
            user = min(waiting, key=lambda user: self._served.get(user, 0))
            self._served[user] = next(self._count)
            made, make = self._turns[user].pop()  # the newest is the one that is looked at
            self._is_busy = made.set_running_or_notify_cancel()
            try:
                self._executor().submit(make).add_done_callback(partial(self._end, made))
            except BrokenProcessPool as error:
                self._end(made, error)

    def _end(self, made: Future[Any], ended: Future[Any] | BrokenProcessPool) -> None:
        """Hand on what came of it, and begin the next one."""
        error = ended if isinstance(ended, BaseException) else ended.exception()
        with self._lock:
            self._is_busy = False
            if isinstance(error, BrokenProcessPool):
                self._pool = None
        if error is not None:
            made.set_exception(error)
        elif isinstance(ended, Future):
            made.set_result(ended.result())
        self._begin_next()

    def _executor(self) -> Executor:
        if self._pool is None:
            if self._own_process:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_behind_pages)
            else:
                self._pool = ThreadPoolExecutor(1)
        return self._pool


def _behind_pages() -> None:
    threading.Thread(target=_end_with_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)


def _end_with_server() -> None:
    """End this process when the server is gone, which may have had no time to say so."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(0)


def _import_libraries() -> None:
    from privclust.service.offers import OFFERS

    for offer in OFFERS.values():
        for variant in offer.task.variants:
            assert variant.kind  # noqa: S101  # importing it is the purpose


def _in_time(seconds: int, make: Callable[..., Any], *public: Any) -> Any:
    """Make something, or say that it takes too long."""
    try:
        with at_most(seconds):
            return make(*public)
    except TimeoutError:
        raise ServiceError(_TOO_LONG) from None


def _make_plan(facts: str, unit: str, asked: str, most_rows: int) -> dict[str, Any]:
    from privclust.service.questions import plan_of

    declared = parse_facts(json.loads(facts))
    question = FitQuestion.parse(json.loads(asked), declared)
    made = plan_of(question, declared, unit_from(json.loads(unit)), most_rows)
    plain: dict[str, Any] = made.to_dict()
    return plain | {"sentence": _in_plain_words(made, most_rows)}


def _in_plain_words(plan: Any, most_rows: int) -> str:
    """Return what to expect, for readers who know neither inertia nor ratios."""
    measure, error = plan.measure, plan.error_ratio
    if measure.sentence != Measure.sentence:
        usable = "useless" if error > measure.hopeless else "to be used with care"
        verdict = "good" if error <= measure.good else usable
        words: str = measure.sentence.format(name=measure.name, error=error, n_rows=most_rows)
        return f"Expected result: {verdict}. {words}"
    name = {"inertia": "the spread within clusters"}.get(measure.name, f"the {measure.name}")
    if error <= _AS_GOOD:
        return f"Expected result: as good as without privacy, judged by {name}."
    if error < _TWICE:
        return f"Expect {name} to be about {100 * (error - 1):.0f} % larger than without privacy."
    return f"Expect {name} to be about {error:.3g} times that without privacy."


def _dry(facts: str, unit: str, asked: str, most_rows: int) -> str:
    import warnings

    from privclust.release.document import About
    from privclust.service.questions import synthetic_fit

    declared, protects = parse_facts(json.loads(facts)), unit_from(json.loads(unit))
    question = FitQuestion.parse(json.loads(asked), declared)
    n_rows = min(most_rows, _MOST_DRY_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            release = synthetic_fit(question, declared, protects, n_rows).make_release()
        except ValueError as error:
            raise ServiceError(sentence_of(error)) from None
    about = About(
        title="Dry run on synthetic rows", dataset="generated from the schema, no real row"
    )
    page: str = release.with_about(about).to_html()
    return page
