"""Load on the service: analysts who browse and plan at the same time, on this machine alone.

    python benchmarks/service.py --analysts 200 --seconds 60

Starts a server on 127.0.0.1 with made-up data, and lets every analyst look at pages and plans with
a pause of two seconds or so between them. Writes the times of all requests by page to
``benchmarks/results/service-load.csv``, with the server's memory at the begin and at the end.
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

from keeping import write_rows

PASSWORD = "a password for the load"  # noqa: S105
SRC = Path(__file__).parents[1] / "src"
# Seconds in which the worker and the planner import what they need.
WARMING = 15.0
# Seconds between two pages of an analyst, on average.
PAUSE = 2.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(folder: Path, port: int) -> tuple[subprocess.Popen, dict[str, str]]:
    """Start the demo, and return it with its one-time passwords."""
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
    passwords = {}
    for line in server.stdout or ():
        if found := re.match(r"One-time password of (\w+), shown this once: (\S+)", line):
            passwords[found[1]] = found[2]
        if line.startswith("Serving"):
            break
    return server, passwords


def memory(process: int) -> float:
    """Return the resident megabytes of a process."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


async def form(client: httpx.AsyncClient, path: str, to: str, **fields: str) -> httpx.Response:
    page = (await client.get(path)).text
    token = re.search(r'name="form" value="([^"]*)"', page)[1]
    return await client.post(to, data={"form": token, **fields})


async def session(url: str, password: str) -> dict[str, str]:
    """Return the cookies of the demo's analyst, who all of them are."""
    headers = {"Origin": url}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        await form(client, "/sign-in", "/sign-in", name="analyst", password=password)
        await form(client, "/password", "/password", old=password, new=PASSWORD)
        await form(client, "/sign-in", "/sign-in", name="analyst", password=PASSWORD)
        return dict(client.cookies)


async def analyst(url, cookies, number, until, times, waits) -> None:
    rng = np.random.default_rng(number)
    async with httpx.AsyncClient(base_url=url, cookies=cookies, timeout=60) as client:
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


async def measured(url: str, password: str, analysts: int, seconds: float):
    cookies, times, waits = await session(url, password), defaultdict(list), []
    until = time.monotonic() + seconds
    people = (analyst(url, cookies, n, until, times, waits) for n in range(analysts))
    await asyncio.gather(*people)
    return times, waits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server, passwords = started(Path(folder), port)
        try:
            time.sleep(WARMING)
            before = memory(server.pid)
            url = f"http://127.0.0.1:{port}"
            times, waits = asyncio.run(
                measured(url, passwords["analyst"], options.analysts, options.seconds)
            )
            after = memory(server.pid)
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
                "memory_before_mb": round(before),
                "memory_after_mb": round(after),
            }
        )
        print(rows[-1])
    write_rows("service-load", rows, seed=0, setting=f"load {os.getloadavg()[0]:.0f} before")


if __name__ == "__main__":
    main()
