"""Many processes at once: exactly the cap is granted, whoever comes first."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from privclust.ledger.ledger import Ledger

PROCESSES, ATTEMPTS, CAP = 8, 200, 400


def test_eight_processes_are_granted_exactly_the_cap(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", CAP * 0.01)
    script = Path(__file__).with_name("charging.py")
    crowd = [sys.executable, script, any_ledger.url, str(PROCESSES), str(ATTEMPTS), "0.01"]
    told = subprocess.run(crowd, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603
    granted = [int(number) for number in told.split()]

    charges = [entry for entry in any_ledger.history() if entry.kind == "charge"]
    (pot,) = any_ledger.balance("visits")
    assert len(granted) == PROCESSES
    assert sum(granted) == len(charges) == CAP
    assert pot.spent.epsilon == pot.granted.epsilon
    purposes = [charge.purpose for charge in charges]
    turns = sum(one != other for one, other in pairwise(purposes))
    assert turns > CAP // 10, "the processes did not overlap"
    any_ledger.verify()
