"""Labels of many rows are found on the engine, in the order of the rows, and written in parts."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import privclust
from privclust import PrivateCoclustering, PrivateKMeans
from privclust.engines.choose import progress_listener
from privclust.jobs.label import write_labels
from support.datasets import POINTS, baskets, points
from support.in_parts import npz_folder, parquet_folder

ROWS = points().drop(columns="who")


@pytest.fixture(scope="module")
def model():
    return PrivateKMeans(3, schema=POINTS, epsilon=5, random_state=0).fit(ROWS)


def test_labels_of_files_are_those_of_the_rows(model, client, tmp_path):
    data = parquet_folder(ROWS, tmp_path / "data", row_group=30)
    expected = model.predict(ROWS)
    with privclust.engine(client):
        assert (model.predict(data) == expected).all()
        assert (model.predict(ROWS) == expected).all()  # rows in memory are labelled here
        write_labels(model.release(), data, tmp_path / "labels.parquet")
    written = pq.read_table(tmp_path / "labels.parquet").column("cluster").to_numpy()
    assert (written == expected).all()


def test_labels_of_a_matrix_in_pieces_are_those_of_the_matrix(client, tmp_path):
    matrix = baskets()
    model = PrivateCoclustering(3, 3, epsilon=5, random_state=0).fit(matrix)
    data, expected = npz_folder(matrix, tmp_path / "data"), model.predict(matrix)
    assert (model.predict(data) == expected).all()
    with privclust.engine(client):
        parts = list(model.release().predict_parts(data))
    assert len(parts) > 1
    assert (np.concatenate(parts) == expected).all()


def test_every_pass_is_told_to_its_end_on_every_engine(client, tmp_path):
    data = parquet_folder(ROWS, tmp_path / "data", row_group=30)
    for where in (None, client):
        told = []
        with privclust.engine(where), progress_listener(lambda *now: told.append(now)):  # noqa: B023
            PrivateKMeans(3, schema=POINTS, random_state=0).fit(data)
        ends = [
            now for now, then in zip(told, [*told[1:], (0, 0)], strict=True) if then[0] <= now[0]
        ]
        assert len(ends) > 3
        assert set(ends) == {(len(ROWS), len(ROWS))}
