"""``privclust kmeans`` and ``privclust plan kmeans``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.ledger.ledger import Ledger
from privclust.release.release import Release
from support.command_line import CENTRES, SCHEMA, Run

FIT = ("kmeans", "data.csv", "--schema", "schema.toml", "--clusters", 3, "--epsilon", 10)


def nearest_gap(centers: Any) -> float:
    gaps = np.linalg.norm(np.asarray(centers)[:, None] - CENTRES, axis=2)
    return float(gaps.min(axis=0).max())


def test_a_release_and_its_report_are_written_and_told(folder: Path, run: Run) -> None:
    result = run(*FIT, "-o", "out")
    assert result.exit_code == 0, result.stderr
    release = Release.load("out")
    assert nearest_gap(release.arrays["cluster_centers"]) < 0.5
    for size in release.arrays["cluster_sizes"]:
        assert f"{size:,.0f} ± " in result.stdout
    assert "differentially private with ε = 10" in result.stdout
    assert "Release: out\n" in result.stdout
    assert "Report:  out/report.html\n" in result.stdout
    assert "<html" in (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert result.stderr == ""


def test_json_is_one_document_that_says_what_the_release_says(folder: Path, run: Run) -> None:
    result = run(*FIT, "-o", "out", "--json")
    assert result.exit_code == 0, result.stderr
    document, release = json.loads(result.stdout), Release.load("out")
    sizes = [cluster["size"] for cluster in document["clusters"]]
    centers = [[cluster["center"][name] for name in "xy"] for cluster in document["clusters"]]
    assert sizes == release.arrays["cluster_sizes"].tolist()
    assert centers == release.arrays["cluster_centers"].tolist()
    assert document["digest"] == release.digest
    assert document["private"] is True
    assert document["privacy"] == release.privacy.to_dict()
    assert (document["release"], document["report"]) == ("out", "out/report.html")
    assert result.stderr == ""


def test_one_file_has_its_report_beside_it(folder: Path, run: Run) -> None:
    assert run(*FIT, "-o", "out.privclust").exit_code == 0
    assert Release.load("out.privclust").kind == "kmeans"
    assert Path("out.html").is_file()


def test_without_a_report_none_is_written(folder: Path, run: Run) -> None:
    result = run(*FIT, "-o", "out", "--no-report", "--json")
    assert json.loads(result.stdout)["report"] is None
    assert not Path("out/report.html").exists()


def test_the_release_goes_to_release_if_no_place_is_named(folder: Path, run: Run) -> None:
    assert run(*FIT).exit_code == 0
    assert Release.load("release").kind == "kmeans"


def test_a_budget_that_nobody_gave_is_told_on_one_line(folder: Path, run: Run) -> None:
    result = run(*FIT[:-2])
    assert result.exit_code == 0, result.stderr
    assert "\nUsing ε = 1, because --epsilon was not given.\n" in result.stdout
    assert result.stderr == ""
    assert Release.load("release").privacy.epsilon == 1
    by_rho = run(*FIT[:-2], "--rho", 0.5, "--delta", 1e-6, "-o", "other")
    assert by_rho.exit_code == 0
    assert "No --epsilon" not in by_rho.stdout


def test_overwrite_replaces_a_release(folder: Path, run: Run) -> None:
    assert run(*FIT).exit_code == 0
    first = Release.load("release")
    assert run(*FIT, "--overwrite").exit_code == 0
    assert Release.load("release") != first


def test_a_seed_is_reproducible_and_told_loudly(folder: Path, run: Run) -> None:
    result = run(*FIT, "--seed", 7, "-o", "one")
    assert run(*FIT, "--seed", 7, "-o", "two").exit_code == 0
    assert Release.load("one").digest == Release.load("two").digest
    assert "NOT PRIVATE" in result.stderr
    assert "NOT PRIVATE" in result.stdout
    assert "differentially private" not in result.stdout
    assert json.loads(run(*FIT, "--seed", 7, "-o", "three", "--json").stdout)["private"] is False


def test_every_option_reaches_the_estimator(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    fit = PrivateKMeans.fit

    def spy(self: PrivateKMeans, X: Any, y: object = None) -> PrivateKMeans:
        seen.update(self.get_params(), data=X)
        return fit(self, X)

    monkeypatch.setattr(PrivateKMeans, "fit", spy)
    rows = "x,y,who\n" + "".join(f"{i % 9},{i % 7},p{i % 50}\n" for i in range(200))
    Path("people.csv").write_text(rows)
    result = run(
        *("kmeans", "people.csv", "--bounds", -1, 10, "-k", 4, "--epsilon", 2, "--delta", 1e-6),
        *("--unit", "person", "--id-column", "who", "--max-rows", 4, "--method", "lloyd"),
        *("--rescale", "--no-report"),
    )
    assert result.exit_code == 0, result.stderr
    assert (seen["n_clusters"], seen["epsilon"], seen["delta"]) == (4, 2, 1e-6)
    assert (seen["bounds"], seen["schema"]) == ((-1, 10), None)
    assert seen["unit"].to_dict() == {"name": "person", "id_column": "who", "max_rows": 4}
    assert (seen["method"], seen["rescale"], seen["random_state"]) == ("lloyd", True, None)
    assert seen["data"] == "people.csv"


def test_one_row_and_more_clusters_than_rows_are_fine(folder: Path, run: Run) -> None:
    Path("one.csv").write_text("x,y\n1,2\n")
    result = run("kmeans", "one.csv", "--schema", "schema.toml", "--clusters", 5, "--json")
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["clusters"]) == 5


def test_many_columns_are_cut_in_the_table_and_whole_in_json(folder: Path, run: Run) -> None:
    names = [f"column_{i}" for i in range(12)]
    Path("wide.csv").write_text(",".join(names) + "\n" + (",".join("1" * 12) + "\n") * 2000)
    fit = ("kmeans", "wide.csv", "--bounds", 0, 2, "-k", 2, "--seed", 1)
    assert "and 9 more" in run(*fit, "-o", "a").stdout
    clusters = json.loads(run(*fit, "-o", "b", "--json").stdout)["clusters"]
    assert list(clusters[0]["center"]) == names


def test_a_fit_is_charged_until_the_budget_is_gone(folder: Path, run: Run) -> None:
    ledger = Ledger.open("budget.db")
    ledger.create_dataset("data")
    ledger.grant("data", epsilon=15)
    result = run(*FIT, "--ledger", "budget.db", "-o", "first", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["privacy"]["receipt"]
    result = run(*FIT, "--ledger", "budget.db", "--dataset", "data", "-o", "second")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert not Path("second").exists()


def test_a_plan_costs_nothing_and_needs_no_data(folder: Path, run: Run) -> None:
    plan = ("plan", "kmeans", "--schema", "schema.toml", "-k", 3, "--rows", 500)
    result = run(*plan)
    assert result.exit_code == 0, result.stderr
    assert "rehearsed for 500 rows" in result.stdout
    document = json.loads(run(*plan, "--json").stdout)
    assert document["n_rows"] == 500
    assert document["epsilon"] == "1"
    by_bounds = run("plan", "kmeans", "--bounds", 0, 10, "--columns", 2, "-k", 3, "--rows", 500)
    assert "rehearsed for 500 rows" in by_bounds.stdout


def test_declared_columns_are_those_of_the_release(folder: Path, run: Run) -> None:
    assert run(*FIT).exit_code == 0
    assert Release.load("release").schema == SCHEMA


def test_the_rows_choose_the_number_of_clusters(folder: Path, run: Run) -> None:
    automatic = ("kmeans", "data.csv", "--schema", "schema.toml", "--clusters", "auto")
    result = run(*automatic, "--epsilon", 10, "-o", "out", "--json")
    assert result.exit_code == 0, result.stderr
    release = Release.load("out")
    assert release.parameters["method"] == "summary"
    assert json.loads(result.stdout)["verdict"] == release.parameters["verdict"]
    assert len(release.arrays["cluster_centers"]) == release.parameters["n_clusters"]


@pytest.mark.parametrize("wrong", ["many", "0", "-3", "2.5", ""])
@pytest.mark.parametrize("command", [("kmeans", "data.csv"), ("plan", "kmeans")])
def test_what_is_no_number_of_clusters_is_refused_in_one_sentence(
    folder: Path, run: Run, command: tuple[str, ...], wrong: str
) -> None:
    result = run(*command, "--schema", "schema.toml", "--clusters", wrong)
    assert result.exit_code == 2
    assert "whole number of at least 1 or auto" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_errors_of_the_centres_are_printed_and_in_the_document(folder: Path, run: Run) -> None:
    printed = run(*FIT, "-o", "shown").stdout.splitlines()[1:4]  # below the heading
    assert [line.count(" ± ") for line in printed] == [3, 3, 3]  # of a size and two coordinates
    document = json.loads(run(*FIT, "-o", "out", "--json").stdout)
    assert all(cluster["center_error"].keys() == {"x", "y"} for cluster in document["clusters"])
