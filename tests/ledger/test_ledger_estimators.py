"""Estimators and their ledger: every fit is charged before a row is read, however it is run."""

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.exceptions import BudgetGoneError, LeakWarning, LedgerError, UnitMismatchError
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow

# A search compares exact scores, which is a leak of its own; here the charges are counted.
SEARCH = pytest.mark.filterwarnings("ignore::privclust.exceptions.LeakWarning")
ROWS = np.random.default_rng(0).random((60, 2))


def model(ledger: Ledger, **parameters: object) -> PrivateKMeans:
    settings = {"n_clusters": 2, "epsilon": 0.1, "bounds": (0, 1)} | parameters
    return PrivateKMeans(ledger=ledger, dataset="visits", **settings)


def charges(ledger: Ledger) -> int:
    return sum(entry.kind == "charge" for entry in ledger.history())


def test_a_fit_is_charged_and_settled_with_the_digest_of_its_release(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    fitted = model(ledger).fit(ROWS)
    *_, charge, settled = ledger.history()
    assert fitted.privacy_.receipt == f"{charge.request}:{charge.hash}"
    assert charge.purpose == "PrivateKMeans"
    assert charge.epsilon == 10**11
    assert settled.digest == fitted.release().digest


class Untouchable(np.ndarray):
    """Rows that notice when they are read."""

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        raise AssertionError("a row was read")


def test_a_refused_fit_reads_no_row(ledger: Ledger) -> None:
    rows = ROWS.view(Untouchable)
    with pytest.raises(BudgetGoneError):
        model(ledger).fit(rows)
    with pytest.raises(UnitMismatchError):
        model(ledger, unit="replace-row").fit(rows)


def test_a_seeded_fit_is_refused(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    with pytest.raises(ValueError, match="A seeded fit is not private"):
        model(ledger, random_state=0).fit(ROWS)
    assert charges(ledger) == 0


def test_a_plan_costs_nothing(ledger: Ledger) -> None:
    model(ledger, epsilon=1.0).plan(n_rows=100, n_features=2)
    assert charges(ledger) == 0


@SEARCH
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_charges_every_fit(ledger: Ledger, n_jobs: int) -> None:
    ledger.grant("visits", "0.7")
    grid = {"n_clusters": [2, 3]}
    search = GridSearchCV(model(ledger), grid, cv=3, n_jobs=n_jobs, error_score="raise")
    search.fit(ROWS)
    assert charges(ledger) == 3 * 2 + 1
    (pot,) = ledger.balance("visits")
    assert pot.left.epsilon == 0
    ledger.verify()


@SEARCH
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_stops_when_the_budget_is_gone(ledger: Ledger, n_jobs: int) -> None:
    ledger.grant("visits", "0.4")
    grid = {"n_clusters": [2, 3]}
    search = GridSearchCV(model(ledger), grid, cv=3, n_jobs=n_jobs, error_score="raise")
    with pytest.raises(BudgetGoneError, match=r"left is ε = 0 of the granted ε = 0\.4"):
        search.fit(ROWS)
    assert charges(ledger) == 4
    ledger.verify()


@SEARCH
def test_a_search_that_tolerates_failures_ends_with_the_error_as_well(ledger: Ledger) -> None:
    """scikit-learn by default counts a failed fit as NaN; the last fit, on all rows, raises."""
    ledger.grant("visits", "0.4")
    search = GridSearchCV(model(ledger), {"n_clusters": [2, 3]}, cv=3)
    with (
        pytest.warns(FitFailedWarning, match="BudgetGoneError"),
        pytest.warns(UserWarning, match="non-finite"),
        pytest.raises(BudgetGoneError, match="ask the data steward"),
    ):
        search.fit(ROWS)
    assert charges(ledger) == 4


@SEARCH
def test_cross_validation_is_charged(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    cross_val_score(model(ledger), ROWS, cv=5, error_score="raise")
    assert charges(ledger) == 5


def test_the_charge_is_the_budget_of_the_fit(ledger: Ledger) -> None:
    ledger.grant("visits", 1, "1e-6")
    fitted = model(ledger, epsilon=0.5, delta=1e-6).fit(ROWS)
    (pot,) = ledger.balance("visits")
    assert pot.spent.rho >= fitted.privacy_.spent.rho * 10**12
    assert pot.spent.rho - 1 < Budget(0.5, 1e-6).amount * 10**12


def test_a_ledger_stands_in_for_any_estimator(ledger: Ledger) -> None:
    """The protocol is reserve and settle, nothing else."""
    ledger.grant("visits", 1)
    receipt = ledger.reserve("visits", Budget(1), AddRemoveRow(), "anything")
    ledger.settle(receipt, "sha256:0")
    assert charges(ledger) == 1


def test_what_leaks_around_a_fit_is_written_into_the_ledger(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    leaky = make_pipeline(StandardScaler(), model(ledger, bounds=(-5, 5)))
    with pytest.warns(LeakWarning):
        leaky.fit(ROWS)
    settled = ledger.history()[-1]
    assert settled.reasons == list(leaky[-1].privacy_.flaws)
    assert settled.reasons
    assert ledger.statement("visits").promise.startswith("NOT PRIVATE")


def test_a_fit_without_leaks_has_no_flaws(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    model(ledger).fit(ROWS)
    assert ledger.history()[-1].flaws == ""


def test_the_path_of_a_ledger_serves_as_one(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    model(ledger.url).fit(ROWS)
    assert charges(ledger) == 1
    with pytest.raises(LedgerError, match="A ledger is given as"):
        model(7).fit(ROWS)
