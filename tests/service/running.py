"""A server that really runs: its own process, its own port, and the worker beneath it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import privclust


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_ours(process: int) -> bool:
    """Tell whether a process still runs, and is not another one with a number used again."""
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


@dataclass
class Running:
    """A server on a folder, which can be killed and started again."""

    folder: Path
    database: str
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None
    passwords: dict[str, str] = field(default_factory=dict)
    orphans: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Running:
        """Start the server and wait until it is well, the worker included."""
        environment = os.environ | {
            "PYTHONPATH": str(Path(privclust.__file__).parents[1]),
            "OMP_NUM_THREADS": "1",
            "PRIVCLUST_SERVICE_TICK_SECONDS": "1",
            "PRIVCLUST_SERVICE_INSTANCE": "here",
            "PRIVCLUST_SERVICE_HEAD_FILE": str(self.folder / "service.db.head"),
            "PRIVCLUST_SERVICE_SIGN_INS_PER_MINUTE": "100",
        }
        command = [sys.executable, "-m", "privclust", "serve", "--port", str(self.port)]
        command += ["--data", str(self.folder / "data"), "--database", self.database]
        with open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(  # noqa: S603
                command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True
            )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.match(r"One-time password of (\w+), shown only once: (\S+)", line):
                self.passwords[found[1]] = found[2]
            if line.startswith("Serving at"):
                break
        self.wait_until_well()
        return self

    def wait_until_well(self) -> None:
        """Wait until the server and its worker answer."""
        for _ in range(600):
            try:
                with urlopen(f"{self.url}/healthz", timeout=5) as answer:  # noqa: S310
                    if json.load(answer)["status"] == "ok":
                        return
            except (URLError, ConnectionError, TimeoutError):
                pass
            time.sleep(0.1)
        raise AssertionError((self.folder / "server.log").read_text()[-2000:])

    def children(self) -> list[int]:
        """Return the ids of the processes beneath the server: its worker and its planner."""
        assert self.process is not None
        found = []
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                parent = re.search(r"^PPid:\s+(\d+)", status.read_text(), re.MULTILINE)
                line = (status.parent / "cmdline").read_bytes()
            except OSError:
                continue
            if parent and int(parent[1]) == self.process.pid and b"spawn_main" in line:
                found.append(int(status.parent.name))
        return sorted(found)

    def worker(self) -> int | None:
        """Return the id of the worker's process, if it runs."""
        return next(iter(self.children()), None)

    def kill(self) -> None:
        """End the server at once, as a power cut would; what is beneath it must follow."""
        assert self.process is not None
        self.orphans += self.children()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def wait_for_orphans(self) -> None:
        """Wait until nothing is left of servers that were killed."""
        left = self.orphans
        for _ in range(600):
            left = [process for process in left if _is_ours(process)]
            if not left:
                return
            time.sleep(0.1)
        raise AssertionError(f"{len(left)} processes outlive their server")

    def stop(self) -> None:
        """End the server in order."""
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
