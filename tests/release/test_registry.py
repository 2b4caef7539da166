"""An entry of the Deployments Registry and a model card say what a release says, in valid YAML."""

from __future__ import annotations

import pytest
import yaml

from privclust import Release
from privclust.exceptions import ReleaseError
from privclust.release.document import About
from privclust.release.registry import SECTORS, model_card, registry_entry, to_yaml
from support.estimators import ESTIMATORS
from support.registry_facts import SECTORS as KNOWN_SECTORS
from support.registry_facts import TIER_2, TIER_3, check_entry

ABOUT = About(
    title='Visits: "2025"', holder="A clinic", purpose="Planning", dataset="visits # of 2025"
)
RELEASES = {record.name: record for record in ESTIMATORS}


@pytest.fixture(scope="module")
def released():
    return RELEASES["PrivateKMeans"].fitted().release().with_about(ABOUT)


@pytest.mark.parametrize("name", RELEASES)
def test_every_kind_of_release_makes_a_valid_entry_of_every_tier(name):
    release = RELEASES[name].fitted().release().with_about(ABOUT)
    for tier in (1, 2, 3):
        entry = registry_entry(release, region="Italy", sector="Healthcare", tier=tier)
        check_entry(entry)
        assert yaml.safe_load(to_yaml(entry)) == entry
    assert model_card(release).startswith("---\n")


def test_tiers_tell_more_and_more(released):
    parts = [
        set(registry_entry(released, region="Italy", tier=tier)["deployment"]) for tier in (1, 2, 3)
    ]
    assert parts[0] == {"basic", "administrative"}
    assert parts[1] == parts[0] | set(TIER_2)
    assert parts[2] == parts[0] | set(TIER_3)
    assert SECTORS == KNOWN_SECTORS


def test_an_entry_says_what_the_release_says(released):
    entry = registry_entry(released, region="Italy", authors=["A. Writer"])
    deployment = entry["deployment"]
    assert entry["url_slug"] == "visits_2025"
    assert deployment["basic"]["data_curators"] == ["A clinic"]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.0}
    assert deployment["privacy_loss"]["privacy_unit_details"] == released.privacy.protects
    assert "discrete Laplace noise" in deployment["implementation"]["mechanisms"]
    assert deployment["administrative"]["registry_authors"] == ["A. Writer"]
    with_delta = RELEASES["PrivateKMeans"].fitted(delta=1e-6).release().with_about(ABOUT)
    loss = registry_entry(with_delta, region="Italy")["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 2.0, "delta": 1e-6}


@pytest.mark.parametrize("missing", ["title", "holder", "purpose"])
def test_a_release_without_what_the_registry_asks_for_is_refused(released, missing):
    about = About(**{k: v for k, v in ABOUT.lines.items() if k != missing})
    with pytest.raises(ReleaseError, match=f"has no {missing}, .* describe --{missing}"):
        registry_entry(released.with_about(about), region="Italy")


def test_a_release_without_region_sector_or_privacy_is_refused(released):
    with pytest.raises(ReleaseError, match="region of the data"):
        registry_entry(released, region=" ")
    with pytest.raises(ReleaseError, match="no sector 'Fishing'"):
        registry_entry(released, region="Italy", sector="Fishing")
    seeded = RELEASES["PrivateKMeans"].seeded().release().with_about(ABOUT)
    with pytest.raises(ReleaseError, match="NOT PRIVATE"):
        registry_entry(seeded, region="Italy")


def test_every_folder_has_a_card_and_a_file_has_none(released, tmp_path):
    released.save(tmp_path / "release")
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    assert card == model_card(released)
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["epsilon"] == 2
    assert front["private"] is True
    assert front["digest"] == released.digest
    assert front["model_name"] == 'Visits: "2025"'
    assert "# Visits: " in card
    assert "visits \\# of 2025" in card
    assert Release.load(tmp_path / "release") == released
    released.save(tmp_path / "release", overwrite=True)
    released.save(tmp_path / "one.privclust")
    assert Release.load(tmp_path / "one.privclust") == released


def test_the_card_of_a_release_that_is_not_private_says_so():
    card = model_card(RELEASES["PrivateKMeans"].seeded().release())
    assert "NOT PRIVATE" in card
    assert "private: false" in card
