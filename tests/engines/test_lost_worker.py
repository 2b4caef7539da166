"""A worker that is killed in the middle of a fit costs time, and not a bit of the release."""

import os
import signal
import threading

import numpy as np
import pandas as pd

import privclust
from contract.golden_fits import digest_of
from privclust import PrivateKMeans
from privclust.engines.dask import DaskRows
from support.in_parts import parquet_folder


def test_a_killed_worker_costs_time_and_no_bit(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (4000, 3)), columns=["a", "b", "c"])
    data = parquet_folder(frame, tmp_path / "data", row_group=250)
    model = PrivateKMeans(3, bounds=(-1, 1), random_state=0)
    here = digest_of(model.fit(data))
    passes, killed = [], []
    with privclust.local_cluster(2, memory_limit="1GB") as client:
        pids = client.run(os.getpid)
        submitted = DaskRows._submit

        def killing(self, statistic):
            passes.append(statistic)
            futures = submitted(self, statistic)
            if len(passes) == 3:
                killed.append(next(iter(pids.values())))
                threading.Thread(target=os.kill, args=(killed[0], signal.SIGKILL)).start()
            return futures

        monkeypatch.setattr(DaskRows, "_submit", killing)
        with privclust.engine(client):
            assert digest_of(model.fit(data)) == here
        assert killed
        assert killed[0] not in client.run(os.getpid).values()
