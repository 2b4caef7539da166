"""The contexts of the paper's Tables 7 and 8, on the adult data where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from privclust import Bins, Categories, Schema
from privclust.papers.dilca.published import Dilca

FOLDER = os.environ.get("PRIVCLUST_DATA")
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="PRIVCLUST_DATA does not name the folder of the public data sets"
)

NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


@pytest.fixture(scope="module")
def adult():
    rows = pd.read_csv(Path(FOLDER) / "adult.csv.gz").drop(columns="class")
    columns = {}
    for name in rows:
        if name in NUMERIC:
            cutter = KBinsDiscretizer(5, strategy="kmeans", random_state=0, subsample=None)
            columns[name] = Bins(list(cutter.fit(rows[[name]]).bin_edges_[0]))
        else:
            rows[name] = rows[name].replace("?", rows[name].mode()[0])
            columns[name] = Categories(sorted(rows[name].unique()))
    return rows, Schema(columns)


@pytest.mark.parametrize(
    ("rule", "target", "context"),
    [
        ("mean-su", "age", {"marital-status", "relationship", "hours-per-week"}),
        ("max-relevance", "age", {"marital-status", "relationship", "hours-per-week"}),
        ("max-dependency", "age", {"marital-status", "education", "occupation"}),
        ("mean-su", "race", {"native-country"}),
        ("max-relevance", "race", {"native-country", "marital-status", "relationship"}),
        ("max-dependency", "race", {"native-country", "relationship", "occupation"}),
    ],
)
def test_the_published_contexts_come_out(adult, rule, target, context):
    rows, schema = adult
    assert set(Dilca(rule, schema=schema).fit(rows).contexts_[target]) == context
