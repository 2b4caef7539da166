"""Tables for spreadsheets next to a release, pictures on axes, and what notebooks show."""

from __future__ import annotations

import io
import re
from datetime import date

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from privclust import Box, Categories, PrivateKMeans, PrivateSummary, Release, Schema
from privclust.cli.commands import app
from privclust.exceptions import ParameterError
from privclust.release import About
from privclust.release.facts import to_csv
from privclust.release.storage import TABLES
from support.command_line import CliRunner
from support.estimators import ESTIMATORS

mpl.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

SCHEMA = Schema(
    {
        "born": Box("1940-01-01", "2020-12-31"),
        "visits": Box(0, 50, form="integer"),
        "sex": Categories(["f", "m"]),
    }
)
every_estimator = pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(0)
    late = rng.integers(2, size=3000)
    days = pd.to_datetime("1950-01-01") + pd.to_timedelta(late * 20_000, unit="D")
    rows = pd.DataFrame({"born": days, "visits": 10 + 25 * late, "sex": np.array(["f", "m"])[late]})
    return PrivateKMeans(2, schema=SCHEMA, epsilon=100, random_state=0).fit(rows).release()


def read(path):
    return pd.read_csv(path)


def test_a_folder_has_centres_and_sizes_as_people_write_them(release, tmp_path):
    folder = release.save(tmp_path / "release")
    centres, sizes = read(folder / "centres.csv"), read(folder / "clusters.csv")
    assert list(centres) == [
        *("cluster", "born", "± born", "visits", "± visits"),
        *("sex=f", "± sex=f", "sex=m", "± sex=m"),
    ]
    born = sorted(date.fromisoformat(day) for day in centres["born"])
    assert abs((born[0] - date(1950, 1, 1)).days) < 60
    assert centres["visits"].dtype == np.int64
    assert sorted(centres["visits"]) == [10, 35]
    np.testing.assert_allclose(sizes["rows"], np.rint(release.arrays["cluster_sizes"]))
    np.testing.assert_allclose(sizes["share in %"].sum(), 100, rtol=1e-4)
    np.testing.assert_allclose(
        sizes["± rows"], 2 * release.arrays["cluster_sizes_error"], rtol=1e-4
    )


def test_names_of_clusters_stand_next_to_their_numbers(release, tmp_path):
    folder = release.with_about(About(names=("old", "young"))).save(tmp_path / "release")
    for table in ("centres.csv", "clusters.csv"):
        shown = read(folder / table)
        assert list(shown)[:2] == ["cluster", "name"]
        assert list(shown["name"]) == ["old", "young"]


@every_estimator
def test_tables_are_known_parts_and_say_nothing_that_the_release_does_not(record, tmp_path):
    release = record.fitted(record.units[0]).release()
    folder = release.save(tmp_path / "release")
    stored = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    assert stored.keys() <= TABLES
    again = Release.load(folder)
    assert again == release
    again.save(folder, overwrite=True)  # with the tables it is still a release and nothing else
    assert {path.name: path.read_bytes() for path in folder.glob("*.csv")} == stored


def test_one_file_has_no_tables_so_that_earlier_versions_read_it(release, tmp_path):
    import zipfile

    path = release.save(tmp_path / "one.privclust")
    with zipfile.ZipFile(path) as archive:
        assert set(archive.namelist()) == {"release.json", "arrays.npz"}


def test_a_folder_without_tables_loads_and_verifies_and_a_changed_table_does_not(release, tmp_path):
    def run(*words):
        return CliRunner().invoke(app, words)

    folder = tmp_path / "release"
    key = tmp_path / "office.pem"
    release.save(folder)
    assert run("release", "keygen", str(key)).exit_code == 0
    assert run("release", "sign", str(folder), "--key", str(key)).exit_code == 0
    assert run("release", "verify", str(folder)).exit_code == 0
    table = folder / "centres.csv"
    table.write_text(table.read_text("utf-8").replace("35", "36"), "utf-8")
    changed = run("release", "verify", str(folder))
    assert changed.exit_code == 1
    assert "centres.csv" in changed.stderr
    table.unlink()
    assert run("release", "verify", str(folder)).exit_code == 0


def test_no_text_is_a_formula_to_a_spreadsheet():
    import pyarrow as pa

    table = pa.table({"=1+1": ["@a", "b", "-c"], "n": [-1.0, 2.0, 1 / 3]})
    tiny = pd.read_csv(io.BytesIO(to_csv(pa.table({"n": [3e-17, -3e-17, 0.123456789]}))))
    assert list(tiny["n"]) == [0, 0, 0.123457]
    assert "-" not in to_csv(pa.table({"n": [-3e-17, 1.0]})).decode("utf-8")
    shown = pd.read_csv(io.BytesIO(to_csv(table)))
    assert list(shown) == ["'=1+1", "n"]
    assert list(shown["'=1+1"]) == ["'@a", "b", "'-c"]
    assert list(shown["n"]) == [-1, 2, 0.33333]


@every_estimator
def test_every_release_can_be_drawn_on_given_axes(record):
    model = record.fitted(record.units[0])
    _, ax = pyplot.subplots()
    assert model.plot(ax=ax) is ax
    assert ax.has_data()
    assert model.release().plot() is not ax


def test_a_picture_is_in_the_units_of_the_data_with_dates(release):
    ax = release.plot(["visits", "born"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("visits", "born")
    (points,) = ax.collections
    drawn = np.sort(points.get_offsets().data[:, 0])
    np.testing.assert_allclose(drawn, [10, 35], atol=0.5)
    ax.figure.canvas.draw()
    assert any("19" in text.get_text() for text in ax.get_yticklabels())
    assert release.plot().get_xlabel() == "born"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["sex"], "no column of numbers 'sex'"),
        (["Born"], "did you mean 'born'"),
        (["born", "visits", "born"], "columns must be one or two names, got 3"),
    ],
)
def test_columns_that_cannot_be_drawn_are_refused_in_one_sentence(release, columns, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        release.plot(columns)


def test_a_summary_draws_its_cells_or_its_clusters_and_a_plan_its_costs():
    rows = np.random.default_rng(0).normal([[2, 2], [6, 6]] * 2000, 0.3)
    model = PrivateSummary(bounds=(0, 8), random_state=0)
    summary = model.fit(rows)
    (cells,) = summary.plot().collections
    (centres,) = summary.plot(n_clusters=2).collections
    assert len(cells.get_offsets()) > len(centres.get_offsets()) == 2
    plan = model.plan(1000, 2)
    bars = plan.plot().containers[0]
    total = sum(bar.get_width() for bar in bars)
    np.testing.assert_allclose(total, float(plan.spent.pure))
    assert len(bars) == len(plan.queries)


def test_notebooks_show_plans_promises_and_choices_with_what_was_asked():
    rows = np.random.default_rng(0).normal([[2, 2], [6, 6]] * 2000, 0.3)
    model = PrivateSummary(bounds=(0, 8))
    plan = model.plan(1000, 2)
    summary = model.fit(rows)
    for shown, words in (
        (plan, plan.advice),
        (summary.privacy_, summary.privacy_.protects),
        (summary.choose_k(), summary.choose_k().verdict),
    ):
        page = shown._repr_html_()
        assert words in page
        assert page.count("<table>") == page.count("</table>") == 1
    assert plan._repr_html_().count("<tr>") == 1 + len(plan.queries)


def test_a_promise_that_does_not_hold_is_an_alarm_in_a_notebook(release):
    assert "background:#b3261e" in release.privacy._repr_html_()
    assert "background:#b3261e" in release._repr_html_()
