"""Releases, reports and the command line of the categorical family."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from privclust.categories.estimator import PrivateDilca
from privclust.categories.release import METRIC_ARRAYS, attribute_points, distances
from privclust.cli import app
from privclust.clustering.estimator import PrivateKMeans
from privclust.exceptions import ReleaseError
from privclust.papers.dilca import PrivateContextKMeans
from privclust.release.release import Release
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from support.command_line import CliRunner
from support.survey import SCHEMA, survey

pytestmark = pytest.mark.usefixtures("blank_pictures")

ROWS = survey(1000)


@pytest.fixture(scope="module")
def clusters():
    return PrivateKMeans(3, epsilon=2, schema=SCHEMA, metric="dilca").fit(ROWS)


@pytest.fixture(scope="module")
def of_the_paper():
    return PrivateContextKMeans(3, epsilon=2, schema=SCHEMA).fit(ROWS)


@pytest.fixture(scope="module")
def metric():
    return PrivateDilca(epsilon=2, schema=SCHEMA, targets=["city", "sex"]).fit(ROWS)


@pytest.mark.parametrize("kind", ["clusters", "of_the_paper"])
def test_a_saved_release_labels_rows_like_the_estimator(kind, request, tmp_path):
    model = request.getfixturevalue(kind)
    model.release().save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    np.testing.assert_array_equal(loaded.predict(ROWS), model.predict(ROWS))


def test_a_metric_without_clusters_says_so_when_asked_for_labels(metric):
    with pytest.raises(ReleaseError, match="no clusters"):
        metric.release().predict(ROWS)


def test_a_release_keeps_distances_and_contexts(metric):
    release = metric.release()
    found = distances(attribute_points(release, 0))
    np.testing.assert_allclose(found, metric.distance_matrix("city"), atol=1e-9)
    names = np.array(SCHEMA.names)
    assert tuple(names[release.arrays["contexts"][0] > 0]) == metric.contexts_["city"]
    assert release.arrays["learned"].tolist() == [1, 0, 0, 1]


def test_clusters_by_a_learned_metric_release_the_metric_too(clusters):
    release = clusters.release()
    assert release.kind == "kmeans"
    for place, name in enumerate(SCHEMA.names):
        found = distances(attribute_points(release, place))
        np.testing.assert_allclose(found, clusters.metric_[name].distances(), atol=1e-9)
        context = np.flatnonzero(release.arrays["contexts"][place])
        assert tuple(SCHEMA.names[i] for i in context) == clusters.metric_[name].context
    assert release.arrays["learned"].all()
    assert release.arrays["cell_error"][0] == clusters.cell_error_ > 0
    told = release.facts().values["attributes"]
    assert {name: len(part["distances"]) for name, part in told.items()} == {
        name: fact.size for name, fact in SCHEMA.columns.items()
    }


def test_a_metric_of_an_earlier_fit_is_forgotten(clusters):
    model = PrivateKMeans(3, epsilon=2, schema=SCHEMA, metric="dilca").fit(ROWS)
    model.set_params(metric="mismatch").fit(ROWS)
    assert not hasattr(model, "metric_")
    assert "coordinates" not in model.release().arrays


def test_numbers_and_missing_values_that_are_left_out_have_no_distances():
    facts = dict(SCHEMA.columns)
    city = replace(facts.pop("city"), missing="omit")
    schema = Schema({"age": Box(0, 100), "city": city, **facts})
    rows = ROWS.assign(age=40.0)
    rows.loc[:100, "city"] = None
    model = PrivateKMeans(3, epsilon=5, schema=schema, metric="dilca").fit(rows)
    assert "age" not in model.metric_.attributes
    assert model.metric_["city"].labels == city.labels
    arrays = model.release().arrays
    assert arrays["learned"].tolist() == [0, 1, 1, 1, 1]
    assert len(arrays["coordinates"]) == sum(schema[name].size for name in schema.categorical)
    found = distances(attribute_points(model.release(), 1))
    np.testing.assert_allclose(found, model.metric_["city"].distances(), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("coordinates", lambda array: array[:-1], "one line per value"),
        ("learned", lambda array: array[:-1], "do not fit the columns"),
        ("contexts", lambda array: array[:, :-1], "do not fit the columns"),
        ("cell_error", None, "lacks the array 'cell_error'"),
    ],
)
def test_a_metric_that_does_not_fit_its_clusters_is_refused(clusters, name, change, sentence):
    release = clusters.release()
    arrays = dict(release.arrays)
    taken = arrays.pop(name)
    if change is not None:
        arrays[name] = change(taken)
    with pytest.raises(ReleaseError, match=sentence):
        replace(release, arrays=arrays)


def test_clusters_released_without_their_metric_are_read_as_before(clusters):
    release = clusters.release()
    arrays = {name: it for name, it in release.arrays.items() if name not in METRIC_ARRAYS}
    older = replace(release, arrays=arrays)
    np.testing.assert_array_equal(older.predict(ROWS), clusters.predict(ROWS))
    assert "attributes" not in older.facts().values
    assert "How far apart the values" not in older.to_html()


def test_arrays_that_do_not_fit_are_refused(of_the_paper):
    release = of_the_paper.release()

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


def test_the_report_of_clusters_shows_sizes_shares_and_distances(clusters, of_the_paper):
    page = clusters.release().to_html()
    assert "groups of similar rows (clusters)" in page
    assert re.search(r"income (mostly|more often|less often) \w+ <span>\(\d+ %, on average", page)
    assert "draw" not in page.split("</style>")[1].replace("withdrawn", "")
    for name, fact in SCHEMA.columns.items():
        assert f"Heat map of the distances between the {fact.size} values of {name};" in page
    assert f"{clusters.cell_error_:,.3g} rows in each cell" in page
    page = of_the_paper.release().to_html()
    assert "groups of similar rows (clusters)" in page
    assert "Which values are how frequent in a cluster is not part of this release" in page


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
    assert Release.load(place).kind == ("kmeans" if wanted else "categorical")
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
