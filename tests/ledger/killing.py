"""Forks processes that fit and publish, and kills each at a random moment; started by a test.

One process imports everything and forks the others, so that hundreds of kills take seconds.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from privclust import PrivateKMeans
from privclust.ledger.ledger import Ledger


def main(url: str, releases: str, kills: str) -> None:
    """Kill ``kills`` children; each appends the receipts of what it published to ``releases``."""
    rows = np.random.default_rng(0).random((100, 2))
    PrivateKMeans(2, bounds=(0, 1)).fit(rows)
    ledger, chance = Ledger.open(url), random.Random()
    usual = seconds_of_one(ledger, Path(releases), rows)
    for _ in range(int(kills)):
        child = os.fork()
        if child == 0:
            publish(ledger, Path(releases), rows, for_ever=True)
        time.sleep(chance.uniform(0, 1.5 * usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def seconds_of_one(ledger: Ledger, releases: Path, rows: np.ndarray) -> float:
    """Return how long a child takes that may come to its end."""
    begin, child = time.monotonic(), os.fork()
    if child == 0:
        publish(ledger, releases, rows, for_ever=False)
        os._exit(0)
    os.waitpid(child, 0)
    return time.monotonic() - begin


def publish(ledger: Ledger, releases: Path, rows: np.ndarray, *, for_ever: bool) -> None:
    """Fit and publish; a release is published when its receipt is in the file."""
    model = PrivateKMeans(2, bounds=(0, 1), ledger=ledger, dataset="visits")
    with open(releases, "ab", buffering=0) as file:
        while True:
            model.fit(rows)
            file.write(f"{model.privacy_.receipt}\n".encode())
            if not for_ever:
                return


main(*sys.argv[1:])
