"""Load on the service: analysts who browse and plan at the same time, on this machine alone.

    python benchmarks/service.py --analysts 200 --seconds 60

Starts a server on 127.0.0.1 with made-up data and an account with a budget for every analyst, and
lets them look at pages and plans with a pause of two seconds or so between them. Writes the times
of all requests by page to ``benchmarks/results/service-load.csv``, with the server's memory after
the first tenth of the time, at most, and at the end, and the load of the machine beforehand.
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
from pathlib import Path

import httpx
import numpy as np
from argon2 import PasswordHasher

from keeping import markdown, put_table, read_rows, write_rows
from privclust.service.database import Database
from privclust.service.datasets import Datasets
from privclust.service.people import People

SRC = Path(__file__).parents[1] / "src"
# Seconds in which the worker and the planner import what they need.
WARMING = 15.0
# Seconds between two pages of an analyst, on average.
PAUSE = 2.0
GUIDE = Path(__file__).parents[1] / "docs" / "service" / "operator.md"


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
    return server


def memory(process: int) -> float:
    """Return the resident megabytes of a process."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def sessions(folder: Path, analysts: int) -> list[str]:
    """Make accounts with budgets on both data sets, and return the cookie of each."""
    database = Database.opened(str(folder / "service.db"))
    people = People(database, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    datasets, cookies = Datasets(database, (folder / "data").resolve()), []
    for number in range(analysts):
        name = f"analyst {number}"
        people.add(name, "analyst")
        for dataset in datasets.all():
            datasets.grant(dataset, people.named(name), "4", "0", "")
        cookies.append(people.sign_in_vouched(name) or "")
    return cookies


async def analyst(url, cookie, number, until, times, waits) -> None:
    rng = np.random.default_rng(number)
    given = {"base_url": url, "cookies": {"session": cookie}, "timeout": 60, "verify": False}
    async with httpx.AsyncClient(**given) as client:
        await asyncio.sleep(float(rng.uniform(0, PAUSE)))
        places = re.findall(r'href="(/datasets/\w+)"', (await client.get("/")).text)
        while True:  # one round at least
            place, k = places[rng.integers(len(places))], rng.integers(2, 6)
            plan = f"{place}/ask/kmeans/plan?epsilon={rng.choice(['0.5', '1', '2'])}&clusters={k}"
            paths = {"data sets": "/", "data set": place, "form": f"{place}/ask/kmeans"}
            paths |= {"plan": plan, "jobs": "/jobs", "releases": "/releases"}
            for name, path in paths.items():
                asked, pause = time.monotonic(), 1.0
                while True:
                    began = time.monotonic()
                    try:
                        answer = await client.get(path)
                    except httpx.TransportError:
                        times[name].append((time.monotonic() - began, 0))
                        break
                    times[name].append((time.monotonic() - began, answer.status_code))
                    if name != "plan" or answer.json().get("ready", True):
                        break
                    await asyncio.sleep(pause)  # as the script of the page does
                    pause = min(2 * pause, 8.0)
                if name == "plan":
                    waits.append(time.monotonic() - asked)
                await asyncio.sleep(float(rng.exponential(PAUSE)))
            if time.monotonic() >= until:
                return


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
    lines = [
        [it["page"], it["requests"], it["failed"], it["median_ms"], it["p99_ms"]] for it in rows
    ]
    about = rows[0]
    words = (
        f"{about['analysts']} analysts for {float(about['seconds']):.0f} seconds, "
        f"{about['machine']}, {about['setting']}; memory of the server {about['memory_tenth_mb']} "
        f"MB after a tenth of the time, {about['memory_end_mb']} MB at the end; "
        f"commit {about['commit']}, {about['date']}."
    )
    put_table(GUIDE, "service-load", f"\n{markdown(heads, lines)}\n\n{words}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server = started(Path(folder), port)
        try:
            time.sleep(WARMING)
            url, load = f"http://127.0.0.1:{port}", os.getloadavg()[0]
            cookies = sessions(Path(folder), options.analysts)
            times, waits, memories = asyncio.run(
                measured(url, cookies, server.pid, options.seconds)
            )
        finally:
            server.terminate()
            server.wait()
            if server.stdout:
                server.stdout.close()
    rows = []
    everything = {**times, "all": [it for found in times.values() for it in found]}
    everything["until the error is there"] = [(wait, 200) for wait in waits]
    for name, found in everything.items():
        spent = np.array([seconds for seconds, _ in found])
        rows.append(
            {
                "page": name,
                "analysts": options.analysts,
                "seconds": options.seconds,
                "requests": len(found),
                "failed": sum(status != 200 for _, status in found),
                "median_ms": round(1000 * float(np.median(spent))),
                "p99_ms": round(1000 * float(np.quantile(spent, 0.99))),
                "memory_tenth_mb": round(memories[0]),
                "memory_most_mb": round(max(memories)),
                "memory_end_mb": round(memories[-1]),
            }
        )
        print(rows[-1])
    write_rows("service-load", rows, seed=0, setting=f"load of the machine {load:.0f} before")
    draw()


if __name__ == "__main__":
    main()
