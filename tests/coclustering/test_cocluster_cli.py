"""``privclust cocluster``: matrices and triples in, a release out, mistakes in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from privclust.cli.commands import app
from privclust.coclustering.plan import synthetic_counts
from privclust.release.release import Release
from support.command_line import CliRunner

pytestmark = pytest.mark.usefixtures("blank_pictures")

COUNTS = synthetic_counts((120, 40), 2, 2, 80, seed=0).counts


def test_a_matrix_becomes_a_release_with_a_report(tmp_path):
    sparse.save_npz(tmp_path / "a.npz", COUNTS)
    (tmp_path / "names.txt").write_text("\n".join(f"good {j}" for j in range(40)))
    arguments = [
        "cocluster",
        str(tmp_path / "a.npz"),
        "--row-clusters",
        "2",
        "--column-clusters",
        "2",
        "--json",
    ]
    arguments += ["-o", str(tmp_path / "out"), "--names", str(tmp_path / "names.txt")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert np.shape(told["block_totals"]) == (2, 2)
    assert told["private"]
    release = Release.load(tmp_path / "out")
    assert release.kind == "coclustering"
    assert "good " in (tmp_path / "out" / "report.html").read_text()


def test_triples_need_and_take_a_shape(tmp_path):
    entries = COUNTS.tocoo()
    lines = [f"{i},{j},{a}" for i, j, a in zip(entries.row, entries.col, entries.data, strict=True)]
    (tmp_path / "a.csv").write_text("row,column,count\n" + "\n".join(lines))
    start = [
        "cocluster",
        str(tmp_path / "a.csv"),
        "--row-clusters",
        "2",
        "--column-clusters",
        "2",
        "--json",
    ]
    assert "public shape" in CliRunner().invoke(app, start).stderr
    shaped = [*start, "--shape", "120", "40", "-o", str(tmp_path / "out"), "--no-report"]
    result = CliRunner().invoke(
        app, [*shaped, "--unit", "entry", "--cap", "3", "--epsilon", "0.01", "--seed", "1"]
    )
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["column_labels"]) == 40
    assert "No structure stands out" in " ".join(result.stderr.split())


def test_a_cap_without_its_unit_is_refused(tmp_path):
    sparse.save_npz(tmp_path / "a.npz", COUNTS)
    result = CliRunner().invoke(app, ["cocluster", str(tmp_path / "a.npz"), "--cap", "3"])
    assert result.exit_code == 2
    assert "--unit entry" in result.stderr


def test_the_plan_tells_cost_and_error():
    arguments = [
        "plan",
        "cocluster",
        "--row-clusters",
        "2",
        "--column-clusters",
        "2",
        "--shape",
        "100",
        "50",
        "--json",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["error_ratio"] > 0


@pytest.mark.parametrize("unit", [["count"], ["entry"], ["entry", "--cap", "2"]])
def test_entries_that_are_no_counts_may_count_as_0(unit, tmp_path):
    counts = COUNTS.astype(float)
    counts.data[0] = -1
    sparse.save_npz(tmp_path / "a.npz", counts)
    start = ["cocluster", str(tmp_path / "a.npz"), "-o", str(tmp_path / "out"), "--unit", *unit]
    refused = CliRunner().invoke(app, start)
    assert refused.exit_code != 0
    assert "Negative values" in refused.output
    taken = CliRunner().invoke(app, [*start, "--unreadable", "zero"])
    assert taken.exit_code == 0, taken.output
    assert Release.load(tmp_path / "out").privacy.unit["unreadable"] == "zero"


@pytest.mark.parametrize("labels", [True, False])
def test_a_wide_table_is_a_matrix_with_named_columns(labels, tmp_path):
    """A crosstab, as pandas writes it: its first column has no name, and labels the rows."""
    table = pd.DataFrame(COUNTS.toarray(), columns=[f"good {j}" for j in range(40)])
    table.to_csv(tmp_path / "wide.csv", index=labels)
    table.to_parquet(tmp_path / "wide.parquet", index=False)
    sizes = ["--row-clusters", "2", "--column-clusters", "2", "--epsilon", "5", "--json"]
    for file in ("wide.csv", "wide.parquet"):
        arguments = ["cocluster", str(tmp_path / file), *sizes, "-o", str(tmp_path / file) + ".out"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        release = Release.load(tmp_path / f"{file}.out")
        assert release.about.names == tuple(table.columns)
        assert len(release.arrays["row_labels"]) == len(table)
        assert release.predict(tmp_path / file).tolist() == release.predict(COUNTS).tolist()


def test_a_wide_table_has_the_columns_that_are_declared(tmp_path):
    (tmp_path / "wide.csv").write_text("a,b\n1,2\n3,4\n")
    arguments = ["cocluster", str(tmp_path / "wide.csv"), "--shape", "2", "3"]
    result = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "out")])
    assert "has 2 columns where 3 were declared" in result.stderr
    assert result.exit_code == 1


def test_a_wide_table_whose_rows_have_names_says_how_to_leave_them_out(tmp_path):
    table = pd.DataFrame(COUNTS.toarray()).add_prefix("good ")
    named, unnamed = tmp_path / "named.csv", tmp_path / "unnamed.csv"
    table.rename("shop {}".format).to_csv(named, index_label="shop")
    unnamed.write_text(named.read_text().replace("shop,", ",", 1))
    end = ["--row-clusters", "2", "--column-clusters", "2", "-o", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, ["cocluster", str(named), *end])
    assert refused.exit_code == 1
    assert "Column 'shop' holds text" in refused.stderr
    assert "empty its name in the header" in " ".join(refused.stderr.split())
    assert CliRunner().invoke(app, ["cocluster", str(unnamed), *end]).exit_code == 0
