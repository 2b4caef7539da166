"""Releases, reports and the command line of the categorical family."""

from __future__ import annotations

import json

import numpy as np
import pytest

from privclust.categories.estimator import PrivateDilca
from privclust.cli import app
from privclust.clustering.categorical import PrivateCategoricalKMeans
from privclust.exceptions import ReleaseError
from privclust.release.release import Release
from support.command_line import CliRunner
from support.survey import SCHEMA, survey

pytestmark = pytest.mark.usefixtures("blank_pictures")

ROWS = survey(1000)


@pytest.fixture(scope="module")
def clusters():
    return PrivateCategoricalKMeans(3, epsilon=2, schema=SCHEMA).fit(ROWS)


@pytest.fixture(scope="module")
def metric():
    return PrivateDilca(epsilon=2, schema=SCHEMA, targets=["city", "sex"]).fit(ROWS)


def test_a_saved_release_labels_rows_like_the_estimator(clusters, tmp_path):
    clusters.release().save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    np.testing.assert_array_equal(loaded.predict(ROWS), clusters.predict(ROWS))


def test_a_metric_without_clusters_says_so_when_asked_for_labels(metric):
    with pytest.raises(ReleaseError, match="no clusters"):
        metric.release().predict(ROWS)


def test_a_release_keeps_distances_and_contexts(metric):
    from privclust.categories.release import attribute_points, distances

    release = metric.release()
    found = distances(attribute_points(release, 0))
    np.testing.assert_allclose(found, metric.distance_matrix("city"), atol=1e-9)
    names = np.array(SCHEMA.names)
    assert tuple(names[release.arrays["contexts"][0] > 0]) == metric.contexts_["city"]
    assert release.arrays["learned"].tolist() == [1, 0, 0, 1]


def test_arrays_that_do_not_fit_are_refused(clusters):
    release = clusters.release()

    def remade(arrays):
        return Release(
            kind="categorical",
            arrays=arrays,
            schema=release.schema,
            parameters={},
            privacy=release.privacy,
        )

    arrays = {**release.arrays, "value_points": release.arrays["value_points"][:-1]}
    with pytest.raises(ReleaseError, match="fit"):
        remade(arrays)
    del arrays["value_points"]
    with pytest.raises(ReleaseError, match="'value_points'"):
        remade(arrays)


def test_the_report_shows_each_attribute_its_context_and_the_noise(metric, tmp_path):
    metric.release().report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("Heat map of the distances") >= 2
    assert "Map of the 4 values of city" in page
    assert ", ".join(metric.contexts_["city"]) in page
    assert "Hamming" in page
    assert f"{metric.cell_error_:,.3g}" in page


def test_the_report_of_clusters_shows_sizes_and_typical_values(clusters, tmp_path):
    clusters.release().report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "How large the clusters are" in page
    assert "income = " in page


@pytest.fixture
def files(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    SCHEMA.save(tmp_path / "schema.toml")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("wanted", [[], ["-k", "2"]])
def test_the_command_writes_release_and_report(files, wanted):
    place = files / "out"
    schema = files / "schema.toml"
    result = run(
        "categorical", files / "rows.csv", "--schema", schema, "-o", place, "--json", *wanted
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert set(told["attributes"]) == set(SCHEMA.names)
    assert ("clusters" in told) == bool(wanted)
    assert Release.load(place).kind == "categorical"
    assert (place / "report.html").exists()


def test_the_command_tells_what_it_would_ask(files):
    result = run("plan", "categorical", "--schema", files / "schema.toml", "--rows", 50_000)
    assert result.exit_code == 0, result.output
    assert "tables along the tree" in result.stdout


@pytest.mark.parametrize(
    "wrong", [["-k", "2", "--per-target"], ["--unit", "person"], ["--holder", "x"]]
)
def test_the_command_refuses_what_makes_no_sense(files, wrong):
    schema = files / "schema.toml"
    result = run("categorical", files / "rows.csv", "--schema", schema, "-o", files / "o", *wrong)
    assert result.exit_code != 0
    assert not (files / "o").exists()
