"""A state machine: no sequence of acts, repeats and crashes spends more than was granted."""

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from privclust.budget import Budget, rho_within
from privclust.exceptions import BudgetGoneError, LedgerConflictError
from privclust.ledger.accounting import PURE, ZCDP
from privclust.ledger.chain import Entry
from privclust.ledger.ledger import Ledger
from privclust.ledger.replay import replay
from privclust.ledger.store import Book
from privclust.unit.rows import AddRemoveRow

ROW = AddRemoveRow()
HOLDERS = ("Ann", "Bob")
DATASETS = ("visits", "people")
# A disk in memory makes the machine fast; what is durable is tested with real processes.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108

holders, datasets = st.sampled_from(HOLDERS), st.sampled_from(DATASETS)
epsilons = st.sampled_from(["0.05", "0.3", "1", "1/3", "0.0000000000005"])
deltas = st.sampled_from(["0", "0", "1e-6", "1e-9"])
budgets = st.builds(Budget, epsilons, deltas)


class Crash(BaseException):
    """The process dies here."""


def die_after_append(book: Book, entry: Entry) -> Entry:
    """Append, and die before the commit."""
    APPEND(book, entry)
    raise Crash


APPEND = Book.append


class LedgerMachine(RuleBasedStateMachine):
    """A ledger, and beside it plain lists of what was granted and charged."""

    receipts = Bundle("receipts")
    requests = Bundle("requests")

    @initialize()
    def create(self) -> None:
        self.folder = tempfile.mkdtemp(dir=MEMORY)
        self.ledger = Ledger.open(Path(self.folder, "budget.db"))
        for dataset in DATASETS:
            self.ledger.create_dataset(dataset)
        self.granted: dict[tuple[str, str, str], list[Budget]] = {}
        self.charged: dict[tuple[str, str, str], list[Budget]] = {}
        self.digests: dict[str, str] = {}
        self.numbers = 0

    @rule(dataset=datasets, holder=holders, epsilon=st.sampled_from(["0.5", "1"]), delta=deltas)
    def grant(self, dataset: str, holder: str, epsilon: str, delta: str) -> None:
        budget = Budget(epsilon, delta)
        self.ledger.grant(dataset, epsilon, delta, holder=holder)
        name = ZCDP if budget.delta else PURE
        self.granted.setdefault((dataset, holder, name), []).append(budget)

    @rule(target=receipts, dataset=datasets, holder=holders, budget=budgets)
    def reserve(self, dataset: str, holder: str, budget: Budget) -> tuple[str, str] | None:
        request = self._request()
        receipt = self._charge(dataset, holder, budget, request)
        return receipt and (request, receipt)

    @rule(target=requests, dataset=datasets, holder=holders, budget=budgets)
    def reserve_without_hearing_back(
        self, dataset: str, holder: str, budget: Budget
    ) -> tuple[str, str, Budget, str | None, str]:
        request = self._request()
        return dataset, holder, budget, self._charge(dataset, holder, budget, request), request

    @rule(asked=requests)
    def ask_again(self, asked: tuple[str, str, Budget, str | None, str]) -> None:
        dataset, holder, budget, receipt, request = asked
        entries = len(self.ledger.history())
        if receipt is not None:
            again = self._holding(holder).reserve(
                dataset, budget, ROW, "a test", currency=budget.currency, request=request
            )
            assert again == receipt
            assert len(self.ledger.history()) == entries

    @rule(dataset=datasets, holder=holders, budget=budgets)
    def crash_while_reserving(self, dataset: str, holder: str, budget: Budget) -> None:
        before = self.ledger.head()
        Book.append = die_after_append  # type: ignore[method-assign]
        try:
            self._holding(holder).reserve(dataset, budget, ROW, "a test", currency=budget.currency)
        except (Crash, BudgetGoneError):
            pass
        finally:
            Book.append = APPEND  # type: ignore[method-assign]
        assert self.ledger.head() == before

    @rule(paid=receipts, digest=st.sampled_from(["sha256:1", "sha256:2"]))
    def settle(self, paid: tuple[str, str] | None, digest: str) -> None:
        if paid is None:
            return
        request, receipt = paid
        try:
            self.ledger.settle(receipt, digest)
        except LedgerConflictError:
            assert self.digests[request] != digest
        else:
            assert self.digests.setdefault(request, digest) == digest

    @invariant()
    def nothing_is_spent_that_was_not_granted(self) -> None:
        for key, paid in getattr(self, "charged", {}).items():
            grants = self.granted[key]
            epsilon = sum(grant.epsilon for grant in grants)
            delta = sum(grant.delta for grant in grants)
            rho = sum((b.amount if b.delta else b.epsilon**2 / 2 for b in paid), Fraction(0))
            pure = all(budget.delta == 0 for budget in paid)
            assert (
                (pure and sum(budget.epsilon for budget in paid) <= epsilon)
                or (delta and rho <= rho_within(epsilon, delta))
                or (len(paid) == 1 and paid[0].epsilon <= epsilon and paid[0].delta <= delta)
            )

    @invariant()
    def the_balance_is_the_replay_of_the_history(self) -> None:
        if not hasattr(self, "ledger"):
            return
        balance = [pot for name in DATASETS for pot in self.ledger.balance(name)]
        with self.ledger._store().read_transaction() as book:
            state = replay(book.identity(), book.entries())
        assert {(pot.dataset, pot.holder, pot.name): pot for pot in balance} == state.pots
        assert state.pots.keys() == self.granted.keys()
        charges = [entry for entry in self.ledger.history() if entry.kind == "charge"]
        assert len(charges) == sum(map(len, self.charged.values()))

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.verify()
            shutil.rmtree(self.folder)

    def _charge(self, dataset: str, holder: str, budget: Budget, request: str) -> str | None:
        names = (ZCDP,) if budget.delta else (PURE, ZCDP)
        try:
            receipt = self._holding(holder).reserve(
                dataset, budget, ROW, "a test", currency=budget.currency, request=request
            )
        except BudgetGoneError:
            assert not any(self._fits(dataset, holder, name, budget) for name in names)
            return None
        pot = self.ledger.history()[-1].pot
        assert pot in names
        self.charged.setdefault((dataset, holder, pot), []).append(budget)
        return receipt

    def _fits(self, dataset: str, holder: str, name: str, budget: Budget) -> bool:
        """Tell whether a pot has clearly room, by the lists alone."""
        key = (dataset, holder, name)
        grants, paid = self.granted.get(key, []), self.charged.get(key, [])
        pure = all(b.delta == 0 for b in [*paid, budget])
        # A charge of a third is rounded up by less than a unit.
        total = sum(b.epsilon for b in [*paid, budget]) + Fraction(len(paid) + 1, 10**12)
        return pure and total <= sum(grant.epsilon for grant in grants)

    def _holding(self, holder: str) -> Ledger:
        return Ledger.open(self.ledger.url, holder=holder)

    def _request(self) -> str:
        self.numbers += 1
        return f"fit-{self.numbers}"


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=settings().max_examples, stateful_step_count=30, print_blob=True
)
