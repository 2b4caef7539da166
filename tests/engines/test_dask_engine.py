"""On a cluster a fit releases the very bits that it releases here, and leaves nothing behind."""

import pickle
import time
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privclust
from contract.golden_fits import digest_of
from privclust import Person, PrivateCoclustering, PrivateKMeans, ReplaceRow
from privclust.data.engines.base import current_engine
from privclust.engines import workers
from privclust.engines.dask import DaskRows
from privclust.exceptions import DataError
from privclust.reading.opening import open_rows
from support.datasets import POINTS, SURVEY, baskets, points, survey
from support.estimators import ESTIMATORS
from support.in_parts import npz_folder, parquet_folder, triples_file
from support.variants import dilca

RECORDS = {record.name: record for record in ESTIMATORS}


def in_files(record, unit, folder):
    """Return the data of an estimator as files in parts."""
    data = record.data(unit)
    return npz_folder(data, folder) if hasattr(data, "tocsr") else parquet_folder(data, folder)


def released(record, unit, data, **changes):
    return digest_of(record.fit(record.make(unit, random_state=7, **changes), data))


@pytest.mark.parametrize("name", RECORDS)
def test_every_estimator_releases_the_same_bits_on_a_cluster(name, client, tmp_path):
    record = RECORDS[name]
    unit = record.units[-1]  # people, or whole rows of a matrix where they can be protected
    data = in_files(record, unit, tmp_path / "data")
    here = released(record, unit, data)
    assert here == released(record, unit, record.data(unit))  # files are as good as memory
    with privclust.engine(client), watched_wire() as (sent, back):
        assert released(record, unit, data) == here
    assert_public_out_and_integers_back(sent, back)


@pytest.mark.parametrize("method", ["tree", "max-relevance", "max-dependency"])
def test_published_metrics_are_the_same_on_a_cluster(method, client, tmp_path):
    data = parquet_folder(survey().drop(columns="who"), tmp_path / "data")
    model = dilca(method=method, schema=SURVEY, epsilon=2, random_state=7)
    here = digest_of(model.fit(data))
    with privclust.engine(client, memory=0):
        assert digest_of(model.fit(data)) == here


@pytest.mark.parametrize("unit", ["count", "entry"])
def test_triples_in_parts_are_the_matrix(unit, client, tmp_path):
    matrix = baskets()
    path = triples_file(matrix, tmp_path / "triples.parquet")
    model = PrivateCoclustering(3, 3, epsilon=2, unit=unit, random_state=7)
    here = digest_of(model.fit(matrix))
    model.set_params(shape=matrix.shape)
    assert digest_of(model.fit(path)) == here
    with privclust.engine(client):
        assert digest_of(model.fit(path)) == here


@pytest.mark.parametrize("name", ["PrivateDilca", "PrivateCoclustering", "PrivateSummary-mixed"])
@pytest.mark.parametrize(("n_files", "row_group"), [(1, 1000), (3, 37), (7, 11)])
def test_releases_do_not_depend_on_the_cut_into_parts(name, n_files, row_group, client, tmp_path):
    record = RECORDS[name]
    data = record.data(record.units[0])
    if hasattr(data, "tocsr"):
        files = npz_folder(data, tmp_path / "data", n_files=n_files)
    else:
        files = parquet_folder(data, tmp_path / "data", n_files=n_files, row_group=row_group)
    here = released(record, record.units[0], data)
    assert released(record, record.units[0], files) == here
    with privclust.engine(client, memory=0):
        assert released(record, record.units[0], files) == here


def test_workers_may_join_in_the_middle_of_a_fit(tmp_path, monkeypatch):
    data = parquet_folder(points().drop(columns="who"), tmp_path / "data", row_group=20)
    model = PrivateKMeans(3, schema=POINTS, random_state=7)
    here, submitted, passes = digest_of(model.fit(data)), DaskRows._submit, []
    with privclust.local_cluster(1, processes=False) as client:

        def joined(self, statistic):
            passes.append(statistic)
            if len(passes) == 2:
                client.cluster.scale(2)
                client.wait_for_workers(2)
            return submitted(self, statistic)

        monkeypatch.setattr(DaskRows, "_submit", joined)
        with privclust.engine(client):
            assert digest_of(model.fit(data)) == here
        assert len(client.scheduler_info()["workers"]) == 2


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n_rows=st.integers(1, 150),
    row_group=st.integers(1, 60),
    n_files=st.integers(1, 3),
    memory=st.sampled_from([None, 0]),
)
def test_sums_do_not_depend_on_the_cut_into_parts(
    client, tmp_path_factory, n_rows, row_group, n_files, memory
):
    frame = points().drop(columns="who").head(n_rows)
    folder = tmp_path_factory.mktemp("cut")
    parquet_folder(frame, folder, n_files=min(n_files, n_rows), row_group=row_group)
    here = all_sums(frame)
    with privclust.engine(client, memory=memory):
        there = all_sums(folder)
    assert pickle.dumps(here) == pickle.dumps(there)


def all_sums(data):
    """Return exact integers, those that lines are made of in the order of the rows."""
    encode, frame = grid_rows(), whole()
    with open_rows(data, POINTS.names) as source:
        rows = current_engine().open(source, encode)
        of_clusters = rows.sum(around(frame))
        lines = rows.sum(AllRows())
    stacked = np.concatenate(lines.total.parts)
    total = of_clusters.total
    return [total.counts, total.offsets, total.square, of_clusters.n_rows, stacked]


def grid_rows():
    from privclust.data.encode import Domain
    from privclust.data.points.mixed import GridRows

    return GridRows(Domain.from_schema(POINTS), 64)


def whole():
    from privclust.data.points.public import Projection

    return Projection(np.zeros(len(POINTS.names)))


def around(frame):
    from privclust.data.points.kernels import ClusterSums

    return ClusterSums(frame, np.random.default_rng(0).uniform(-0.3, 0.3, (3, frame.dimension)), 1)


class AllRows:
    """Returns the rows themselves, in their order."""

    def __call__(self, rows):
        from privclust.data.engines.base import PerRow

        return PerRow((rows.copy(),))


# What crosses the wire


ALLOWED = {
    "privclust.data.papers.kernels": {"CriticGradients", "FactorSums", "SwapCosts", "ZoneCounts"},
    "privclust.data.papers.public": {"Critic", "Zones"},
    "privclust.data.encode": {"Domain", "CompleteRows"},
    "privclust.data.engines.base": {"CountedSum", "PerRow"},
    "privclust.engines.workers": {"encode_part", "sum_statistic", "read_and_sum", "add_results"},
    "privclust.data.matrix.kernels": {
        "BlockShares", "BlockSums", "ColumnScores", "ColumnSums", "ProfileSums", "RowScores",
        "RowSums", "Steps", "StepsOf",
    },
    "privclust.data.numbers.kernels": {"CellCounts", "FiniteNumbers"},
    "privclust.data.points.mixed": {"GridRows", "MixedDomain"},
    "privclust.data.table.as_points": {"BinCoder", "EmbedRows"},
    "privclust.schema.coordinates": {"Column", "Coordinates"},
    "privclust.data.points.kernels": {
        "ClusterSums", "ClusterTotals", "GroupSums", "Moments", "ProjectionGrid", "RowCount",
    },
    "privclust.data.points.components": {"ComponentSums"},
    "privclust.data.points.public": {"Components", "Projection"},
    "privclust.schema.writing": {"Writing"},
    "privclust.data.matrix.rows": {"CountRows"},
    "privclust.reading.matrix_parts": {"_NpzPart", "_TriplesPart"},
    "privclust.data.rows": {"FilteredPart", "_SteppedPart"},
    "privclust.reading.files": {"CsvPiece", "FilesPart", "ParquetPiece"},
    "privclust.reading.locations": {"FileLocation"},
    "privclust.data.sites.kernels": {"CellSums", "CellTotals", "NearestOf", "NearestRows",
                                     "RingCounts"},
    "privclust.data.sites.distances": {"Metric", "_metric_named"},
    "privclust.data.sites.public": {"Rings", "TargetSpace"},
    "privclust.data.table.codes": {"AttributeCodes", "CategoryCoder", "ColumnCoder"},
    "privclust.data.table.cut": {"CutCoder"},
    "privclust.data.table.kernels": {"PairTables", "ValueCounts"},
    "privclust.data.table.public": {"CellGroups", "Cut", "PairLayout", "ValuePoints"},
    "privclust.schema.facts": {"Bins", "Box", "Categories"},
    "privclust.unit.matrix": {"MatrixCount", "MatrixEntry", "MatrixRow"},
}  # fmt: skip


class Watched(pickle.Pickler):
    """Notes every class and function of privclust that a pickle names."""

    def __init__(self, file):
        super().__init__(file, protocol=5)
        self.named = set()

    def reducer_override(self, thing):
        kind = thing if isinstance(thing, type) or callable(thing) else type(thing)
        module = getattr(kind, "__module__", None) or ""
        if module.startswith("privclust"):
            self.named.add((module, getattr(kind, "__qualname__", type(kind).__qualname__)))
        return NotImplemented


def names_in(thing):
    import io

    watched = Watched(io.BytesIO())
    watched.dump(thing)
    return watched.named


@contextmanager
def watched_wire():
    """Note what is sent to workers and what comes back."""
    from distributed import Client, Future

    sent, back = set(), []
    submit, result = Client.submit, Future.result

    def noted_submit(self, task, *arguments, **options):
        plain = [a for a in arguments if not isinstance(a, (Future, list))]
        sent.update(names_in((task, plain)))
        return submit(self, task, *arguments, **options)

    def noted_result(self, *args, **kwargs):
        found = result(self, *args, **kwargs)
        back.append(found)
        return found

    with patch.object(Client, "submit", noted_submit), patch.object(Future, "result", noted_result):
        yield sent, back


def assert_public_out_and_integers_back(sent, back):
    allowed = {(module, name) for module, names in ALLOWED.items() for name in names}
    assert sent
    assert sent <= allowed
    assert back
    for found in back:
        assert names_in(found) <= allowed
        for array in arrays_in(found.total):
            assert array.dtype.kind in "iu" or (array == np.rint(array)).all()


def arrays_in(total):
    if isinstance(total, np.ndarray):
        return [total]
    fields = getattr(total, "__dict__", {}).values()
    parts = [part for value in fields for part in (value if isinstance(value, tuple) else [value])]
    return [part for part in parts if isinstance(part, np.ndarray)]


# What is left


def test_no_future_is_left_after_a_fit(client, tmp_path):
    data = parquet_folder(points().drop(columns="who"), tmp_path / "data")
    worse = points().drop(columns="who")
    worse.iloc[5, 0] = np.inf
    bad = parquet_folder(worse, tmp_path / "bad")
    model = PrivateKMeans(3, schema=POINTS, random_state=0)
    with privclust.engine(client):
        model.fit(data)
        with pytest.raises(ValueError, match="holds infinite numbers"):
            model.fit(bad)
    deadline = time.monotonic() + 20
    while client.futures or client.run_on_scheduler(_tasks):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def test_kept_rows_and_failures_show_no_value():
    assert repr(workers.HeldRows((np.array([42]),))) == "<rows>"

    class Part:
        def blocks(self):
            raise KeyError("secret")

    refused = workers.encode_part(Part(), None)
    assert isinstance(refused, workers.TaskRefusal)
    assert "secret" not in refused.sentence
    assert "KeyError" in refused.sentence
    assert workers.add_results([None, refused]) == refused
    assert workers.sum_statistic(refused, None, None) is refused


def test_people_are_bounded_on_a_cluster_as_here(client, tmp_path):
    data = parquet_folder(points(), tmp_path / "data", row_group=7)
    model = PrivateKMeans(3, schema=POINTS, unit=Person("who", 1), random_state=3)
    here = digest_of(model.fit(data))
    with privclust.engine(client, memory=0):
        assert digest_of(model.fit(data)) == here


def test_a_file_that_is_replaced_between_passes_is_an_error(client, tmp_path):
    data = parquet_folder(points().drop(columns="who"), tmp_path / "data")
    model = PrivateKMeans(3, schema=POINTS, random_state=0)
    for where in (None, client):
        with (
            replaced_after_the_first_pass(data / "1.parquet"),
            privclust.engine(where, memory=0),
            pytest.raises(ValueError, match="changed while they were read"),
        ):
            model.fit(data)


@contextmanager
def replaced_after_the_first_pass(path):
    """Append a row to a file when the first question was answered."""
    from privclust.data.view import Noised

    draw, done = Noised.draw, []

    def replacing(self, *args):
        if not done:
            done.append(True)
            table = pq.read_table(path)
            pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path)
        return draw(self, *args)

    with patch.object(Noised, "draw", replacing):
        yield


@pytest.mark.parametrize("record", [RECORDS["PrivateKMeans"], RECORDS["PrivateDilca"]])
def test_a_declared_number_of_rows_holds_on_a_cluster_too(record, client, tmp_path):
    data = record.data()
    for number, part in enumerate((data[:50], data[50:])):
        part.to_csv(tmp_path / f"{number}.csv", index=False)
    with privclust.engine(client):
        record.fit(record.make(ReplaceRow(len(data))), tmp_path)
        with pytest.raises(DataError, match="a different number of rows"):
            record.fit(record.make(ReplaceRow(len(data) + 1)), tmp_path)
