"""``privclust release registry`` writes what the registry takes, or says what is missing."""

from __future__ import annotations

import json

import pytest
import yaml

from privclust.release.document import About
from support.estimators import ESTIMATORS
from support.registry_facts import check_entry


@pytest.fixture(scope="module")
def released():
    record = next(record for record in ESTIMATORS if record.name == "PrivateKMeans")
    return record.fitted().release()


def test_the_command_writes_or_shows_the_entry(released, tmp_path, run):
    about = About(title="Visits", holder="A clinic", purpose="Planning")
    released.with_about(about).save(tmp_path / "release")
    path = str(tmp_path / "release")
    shown = run("release", "registry", path, "--region", "Italy", "--sector", "Energy")
    assert yaml.safe_load(shown.stdout)["deployment"]["basic"]["data_product_sector"] == "Energy"
    plain = run("release", "registry", path, "--region", "Italy", "--tier", "1", "--json")
    assert json.loads(plain.stdout)["tier"] == 1
    output = tmp_path / "entry.yaml"
    assert run("release", "registry", path, "--region", "Italy", "-o", str(output)).exit_code == 0
    check_entry(yaml.safe_load(output.read_text("utf-8")))
    again = run("release", "registry", path, "--region", "Italy", "-o", str(output))
    assert again.exit_code != 0
    assert "exists" in again.stderr


def test_a_release_without_a_title_is_refused_in_one_sentence(released, tmp_path, run):
    released.save(tmp_path / "release")
    result = run("release", "registry", tmp_path / "release", "--region", "Italy")
    assert result.exit_code != 0
    assert "has no title" in result.stderr
    assert "privclust release describe --title" in result.stderr
