"""One measured run of ``scale.py``, in a process of its own: ``scale_runs.py RUN DATA``.

Prints one line of JSON: CPU and wall seconds of the fit, the peak of the memory of all processes,
and a digest of what is released. CPU seconds are those of this process and of the workers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import resource
import signal
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CLUSTERS, WORKERS = 16, 2
Facts = dict[str, Any]


def points(data: str) -> str:
    """Fit k-means as ``privclust`` stands on the path."""
    from privclust import PrivateKMeans

    return _digest(PrivateKMeans(CLUSTERS, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(data))


def pairs(data: str) -> str:
    """Learn a metric of categories from all pairs of columns."""
    from privclust import Categories, PrivateDilca, Schema
    from scale_sets import CATEGORIES

    schema = Schema({f"c{i}": Categories(list(range(k))) for i, k in enumerate(CATEGORIES)})
    return _digest(PrivateDilca(schema=schema, epsilon=1.0, random_state=0).fit(data))


def baskets(data: str) -> str:
    """Co-cluster a matrix in pieces."""
    from privclust import PrivateCoclustering

    return _digest(PrivateCoclustering(8, 8, epsilon=1.0, random_state=0).fit(data))


def minibatch(data: str) -> str:
    """Fit scikit-learn's MiniBatchKMeans, which is not private, in as many passes."""
    import numpy as np
    import pyarrow.parquet as pq
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(CLUSTERS, random_state=0, n_init=1)
    for _ in range(13):
        for path in sorted(Path(data).glob("*.parquet")):
            for batch in pq.ParquetFile(path).iter_batches(65_536):
                columns = [column.to_numpy() for column in batch.columns]
                model.partial_fit(np.column_stack(columns))
    return hashlib.sha256(model.cluster_centers_.tobytes()).hexdigest()[:16]


def diffprivlib(data: str) -> Facts:
    """Fit diffprivlib's KMeans to all rows in memory, by the interpreter that it imports in."""
    import numpy as np
    import pyarrow.parquet as pq

    here = Path(__file__).parent
    usual = here.parent / ".venv-peers" / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.npy"
        table = pq.read_table(data)
        np.save(rows, np.column_stack([c.to_numpy().astype(float) for c in table.columns]))
        script, given = here / "peers" / "diffprivlib_kmeans.py", [CLUSTERS, 1.0, -1, 1, 1]
        command = [os.environ.get("PRIVCLUST_PEERS", str(usual)), script, rows, *given]
        start = time.perf_counter()
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu": spent.ru_utime + spent.ru_stime,
        "wall": time.perf_counter() - start,
        "megabytes": spent.ru_maxrss / 1024,
        "digest": "",
    }


FITS: dict[str, Callable[[str], str]] = {"points": points, "pairs": pairs, "baskets": baskets}


def _digest(model: Any) -> str:
    arrays = sorted(model.release().arrays.items())
    return hashlib.sha256(b"".join(array.tobytes() for _, array in arrays)).hexdigest()[:16]


def local(fit: Callable[[], str]) -> Facts:
    """Run in this process."""
    start, cpu = time.perf_counter(), time.process_time()
    digest = fit()
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - start,
        "megabytes": _peak(),
        "digest": digest,
    }


def on_dask(fit: Callable[[], str], *, kill: bool = False) -> Facts:
    """Run on two worker processes, and kill one of them in the third pass if asked to."""
    import privclust

    with privclust.local_cluster(WORKERS) as client, privclust.engine(client), _counted() as wire:
        pids = list(client.run(os.getpid).values())
        if kill:
            threading.Thread(target=_kill_in_pass_3, args=(pids[0], wire), daemon=True).start()
        before = client.run(_cpu)
        facts = local(fit)
        after, peaks = client.run(_cpu), client.run(_peak)
        # Of a worker that was killed only what its successor did is known.
        facts["worker_cpu"] = sum(after[w] - before.get(w, 0.0) for w in after)
        facts["megabytes"] += sum(peaks.values())
    facts["coordinator_cpu"] = facts["cpu"]
    facts["cpu"] += facts["worker_cpu"]
    return {**facts, **wire}


def tasks(data: str) -> Facts:
    """Return what a task costs the coordinator and the workers, when it has nothing to do."""
    import privclust

    with privclust.local_cluster(WORKERS) as client:
        client.gather([client.submit(abs, number) for number in range(100)])
        before, start, cpu = client.run(_cpu), time.perf_counter(), time.process_time()
        count = 2000
        client.gather([client.submit(abs, number, pure=False) for number in range(count)])
        after = client.run(_cpu)
        return {
            "cpu": (time.process_time() - cpu) / count,
            "wall": (time.perf_counter() - start) / count,
            "worker_cpu": sum(after[w] - before[w] for w in after) / count,
        }


def _cpu() -> float:
    return sum(os.times()[:2])


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _counted() -> Iterator[dict[str, int]]:
    """Count passes, tasks, and the bytes of what is sent and of what comes back."""
    from distributed import Future

    from privclust.engines import dask

    wire = {"passes": 0, "tasks": 0, "bytes_out": 0, "bytes_back": 0}
    submit, total = dask.DaskEngine.submit, dask.DaskRows.sum

    def counted_submit(self: Any, task: Any, *arguments: Any) -> Any:
        wire["tasks"] += 1
        sent = [a for a in arguments if not isinstance(a, (Future, list))]
        wire["bytes_out"] += len(pickle.dumps(sent))
        return submit(self, task, *arguments)

    def counted_sum(self: Any, statistic: Any) -> Any:
        wire["passes"] += 1
        result = total(self, statistic)
        wire["bytes_back"] += len(pickle.dumps(result))
        return result

    dask.DaskEngine.submit, dask.DaskRows.sum = counted_submit, counted_sum
    try:
        yield wire
    finally:
        dask.DaskEngine.submit, dask.DaskRows.sum = submit, total


def _kill_in_pass_3(pid: int, wire: dict[str, int]) -> None:
    while wire["passes"] < 3:
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Run what is asked for and print its figures."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", help="such as points-local or points-dask-killed")
    parser.add_argument("data", help="a file or folder that scale.py made")
    given = parser.parse_args()
    run, data = given.run, given.data
    name, _, where = run.partition("-")
    if run == "tasks":
        facts = tasks(data)
    elif run == "points-diffprivlib":
        facts = diffprivlib(data)
    elif run == "points-minibatch":
        facts = local(lambda: minibatch(data))
    elif where.startswith("dask"):
        facts = on_dask(lambda: FITS[name](data), kill=where == "dask-killed")
    elif where.startswith("local-"):  # within a limit of memory
        import privclust

        with privclust.engine(memory=where.removeprefix("local-")):
            facts = local(lambda: FITS[name](data))
    else:
        facts = local(lambda: FITS[name](data))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
