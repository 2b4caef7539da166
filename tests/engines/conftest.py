"""A Dask cluster within this process, made once, and data in files that workers can read."""

import logging

import pytest

from privclust import local_cluster


@pytest.fixture(scope="session")
def client():
    """Return a client of one worker with two threads, in this process."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with local_cluster(1, threads_per_worker=2, processes=False) as client:
        yield client
