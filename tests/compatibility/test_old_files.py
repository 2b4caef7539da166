"""The promise of ``docs/reference/compatibility.md``: files of earlier versions are still read.

The files in ``golden_0_1`` and ``golden_0_2`` were written by the code of that time; they are never
written again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from privclust import Box, Budget, Ledger, Release, Schema
from privclust.clustering import Summary
from privclust.exceptions import BudgetGoneError, LedgerVersionError
from privclust.unit.rows import AddRemoveRow, Person

HERE = Path(__file__).parent
GOLDEN = HERE / "golden_0_1"
AGES = {"golden_0_1/first": "0.1.0", "golden_0_1/last": "0.1.0", "golden_0_2/first": "0.2.0"}
TOLD = {
    f"{age}/{name}": told
    for age in AGES
    for name, told in json.loads((HERE / age / "told.json").read_text("utf-8")).items()
}
LABELLED = [name for name, told in TOLD.items() if "labels" in told]


@pytest.fixture
def ledger(tmp_path):
    """A copy of the last ledger of 0.1, which may be charged."""
    return Ledger.open(shutil.copy(GOLDEN / "last" / "ledger.db", tmp_path / "ledger.db"))


@pytest.mark.parametrize("version", ["0_1", "0_2"])
def test_every_kind_of_release_is_there(version):
    kinds = {Release.load(HERE / name).kind for name in TOLD if version in name}
    assert kinds >= {"kmeans", "summary", "coclustering", "categorical", "source_target", "bounds"}


@pytest.mark.parametrize("name", TOLD)
def test_a_release_is_read_with_the_digest_it_had(name, tmp_path):
    release = Release.load(HERE / name)
    assert release.digest == TOLD[name]["digest"]
    assert release.library_version == AGES[name.rpartition("/")[0]]
    assert release.privacy.private == ("seeded" not in name)
    assert release.facts().summary
    again = Release.load(release.save(tmp_path / "again"))
    assert again == release


@pytest.mark.parametrize("name", LABELLED)
def test_a_release_gives_rows_the_labels_it_gave(name):
    told = TOLD[name]
    rows = pd.DataFrame(told["rows"])
    labels = Release.load(HERE / name).predict(rows if rows.columns[0] != 0 else rows.to_numpy())
    assert labels.tolist() == told["labels"]


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("name", TOLD)
def test_a_release_still_has_a_report(name):
    page = Release.load(HERE / name).to_html()
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


def test_a_ledger_of_0_2_is_verified_and_charged(tmp_path):
    copy = shutil.copy(HERE / "golden_0_2" / "first" / "ledger.db", tmp_path / "ledger.db")
    ledger = Ledger.open(copy)
    receipt = Release.load(HERE / "golden_0_2" / "first" / "kmeans").privacy.receipt
    assert ledger.verify(receipt).entries == 6
    (everyone,) = ledger.balance("visits")
    assert (everyone.granted.epsilon, everyone.spent.epsilon) == (4 * 10**12, 10**12)
    with pytest.raises(BudgetGoneError):
        ledger.reserve("visits", Budget(4), AddRemoveRow(), "too much")
    ledger.reserve("visits", Budget(3), AddRemoveRow(), "the rest")
    assert ledger.verify(receipt).entries == 7


def test_schema_files_of_0_2_mean_what_they_meant():
    numbers = Schema.load(HERE / "golden_0_2" / "first" / "numbers.toml")
    assert numbers["age"] == Box(0, 100, missing=50)
    mixed = Schema.load(HERE / "golden_0_2" / "first" / "mixed.json")
    assert list(mixed) == ["age", "cost", "ward", "born"]
    assert mixed["born"] == Box("1900-01-01", "2020-01-01")


def test_a_summary_of_0_2_answers_with_the_clusters_it_gave():
    folder = HERE / "golden_0_2" / "first"
    then = Release.load(folder / "summary-clusters").arrays["cluster_centers"]
    now = Summary(Release.load(folder / "summary")).kmeans(2).arrays["cluster_centers"]
    assert now == pytest.approx(then, rel=0.05)


def test_a_ledger_of_the_first_version_is_refused_in_one_sentence(tmp_path):
    copy = shutil.copy(GOLDEN / "first" / "ledger.db", tmp_path / "ledger.db")
    with pytest.raises(LedgerVersionError, match="begin a new ledger") as told:
        Ledger.open(copy).balance("visits")
    assert str(told.value).count(". ") == 0
