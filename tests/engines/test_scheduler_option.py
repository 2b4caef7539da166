"""Commands with ``--scheduler`` give what they give here, from rows read on the cluster."""

import numpy as np
import pyarrow.csv
import pytest

from privclust import Release
from privclust.cli.commands import app
from privclust.engines.dask import DaskRows
from support.command_line import CliRunner
from support.datasets import POINTS, points
from support.in_parts import parquet_folder


@pytest.fixture
def asked_of_workers(monkeypatch):
    """Return what is asked of the cluster, statistic by statistic."""
    asked, submitted = [], DaskRows._submit

    def noted(self, statistic):
        asked.append(statistic)
        return submitted(self, statistic)

    monkeypatch.setattr(DaskRows, "_submit", noted)
    return asked


def test_a_fit_and_its_labels_come_from_the_cluster(
    client, asked_of_workers, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    parquet_folder(points().drop(columns="who"), tmp_path / "data", row_group=30)
    (tmp_path / "schema.toml").write_text(POINTS.to_toml())
    where = ("--scheduler", client.scheduler.address)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output

    fit = ("kmeans", "data", "--schema", "schema.toml", "-k", 3, "--epsilon", 5)
    run(*fit, "--seed", 7, "-o", "here")
    assert not asked_of_workers
    run(*fit, "--seed", 7, "-o", "there", *where)
    assert asked_of_workers
    here, there = Release.load("here"), Release.load("there")
    for name, array in here.arrays.items():
        np.testing.assert_array_equal(there.arrays[name], array)
    asked_of_workers.clear()
    for place, options in {"here.csv": (), "there.csv": where}.items():
        run("apply", "here", "data", "-o", place, *options)
    assert asked_of_workers
    assert pyarrow.csv.read_csv("here.csv") == pyarrow.csv.read_csv("there.csv")
