"""Load on the service: analysts who browse and plan at the same time, on this machine alone.

    python benchmarks/service.py --analysts 200 --seconds 600

Starts a server on 127.0.0.1 with made-up data and an account with a budget for every analyst, and
lets them look at pages and plans with a pause of two seconds or so between them, each beginning
somewhere on the way. Writes the times of all requests by page to
``benchmarks/results/service-load.csv``, with the processor time that the server needs for a
request, the memory of the server and of the processes beneath it after the first tenth of the time,
at most, and at the end, and the load of the machine beforehand. Where others work on the machine,
``--first`` lets them give way to the service and its analysts, and the file says so; it needs the
rights of an administrator. Draws the table of the operator's guide from the file.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
from argon2 import PasswordHasher

from keeping import markdown, put_table, read_rows, write_rows
from privclust.service.accounts import Accounts
from privclust.service.database import Database
from privclust.service.registered import Datasets

SRC = Path(__file__).parents[1] / "src"
# Seconds in which the worker and the planner import what they need.
WARMING = 15.0
# Seconds between two pages of an analyst, on average.
PAUSE = 2.0
GUIDE = Path(__file__).parents[1] / "docs" / "research" / "service.md"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(folder: Path, port: int) -> subprocess.Popen:
    """Start the demo."""
    environment = os.environ | {
        "PYTHONPATH": str(SRC),
        "PRIVCLUST_SERVICE_SIGN_INS_PER_MINUTE": "100000",
    }
    command = [sys.executable, "-m", "privclust", "serve", "--demo", "--port", str(port)]
    command += ["--data", str(folder / "data"), "--database", str(folder / "service.db")]
    with open(folder / "log", "w") as log:
        server = subprocess.Popen(  # noqa: S603
            command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
    for line in server.stdout or ():
        if line.startswith("Serving"):
            break
    wait_for(port)
    return server


def wait_for(port: int) -> None:
    """Return when somebody listens, which on a busy machine is a while after it was said."""
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError("The server does not listen.")


def family(process: int) -> list[int]:
    """Return a process and those beneath it: the worker and the planner."""
    children = Path(f"/proc/{process}/task").glob("*/children")
    return [process, *(int(it) for file in children for it in file.read_text().split())]


def memory(process: int) -> float:
    """Return the resident megabytes of a process and of those beneath it."""
    texts = [Path(f"/proc/{it}/status").read_text() for it in family(process)]
    return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in texts) / 1024


def put_first(process: int) -> None:
    """Let a process, and behind it those beneath it, come before all others on the machine."""
    for it in family(process):
        first = os.sched_param(10 if it == process else 5)
        for task in Path(f"/proc/{it}/task").iterdir():
            os.sched_setscheduler(int(task.name), os.SCHED_RR, first)


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has used, without those beneath it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sessions(folder: Path, analysts: int) -> list[str]:
    """Make accounts with budgets on both data sets, and return the cookie of each."""
    database = Database.open(str(folder / "service.db"))
    people = Accounts(database, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    datasets, cookies = Datasets(database, (folder / "data").resolve()), []
    for number in range(analysts):
        name = f"analyst {number}"
        people.add(name, "analyst")
        for dataset in datasets.all():
            datasets.grant(dataset, people.by_name(name), "4", "0", "")
        cookies.append(people.sign_in_external(name) or "")
    return cookies


class Analyst:
    """Somebody who looks at one page after the other.

    Parameters
    ----------
    client : httpx.AsyncClient
        Signed in.
    number : int
        Decides what is looked at, and when.
    times, waits : dict, list
        Where seconds and status of each request are put, and how long the error of a plan took.
    """

    def __init__(self, client, number, times, waits) -> None:
        self._client, self._rng = client, np.random.default_rng(number)
        self._times, self._waits = times, waits

    async def browse(self, until: float) -> None:
        await self._pause()
        first = await self._get("data sets", "/")
        places = re.findall(r'href="(/datasets/\w+)"', first.text)
        skipped = int(self._rng.integers(6))
        while True:  # one round at least
            for name, path in [*self._round(places).items()][skipped:]:
                await self._pause()
                await (self._plan(path, until) if name == "plan" else self._get(name, path))
            skipped = 0
            if time.monotonic() >= until:
                return

    def _round(self, places: list[str]) -> dict[str, str]:
        rng = self._rng
        place, k = places[rng.integers(len(places))], rng.integers(2, 6)
        plan = f"{place}/ask/kmeans/plan?epsilon={rng.choice(['0.5', '1', '2'])}&clusters={k}"
        paths = {"data sets": "/", "data set": place, "form": f"{place}/ask/kmeans"}
        return paths | {"plan": plan, "jobs": "/jobs", "releases": "/releases"}

    async def _pause(self) -> None:
        await asyncio.sleep(float(self._rng.exponential(PAUSE)))

    async def _get(self, name: str, path: str) -> httpx.Response | None:
        began, status, answer = time.monotonic(), 0, None
        with suppress(httpx.TransportError):
            answer = await self._client.get(path)
            status = answer.status_code
        self._times[name].append((time.monotonic() - began, status))
        return answer

    async def _plan(self, path: str, until: float) -> None:
        """Ask until the error is there, as the script of the page does, or the time is over."""
        asked, pause = time.monotonic(), 1.0
        while True:
            answer = await self._get("plan", path)
            ready = answer is None or answer.json().get("ready", True)
            if ready or time.monotonic() >= until:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, 8.0)
        self._waits.append(time.monotonic() - asked)


async def analyst(url, cookie, number, until, times, waits) -> None:
    given = {"base_url": url, "cookies": {"session": cookie}, "timeout": 60, "verify": False}
    async with httpx.AsyncClient(**given) as client:
        await Analyst(client, number, times, waits).browse(until)


async def watched(process: int, seconds: float, memories: list[float]) -> None:
    for _ in range(10):
        await asyncio.sleep(seconds / 10)
        memories.append(memory(process))


async def measured(url: str, cookies: list[str], process: int, seconds: float):
    times, waits, memories = defaultdict(list), [], []
    until = time.monotonic() + seconds
    people = (analyst(url, it, n, until, times, waits) for n, it in enumerate(cookies))
    await asyncio.gather(watched(process, seconds, memories), *people)
    return times, waits, memories


def draw() -> None:
    """Put the table of the results file into the operator's guide."""
    rows = read_rows("service-load")
    heads = ["page", "requests", "failed", "median, ms", "p99, ms"]
    names = ["page", "requests", "failed", "median_ms", "p99_ms"]
    lines = [[it[name] for name in names] for it in rows]
    about = rows[0]
    words = (
        f"{about['analysts']} analysts for {float(about['seconds']):.0f} seconds, "
        f"{about['machine']}, {about['setting']}; {about['cpu_ms']} ms of processor time of the "
        f"server for a request; memory of the server, its worker and its planner "
        f"{about['memory_tenth_mb']} MB after a tenth of the time, {about['memory_most_mb']} MB at "
        f"most, {about['memory_end_mb']} MB at the end; commit {about['commit']}, {about['date']}."
    )
    put_table(GUIDE, "service-load", f"\n{markdown(heads, lines)}\n\n{words}\n")


def table(times, waits, memories, cpu: float, analysts: int, seconds: float) -> list[dict]:
    """Return a row for each page, one for all, and one for the time until a plan is there."""
    everything = {**times, "all": [it for found in times.values() for it in found]}
    shared = {
        "cpu_ms": round(1000 * cpu / len(everything["all"]), 1),
        "memory_tenth_mb": round(memories[0]),
        "memory_most_mb": round(max(memories)),
        "memory_end_mb": round(memories[-1]),
    }
    everything["until the error is there"] = [(wait, 200) for wait in waits]
    rows = []
    for name, found in everything.items():
        spent = np.array([seconds for seconds, _ in found])
        row = {"page": name, "analysts": analysts, "seconds": seconds, "requests": len(found)}
        row["failed"] = sum(status != 200 for _, status in found)
        row["median_ms"] = round(1000 * float(np.median(spent)))
        row["p99_ms"] = round(1000 * float(np.quantile(spent, 0.99)))
        rows.append(row | shared)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server = started(Path(folder), port)
        try:
            time.sleep(WARMING)
            url, load = f"http://127.0.0.1:{port}", os.getloadavg()[0]
            cookies = sessions(Path(folder), options.analysts)
            if options.first:
                put_first(os.getpid())
                put_first(server.pid)
            before = processor_seconds(server.pid)
            found = asyncio.run(measured(url, cookies, server.pid, options.seconds))
            cpu = processor_seconds(server.pid) - before
        finally:
            server.terminate()
            server.wait()
            if server.stdout:
                server.stdout.close()
    rows = table(*found, cpu, options.analysts, options.seconds)
    for row in rows:
        print(row)
    setting = f"load of the machine {load:.0f} before"
    if options.first:
        setting += ", which gave way"
    write_rows("service-load", rows, seed=0, setting=setting)
    draw()


if __name__ == "__main__":
    main()
