"""Forks processes that charge a ledger again and again, all from the same moment; run by a test."""

import os
import random
import sys
import time

from privclust.budget import Budget
from privclust.exceptions import BudgetGoneError
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow


def main(url: str, processes: str, attempts: str, epsilon: str) -> None:
    """Start the processes, and print how many charges each was granted."""
    barrier, start = os.pipe()
    results, result = os.pipe()
    children = []
    for number in range(int(processes)):
        child = os.fork()
        if child == 0:
            os.close(start)
            os.read(barrier, 1)  # returns when the parent closes the other end
            granted = charge(url, int(attempts), Budget(epsilon), f"worker {number}")
            os.write(result, f"{granted}\n".encode())
            os._exit(0)
        children.append(child)
    os.close(start)
    os.close(result)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    print(os.read(results, 10_000).decode())
    sys.exit(max(statuses))


def charge(url: str, attempts: int, budget: Budget, purpose: str) -> int:
    """Charge as often as we are told, and count how often it was granted."""
    ledger, granted, chance = Ledger.open(url, timeout=120), 0, random.Random()
    for _ in range(attempts):
        time.sleep(chance.uniform(0, 0.002))  # or one process does all its charges at once
        try:
            ledger.reserve("visits", budget, AddRemoveRow(), purpose)
        except BudgetGoneError:
            continue
        granted += 1
    return granted


main(*sys.argv[1:])
