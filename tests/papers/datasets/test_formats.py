"""Files of public data sets are read as they were written, in every format of the papers."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from scipy import io, sparse

from privclust.exceptions import DataError
from privclust.papers.datasets.categories import Layout, read_categories
from privclust.papers.datasets.formats import read_idx
from privclust.papers.datasets.matrices import read_matrix
from privclust.papers.datasets.named import category_set, matrix_set, point_set, source_target_set
from privclust.papers.datasets.points import read_points
from privclust.papers.datasets.source_target import read_mnist_pair, read_pair
from privclust.schema.facts import Bins

COUNTS = np.array([[0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 0, 5]])
CLASSES = np.array([1, 0, 1])


def cluto(folder):
    lines = ["3 4 4", "2 2 4 1", "1 3", "4 5"]
    (folder / "words.mat").write_text("\n".join(lines) + "\n")
    (folder / "words.rclass").write_text("b\na\nb\n")
    return folder / "words.mat"


def matlab(folder):
    io.savemat(folder / "words.mat", {"A": sparse.csc_matrix(COUNTS), "labels": CLASSES + 1})
    return folder / "words.mat"


def npz(folder):
    part = sparse.csr_array(COUNTS)
    np.savez(
        folder / "words.npz",
        data=part.data,
        indices=part.indices,
        indptr=part.indptr,
        shape=part.shape,
        labels=CLASSES,
    )
    return folder / "words.npz"


def triples(folder):
    rows, columns = np.nonzero(COUNTS)
    lines = [f"{i},{j},{COUNTS[i, j]}" for i, j in zip(rows, columns, strict=True)]
    (folder / "words.csv").write_text("\n".join(lines))
    (folder / "words.rclass").write_text("1\n0\n1")
    return folder / "words.csv"


@pytest.mark.parametrize("write", [cluto, matlab, npz, triples])
def test_a_matrix_is_the_same_in_every_format(tmp_path, write):
    data = read_matrix(write(tmp_path))
    assert (data.counts.toarray() == COUNTS).all()
    assert (data.classes == CLASSES).all()
    assert (data.name, data.n_classes) == ("words", 2)
    assert data.density == pytest.approx(4 / 12)


def test_dense_cluto_rows_and_triples_from_one_are_read(tmp_path):
    (tmp_path / "dense.mat").write_text("2 2\n1 0\n0 4\n")
    (tmp_path / "dense.rclass").write_text("0\n1\n")
    assert read_matrix(tmp_path / "dense.mat").counts.toarray().tolist() == [[1, 0], [0, 4]]
    (tmp_path / "ones.txt").write_text("1 1 7\n2 2 8\n")
    (tmp_path / "classes").write_text("x\ny\n")
    found = read_matrix(tmp_path / "ones.txt", classes=tmp_path / "classes", first=1)
    assert found.counts.toarray().tolist() == [[7, 0], [0, 8]]


def test_what_is_no_matrix_is_told_in_one_sentence(tmp_path):
    (tmp_path / "short.mat").write_text("3 4 4\n2 2\n")
    with pytest.raises(DataError, match="does not fit"):
        read_matrix(tmp_path / "short.mat")
    (tmp_path / "bare.csv").write_text("0,0,1\n")
    with pytest.raises(DataError, match="classes="):
        read_matrix(tmp_path / "bare.csv")
    (tmp_path / "wide.csv").write_text("0,0,1,1\n")
    with pytest.raises(DataError, match="row, column and value"):
        read_matrix(tmp_path / "wide.csv")
    with pytest.raises(DataError, match="none of that name"):
        matrix_set("sports", tmp_path)


def write_idx(path, array):
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as file:
        file.write(head + array.astype(np.uint8).tobytes())


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_mnist_files_give_pairs_of_digits(tmp_path, ending):
    images, labels = np.arange(24).reshape(4, 2, 3), np.array([1, 7, 1, 3])
    paths = [tmp_path / f"{name}-ubyte{ending}" for name in ("images", "labels")]
    for path, array in zip(paths, (images, labels), strict=True):
        write_idx(path, array)
    assert (read_idx(paths[0]) == images).all()
    source, target = read_mnist_pair(*paths, 1, 7)
    assert source.shape == (2, 6)
    assert target.tolist() == [[6, 7, 8, 9, 10, 11]]
    assert read_points(paths[0], 2).points.shape == (4, 6)


def test_a_table_of_categories_is_cut_and_filled_as_in_the_paper(tmp_path):
    lines = ["colour, size, class", "red, 1, a", "?, 9, b", "red, 2, a", "blue, 8, a"]
    with gzip.open(tmp_path / "things.csv.gz", "wt") as file:
        file.write("\n".join(lines))
    data = read_categories(tmp_path / "things.csv.gz", Layout(numeric=("size",)), n_bins=2)
    assert data.rows["colour"].to_pylist() == ["red", "red", "red", "blue"]
    assert isinstance(data.schema.columns["size"], Bins)
    assert data.classes.tolist() == [0, 1, 0, 0]
    assert (data.n_values, data.n_classes, len(data.frame)) == (4, 2, 4)


def test_layouts_are_known_by_the_name_of_the_file(tmp_path):
    (tmp_path / "nltcs.csv").write_text("0.0,1.0\n1.0,1.0\n")
    (tmp_path / "cmc.csv").write_text(
        "\n".join(f"{20 + i},2,3,{i},1,1,2,3,0,{i % 3}" for i in range(9))
    )
    assert category_set("nltcs", tmp_path).n_classes == 1
    cmc = category_set("cmc", tmp_path)
    assert (cmc.n_classes, len(cmc.schema)) == (3, 9)
    assert isinstance(cmc.schema.columns["a4"], Bins)
    (tmp_path / "odd.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="has the columns x, y, but none called class"):
        category_set("odd", tmp_path)


def test_points_are_read_by_path_with_their_number_of_clusters(tmp_path):
    points = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 5.0]])
    np.save(tmp_path / "a.npy", points)
    np.savez(tmp_path / "b.npz", features=points, names=np.array(["x", "y"]))
    np.savetxt(tmp_path / "c.csv", points, delimiter=",", header="x,y", comments="")
    for name in ("a.npy", "b.npz", "c.csv"):
        data = point_set(f"{tmp_path / name}:2")
        assert (data.points == points).all()
        assert (data.n_clusters, data.schema.high.tolist()) == (2, [4.0, 5.0])
    with pytest.raises(DataError, match="PATH:CLUSTERS"):
        point_set(str(tmp_path / "a.npy"))


def test_superconductors_are_split_by_a_feature_that_follows_the_temperature(tmp_path):
    rng = np.random.default_rng(0)
    moderate = rng.normal(size=400)
    warmth = 0.3 * moderate + np.sqrt(1 - 0.09) * rng.normal(size=400)
    features = np.stack([warmth, moderate, rng.normal(size=400)], axis=1)
    np.savez(tmp_path / "s.npz", features=features, critical_temperature=warmth)
    low, high = read_pair(tmp_path / "s.npz", "l", "h")
    assert low.shape == high.shape == (100, 2)
    order = np.argsort(moderate)
    assert (low == features[order[:100]][:, [0, 2]]).all()
    assert source_target_set("s:h:mh", tmp_path)(0).target.shape == (100, 2)
    with pytest.raises(DataError, match="it has l, ml, mh, h"):
        read_pair(tmp_path / "s.npz", "l", "warm")
