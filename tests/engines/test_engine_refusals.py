"""What cannot run on an engine is refused in one sentence, before anything is charged."""

import io
import socket
from unittest.mock import patch

import pandas as pd
import pytest

import privclust
from privclust import Ledger, PrivateKMeans, Schema
from privclust.engines import dask as cluster
from privclust.engines import workers
from privclust.engines.choose import bytes_of
from privclust.exceptions import DataError, EngineError, EngineWarning, ParameterError
from support.datasets import POINTS, points
from support.in_parts import parquet_folder


@pytest.fixture
def charged(tmp_path):
    """Return a model whose fits are charged, and a function that tells what was charged."""
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.create_dataset("visits")
    ledger.grant("visits", 5)
    model = PrivateKMeans(3, schema=POINTS, epsilon=1, ledger=ledger, dataset="visits")
    return model, lambda: any(entry.kind == "charge" for entry in ledger.history())


def refused(kind, part, call, *arguments):
    with pytest.raises(kind) as caught:
        call(*arguments)
    sentence = str(caught.value)
    assert part in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def entered(*arguments, **options):
    with privclust.engine(*arguments, **options):
        pass


def test_rows_in_memory_and_streams_stay_here(client, charged):
    model, was_charged = charged
    rows = points().drop(columns="who")
    with privclust.engine(client):
        refused(DataError, "Data in memory stay on this machine", model.fit, rows)
        stream = io.BytesIO(rows.to_csv(index=False).encode())
        refused(DataError, "A stream stays on this machine", model.fit, stream)
    assert not was_charged()


def test_a_worker_of_another_version_is_refused_before_the_charge(client, charged, tmp_path):
    model, was_charged = charged
    data = parquet_folder(points().drop(columns="who"), tmp_path / "data")
    with privclust.engine(client), patch.object(cluster.workers, "worker_facts", look_here):
        refused(EngineError, "A worker has privclust 9.9 and this process 0.1", model.fit, data)
    assert not was_charged()


def look_here(dask_worker=None):
    """Tell another version to the coordinator than to itself."""
    version = "9.9" if dask_worker is not None else "0.1"
    return workers.WorkerFacts((("privclust", version),), 1, 2**30, False, None)


def test_a_worker_that_cannot_run_privclust_is_refused(client):
    broken = patch.object(type(client), "run", side_effect=ModuleNotFoundError("privclust"))
    with broken:
        refused(EngineError, "A worker cannot run privclust", entered, client)


def test_a_scheduler_that_does_not_answer_is_named():
    with socket.socket() as taken, patch("privclust.engines.choose._WAIT_SECONDS", 0.3):
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        refused(EngineError, f"The scheduler at {address} does not answer", entered, address)


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("tls://10.0.0.5:8786", True),
        ("tcp://127.0.0.1:8786", True),
        ("tcp://[::1]:8786", True),
        ("tcp://localhost:8786", True),
        ("inproc://10.0.0.5/1", True),
        ("tcp://10.0.0.5:8786", False),
        ("tcp://example.org:8786", False),
        ("ucx://10.0.0.5:8786", False),
    ],
)
def test_only_loopback_may_do_without_encryption(address, safe):
    assert cluster._is_safe(address) is safe


def test_a_cluster_in_clear_needs_the_word_for_it(client):
    everywhere = patch.object(cluster.Cluster, "_addresses", lambda self: ["tcp://10.0.0.5:1"])
    with everywhere:
        refused(EngineError, "pass insecure=True", entered, client)
        entered(client, insecure=True)


def test_workers_that_write_rows_to_disk_need_a_folder_of_the_holder(client):
    def spilling(dask_worker=None):
        return workers.WorkerFacts((), 1, 2**30, False, "/tmp/scratch/w1")  # noqa: S108

    with patch.object(cluster.workers, "worker_facts", spilling):
        refused(EngineError, "would write rows in the clear to '/tmp/scratch/w1'", entered, client)
        folder = "/tmp/scra"  # noqa: S108
        refused(EngineError, "in the clear", lambda: entered(client, spill_to=folder))
        entered(client, spill_to="/tmp/scratch")  # noqa: S108


def test_workers_whose_allocator_trims_are_warned_of(client):
    def trimming(dask_worker=None):
        return workers.WorkerFacts((), 1, 2**30, True, None)

    with (
        patch.object(cluster.workers, "worker_facts", trimming),
        pytest.warns(EngineWarning, match="MALLOC_TRIM_THRESHOLD_"),
    ):
        entered(client)


def test_a_part_that_disappears_says_what_stays_charged(client, charged, tmp_path):
    model, was_charged = charged
    data = parquet_folder(points().drop(columns="who"), tmp_path / "data")
    reserve = PrivateKMeans._reserve

    def removing(self, *arguments):
        receipt = reserve(self, *arguments)
        (data / "1.parquet").unlink()
        return receipt

    with privclust.engine(client), patch.object(PrivateKMeans, "_reserve", removing):
        refused(DataError, "is no longer there", model.fit, data)
    assert was_charged()


def test_errors_of_workers_quote_no_value(client, tmp_path):
    frame = pd.DataFrame({"x": ["secret", "1"], "y": ["2", "3"]})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    schema = Schema.from_bounds(0, 1, names=["x", "y"])
    model = PrivateKMeans(1, schema=schema, random_state=0)
    with privclust.engine(client), pytest.raises(DataError) as caught:
        model.fit([path, path])
    assert "secret" not in str(caught.value)
    assert "'x'" in str(caught.value)


def test_data_that_make_no_table_are_refused_before_the_charge(client, charged, tmp_path):
    model, was_charged = charged
    (tmp_path / "empty").mkdir()
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    rows = points().drop(columns="who")
    rows.to_parquet(one)
    rows.rename(columns={rows.columns[0]: "other"}).to_parquet(other)
    texts = tmp_path / "texts.parquet"
    rows.astype({rows.columns[0]: str}).to_parquet(texts)
    with privclust.engine(client):
        refused(DataError, "has no .parquet, .csv or .arrow file", model.fit, tmp_path / "empty")
        refused(DataError, "has columns other than", model.fit, [one, other])
        refused(DataError, "text", model.fit, [one, texts])
    assert not was_charged()


def test_words_about_a_cluster_need_one():
    refused(ParameterError, "are for a Dask cluster", lambda: entered(insecure=True))
    refused(ParameterError, "distributed.Client or the address", entered, 7)


def test_memory_is_written_as_people_do():
    assert bytes_of("2 GB") == 2 * 10**9
    assert bytes_of("1.5gib") == 3 * 2**29
    assert bytes_of("300") == bytes_of(300) == 300
    for wrong in ("much", "-1", ".", "1..2 GB", -1, True):
        refused(ParameterError, "memory must be bytes", bytes_of, wrong)


def test_without_dask_the_extra_is_named():
    with patch.dict("sys.modules", {"distributed": None}):
        refused(EngineError, "pip install '.[dask]' in a clone", entered, "tls://10.0.0.5:1")


def test_no_row_at_all_is_told_by_every_engine(client, tmp_path):
    empty = parquet_folder(points().drop(columns="who").head(0), tmp_path / "none", n_files=1)
    model = PrivateKMeans(1, schema=POINTS, random_state=0)
    for where in (None, client):
        with privclust.engine(where):
            refused(DataError, "The data have no rows", model.fit, empty)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--insecure"], "add --scheduler"),
        (["--memory", "much"], "memory must be bytes"),
        (["--scheduler", "tcp://127.0.0.1:1"], "does not answer"),
    ],
)
def test_the_command_line_refuses_alike(options, part, tmp_path, monkeypatch, capsys):
    from privclust.cli.commands import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("privclust.engines.choose._WAIT_SECONDS", 0.3)
    points().drop(columns="who").to_csv("rows.csv", index=False)
    command = ["kmeans", "rows.csv", "--bounds", "-1", "1", "--epsilon", "1", *options]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code
    assert part in capsys.readouterr().err
