"""``privclust apply`` and ``privclust report``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from privclust import Categories, PrivateCoclustering, PrivateKMeans, Schema
from privclust.release.release import Release
from support.command_line import Run, clumps, write_csv


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_are_those_of_the_release_in_the_order_of_the_rows(
    released: Path, run: Run, suffix: str
) -> None:
    rows = clumps(150_000)  # several parts
    data = released / f"new.{suffix}"
    if suffix == "csv":
        write_csv(data, rows)
    else:
        pq.write_table(pa.table({"y": rows[:, 1], "other": rows[:, 0], "x": rows[:, 0]}), data)
    result = run("apply", "release", data, "-o", f"labels.{suffix}", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"labels": f"labels.{suffix}", "column": "cluster"}
    expected = Release.load("release").predict(rows)
    if suffix == "csv":
        lines = Path("labels.csv").read_text().splitlines()
        assert lines[0] == "cluster"
        labels = np.array(lines[1:], dtype=int)
    else:
        labels = pq.read_table("labels.parquet")["cluster"].to_numpy()
    np.testing.assert_array_equal(labels, expected)


def test_rows_of_categories_and_of_counts_are_labelled_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    groups = rng.integers(2, size=300)
    survey = pd.DataFrame({name: np.array(["no", "yes"])[groups] for name in "abc"})
    survey.assign(other=1).to_csv("survey.csv", index=False)
    schema = Schema(dict.fromkeys("abc", Categories(["no", "yes"])))
    learned = {"schema": schema, "metric": "dilca"}
    by_answers = PrivateKMeans(2, epsilon=50, random_state=0, **learned).fit(survey)
    by_answers.release().save("answers")
    counts = sparse.csr_array(rng.poisson(np.kron(np.eye(2), np.full((1, 8), 5))[groups]))
    sparse.save_npz("counts.npz", counts)
    by_counts = PrivateCoclustering(2, 2, epsilon=50, random_state=0).fit(counts)
    by_counts.release().save("blocks")
    for release, data, model, rows in (
        ("answers", "survey.csv", by_answers, survey),
        ("blocks", "counts.npz", by_counts, counts),
    ):
        result = run("apply", release, data, "-o", f"{release}.csv")
        assert result.exit_code == 0, result.stderr
        labels = np.loadtxt(f"{release}.csv", skiprows=1, dtype=int)
        np.testing.assert_array_equal(labels, model.predict(rows))
        assert adjusted_rand_score(groups, labels) == 1


def test_labels_are_told_to_be_no_release(released: Path, run: Run) -> None:
    result = run("apply", "release", "data.csv", "-o", "labels.csv")
    assert "Labels: labels.csv\n" in result.stdout
    assert "they are not a release" in result.stdout


def test_the_exact_number_of_rows_is_not_said(released: Path, run: Run) -> None:
    for options in ([], ["--json", "--overwrite"]):
        result = run("apply", "release", "data.csv", "-o", "labels.csv", *options)
        assert result.exit_code == 0, result.stderr
        assert "900" not in result.stdout + result.stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_of_ids_is_copied_beside_the_labels(released: Path, run: Run, suffix: str) -> None:
    rows = clumps(70_000)  # ids and numbers are read in parts of other lengths
    names = [f"person, {i}" for i in range(len(rows))]
    pq.write_table(pa.table({"x": rows[:, 0], "who": names, "y": rows[:, 1]}), "new.parquet")
    output = f"labels.{suffix}"
    result = run("apply", "release", "new.parquet", "-o", output, "--id-column", "who")
    assert result.exit_code == 0, result.stderr
    frame = pd.read_csv(output) if suffix == "csv" else pd.read_parquet(output)
    assert list(frame.columns) == ["who", "cluster"]
    assert frame["who"].tolist() == names
    np.testing.assert_array_equal(frame["cluster"], Release.load("release").predict(rows))


def test_several_files_are_labelled_one_after_the_other(released: Path, run: Run) -> None:
    first, second = clumps(100), clumps(200)
    write_csv(Path("a.csv"), first)
    write_csv(Path("b.csv"), second)
    result = run("apply", "release", "a.csv", "b.csv", "-o", "labels.csv")
    assert result.exit_code == 0, result.stderr
    labels = np.loadtxt("labels.csv", skiprows=1, dtype=int)
    expected = Release.load("release").predict(np.concatenate([first, second]))
    np.testing.assert_array_equal(labels, expected)
    refused = run("apply", "release", "a.csv", "b.csv", "-o", "b.csv", "--overwrite")
    assert refused.exit_code == 1
    assert "would replace the data" in refused.stderr


def test_triples_are_labelled_with_their_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(2), np.full((20, 8), 5)))
    model = PrivateCoclustering(2, 2, epsilon=50, random_state=0).fit(counts)
    model.release().save("blocks")
    matrix = sparse.coo_array(counts)
    triples = {"row": matrix.row, "column": matrix.col, "count": matrix.data}
    pd.DataFrame(triples).to_csv("triples.csv", index=False)
    result = run(
        "apply", "blocks", "triples.csv", "-o", "l.csv", "--shape", *map(str, counts.shape)
    )
    assert result.exit_code == 0, result.stderr
    labels = np.loadtxt("l.csv", skiprows=1, dtype=int)
    np.testing.assert_array_equal(labels, model.predict(counts))


def test_a_shape_is_refused_where_rows_are_labelled(released: Path, run: Run) -> None:
    result = run("apply", "release", "data.csv", "-o", "labels.csv", "--shape", "900", "2")
    assert result.exit_code == 1
    assert "drop the shape" in result.stderr


def test_labels_are_replaced_on_request(released: Path, run: Run) -> None:
    Path("labels.csv").write_text("old")
    result = run("apply", "release", "data.csv", "-o", "labels.csv", "--overwrite")
    assert result.exit_code == 0, result.stderr
    assert Path("labels.csv").read_text().startswith("cluster\n")


def test_a_file_without_rows_is_refused_and_nothing_written(released: Path, run: Run) -> None:
    Path("none.csv").write_text("x,y\n")
    result = run("apply", "release", "none.csv", "-o", "labels.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no rows" in result.stderr
    assert not Path("labels.csv").exists()


def test_the_report_lies_within_a_folder_and_is_made_anew(released: Path, run: Run) -> None:
    for _ in range(2):
        result = run("report", "release")
        assert (result.exit_code, result.stdout) == (0, "Report: release/report.html\n")
    page = Path("release/report.html").read_text(encoding="utf-8")
    assert page == Release.load("release").to_html()


def test_the_report_lies_beside_a_file(released: Path, run: Run) -> None:
    Release.load("release").save("one.privclust")
    assert json.loads(run("report", "one.privclust", "--json").stdout) == {"report": "one.html"}
    assert run("report", "one.privclust").exit_code == 1
    assert run("report", "one.privclust", "--overwrite").exit_code == 0


def test_the_report_goes_where_it_is_wanted(released: Path, run: Run) -> None:
    assert run("report", "release", "-o", "page.html").exit_code == 0
    assert Path("page.html").is_file()
    assert not Path("release/report.html").exists()
