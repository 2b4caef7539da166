"""The promise of ``docs/reference/compatibility.md``: files that version 0.1 wrote are still read.

The files in ``golden_0_1`` were written by the code of that time; they are never written again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from privclust import Budget, Ledger, Release
from privclust.exceptions import BudgetGoneError, LedgerVersionError
from privclust.unit.rows import AddRemoveRow, Person

GOLDEN = Path(__file__).parent / "golden_0_1"
TOLD = {
    f"{age}/{name}": told
    for age in ("first", "last")
    for name, told in json.loads((GOLDEN / age / "told.json").read_text("utf-8")).items()
}
LABELLED = [name for name, told in TOLD.items() if "labels" in told]


@pytest.fixture
def ledger(tmp_path):
    """A copy of the last ledger of 0.1, which may be charged."""
    return Ledger.open(shutil.copy(GOLDEN / "last" / "ledger.db", tmp_path / "ledger.db"))


def test_every_kind_of_release_is_there():
    kinds = {Release.load(GOLDEN / name).kind for name in TOLD}
    assert kinds >= {"kmeans", "summary", "coclustering", "categorical", "source_target", "bounds"}


@pytest.mark.parametrize("name", TOLD)
def test_a_release_is_read_with_the_digest_it_had(name, tmp_path):
    release = Release.load(GOLDEN / name)
    assert release.digest == TOLD[name]["digest"]
    assert release.library_version == "0.1.0"
    assert release.privacy.private == ("seeded" not in name)
    assert release.facts().summary
    again = Release.load(release.save(tmp_path / "again"))
    assert again == release


@pytest.mark.parametrize("name", LABELLED)
def test_a_release_gives_rows_the_labels_it_gave(name):
    told = TOLD[name]
    rows = pd.DataFrame(told["rows"])
    labels = Release.load(GOLDEN / name).predict(rows if rows.columns[0] != 0 else rows.to_numpy())
    assert labels.tolist() == told["labels"]


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("name", TOLD)
def test_a_release_still_has_a_report(name):
    page = Release.load(GOLDEN / name).to_html()
    assert ("NOT PRIVATE" in page) == ("seeded" in name)


def test_a_seed_of_the_first_releases_is_told_as_a_flaw():
    seeded = Release.load(GOLDEN / "first" / "kmeans-seeded.privclust")
    assert seeded.privacy.seeded
    assert "seed" in seeded.privacy.flaws[0]


def test_a_signature_still_holds():
    key = (GOLDEN / "last" / "office.pub").read_text("utf-8").strip()
    assert Release.load(GOLDEN / "last" / "kmeans").verify(key) == key


def test_a_ledger_is_verified_read_and_stated(ledger):
    assert ledger.verify().entries == 10
    assert ledger.datasets() == ["visits", "stays"]
    everyone, ada = ledger.balance("visits")
    assert (everyone.granted.epsilon, everyone.spent.epsilon) == (4 * 10**12, 2 * 10**12)
    assert 0 < ada.spent.rho < ada.granted.rho
    statement = ledger.statement("visits")
    assert [key.purpose for key in statement.keys] == ["Data office"]
    assert statement.head == ledger.head()


def test_a_ledger_still_refuses_what_is_spent_and_takes_what_is_left(ledger):
    with pytest.raises(BudgetGoneError):
        ledger.reserve("visits", Budget(3), AddRemoveRow(), "too much")
    ledger.reserve("visits", Budget(2), AddRemoveRow(), "the rest")
    ledger.reserve("stays", Budget(1), Person("id", 2), "people")
    assert ledger.verify().entries == 12


def test_a_release_still_proves_that_its_ledger_is_not_older(ledger):
    receipt = Release.load(GOLDEN / "last" / "kmeans").privacy.receipt
    assert ledger.verify(receipt).entries == 10


def test_a_ledger_of_the_first_version_is_refused_in_one_sentence(tmp_path):
    copy = shutil.copy(GOLDEN / "first" / "ledger.db", tmp_path / "ledger.db")
    with pytest.raises(LedgerVersionError, match="begin a new ledger") as told:
        Ledger.open(copy).balance("visits")
    assert str(told.value).count(". ") == 0
