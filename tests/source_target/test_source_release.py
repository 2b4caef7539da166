"""Releases of source-target fits: saved, read back, reported, and made on the command line."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from privclust.cli import app
from privclust.exceptions import DataError, PrivclustWarning, ReleaseError
from privclust.release.release import Release
from privclust.source_target.release import distances_to_centres
from support.command_line import CliRunner
from support.variants import medoids

words_only = pytest.mark.usefixtures("blank_pictures")

RNG = np.random.default_rng(0)
TOWNS = pd.DataFrame(RNG.uniform([40, 0], [50, 10], (80, 2)), columns=["latitude", "longitude"])
HOMES = pd.DataFrame(RNG.normal([43, 3], 0.3, (500, 2)), columns=["latitude", "longitude"])


def fitted(**parameters):
    model = medoids(4, **({"metric": "haversine", "random_state": 0} | parameters))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivclustWarning)
        return model.fit(TOWNS, source=HOMES)


@pytest.mark.parametrize("method", ["rings", "nna", "nas"])
def test_a_release_is_read_back_as_it_was_saved(method, tmp_path):
    release = fitted(method=method).release()
    assert Release.load(release.save(tmp_path / "release", report=True)) == release
    assert "new centres" in repr(release)


def test_new_points_go_to_the_nearest_centre_on_the_globe():
    model = fitted()
    np.testing.assert_array_equal(model.release().predict(TOWNS), model.predict(TOWNS))
    assert set(model.predict(TOWNS.iloc[model.medoid_indices_])) == {0, 1, 2, 3}
    with pytest.raises(DataError, match="missing or infinite"):
        model.release().predict(np.array([[np.nan, 0.0]]))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_released_labels_are_those_of_the_model(metric):
    model = medoids(4, metric=metric, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivclustWarning)
        model.fit(TOWNS, source=HOMES)
    np.testing.assert_array_equal(model.release().predict(TOWNS), model.predict(TOWNS))


def test_the_report_has_a_map_and_marks_the_costs_as_an_estimate():
    page = fitted().release().to_html()
    assert 'aria-label="Map of 80 targets and 4 new centres' in page
    assert "estimate, by the noisy source" in page
    assert "latitude" in page


@words_only
def test_the_report_of_many_columns_has_no_map():
    rng = np.random.default_rng(0)
    model = medoids(3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivclustWarning)
        model.fit(rng.normal(size=(50, 5)), source=rng.normal(size=(300, 5)))
    page = model.release().to_html()
    assert "Map of" not in page
    assert "Curve of the estimated mean distance" in page


def test_a_release_without_what_it_needs_is_refused():
    release = fitted().release()
    parts = {"schema": release.schema, "privacy": release.privacy, "kind": release.kind}
    with pytest.raises(ReleaseError, match="source_positions"):
        Release(
            arrays={k: v for k, v in release.arrays.items() if k != "source_positions"},
            parameters=release.parameters,
            **parts,
        )
    with pytest.raises(ReleaseError, match="needs the parameter"):
        Release(arrays=release.arrays, parameters={}, **parts)


@pytest.fixture
def files(tmp_path):
    TOWNS.assign(town=[f"town {i}" for i in range(80)], people=range(80)).to_csv(
        tmp_path / "towns.csv", index=False
    )
    HOMES.to_csv(tmp_path / "homes.csv", index=False)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def coordinates(files):
    columns = ("--column", "latitude", "--column", "longitude")
    return ("--target", files / "towns.csv", *columns, "--metric", "haversine", "--centers", 3)


@words_only
def test_the_command_chooses_named_centres_and_writes_a_release(files):
    result = run(
        "source-target", "--source", files / "homes.csv", *coordinates(files), "--names", "town",
        "--weights", "people", "--seed", 1, "-o", files / "out", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout.splitlines()[-1])
    assert [centre["name"] for centre in told["centers"]] == [
        f"town {centre['candidate']}" for centre in told["centers"]
    ]
    assert Release.load(files / "out").kind == "source_target"
    assert (files / "out" / "report.html").exists()


@words_only
def test_the_command_shows_a_table(files):
    place = ("-o", files / "out")
    result = run("source-target", "--source", files / "homes.csv", *coordinates(files), *place)
    assert result.exit_code == 0, result.output
    assert "differentially private with ε = 1" in result.stdout


def test_the_plan_reads_no_source(files):
    result = run("plan", "source-target", *coordinates(files), "--sources", 500, "--json")
    assert result.exit_code == 0, result.output
    assert 0.9 < json.loads(result.stdout)["error_ratio"] < 2


def test_coordinates_must_be_named(files):
    result = run("source-target", "--source", files / "homes.csv", "--target", files / "towns.csv")
    assert result.exit_code != 0
    assert "Name the columns of coordinates" in f"{result.output}{result.exception}"


def test_a_plan_spends_the_whole_budget_and_no_ledger():
    made = medoids(3, epsilon=2, metric="haversine").plan(300, target=TOWNS)
    assert made.spent.pure == 2
    assert 0.9 < made.error_ratio < 2


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "haversine"])
def test_model_and_release_measure_the_same_distances(metric):
    model = fitted(metric=metric)
    points = TOWNS[1:20]
    distances = distances_to_centres(model.release(), np.asarray(points, np.float64))
    np.testing.assert_array_equal(distances, model.transform(points))
