"""Rows behind the URI of a store: listed, read in parts, and missed when they disappear.

The stores are real servers on this machine that speak the protocols of S3 and of Google.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

from privclust.exceptions import DataError
from privclust.reading.opening import open_rows
from support.blocks import block_numbers

FRAME = pd.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0) ** 2})
# In a process of its own: Arrow holds Python's lock while it asks this store. One thread for each
# connection, since Arrow keeps connections open.
GOOGLE = """
import http.server
from gcp_storage_emulator import server as store
store.server.HTTPServer = http.server.ThreadingHTTPServer
made = store.create_server("127.0.0.1", 0, in_memory=True, default_bucket="visits")
made.start()
print(made._api._httpd.server_address[1], flush=True)
input()
made.stop()
"""


@contextmanager
def s3() -> Iterator[tuple[str, str, pa.fs.FileSystem]]:
    from moto.server import ThreadedMotoServer  # slow to import

    server = ThreadedMotoServer(port=0)
    server.start()
    place = f"127.0.0.1:{server.get_host_and_port()[1]}"
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    with patch.dict(os.environ, keys):
        options = {"endpoint_override": place, "scheme": "http", "region": "us-east-1"}
        store = pa.fs.S3FileSystem(**options, allow_bucket_creation=True)
        store.create_dir("visits/rows")
        yield "s3://visits/rows", "&".join(f"{k}={v}" for k, v in options.items()), store
    server.stop()


@contextmanager
def google() -> Iterator[tuple[str, str, pa.fs.FileSystem]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", GOOGLE]
    with subprocess.Popen(command, **pipes) as server:  # noqa: S603
        place = f"127.0.0.1:{server.stdout.readline().strip()}"
        store = pa.fs.GcsFileSystem(anonymous=True, endpoint_override=place, scheme="http")
        yield "gs://anonymous@visits/rows", f"endpoint_override={place}&scheme=http", store
        server.communicate("\n")


@pytest.fixture(params=[s3, google], ids=["s3", "google"])
def bucket(request):
    """Return a folder in a store: its URI, the options of the URI, and the store."""
    with request.param() as (address, options, store):
        for number in range(3):
            part = pa.Table.from_pandas(FRAME[number * 10 : number * 10 + 10], preserve_index=False)
            with store.open_output_stream(f"visits/rows/{number}.parquet") as file:
                pq.write_table(part, file, row_group_size=5)
        yield address, options, store


@pytest.mark.system
def test_rows_are_read_from_a_store_in_parts(bucket):
    address, options, store = bucket
    for path in (f"{address}?{options}", f"{address}/*.parquet?{options}"):
        with open_rows(path) as source:
            parts = pickle.loads(pickle.dumps(source.parts(4)))
            assert len(parts) > 2
            blocks = [block_numbers(block) for part in parts for block in part.blocks()]
            assert np.array_equal(np.concatenate(blocks), FRAME)
    with open_rows(f"{address}?{options}") as source:
        store.delete_file("visits/rows/2.parquet")
        with pytest.raises(
            DataError, match=r"File '\w+://visits/rows/2.parquet' is no longer there"
        ):
            list(source.blocks())
