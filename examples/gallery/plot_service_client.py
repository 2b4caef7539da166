"""
Asking a service
================

The rows stay with their steward; an analyst asks from elsewhere, with the estimators' own
interface. Here both are on one machine.
"""

import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from privclust import AddRemoveRow, Box, PrivateKMeans, Schema
from privclust.service import RemoteDataset
from privclust.service.services import Services
from privclust.service.settings import Settings

# %%
# **The steward's side.** A file of rows and a settings file. A steward would register the data set,
# add the analyst and grant a budget in the browser; the same is done here by the service's own
# parts.
folder = Path(tempfile.mkdtemp())
(folder / "data").mkdir()
rng = np.random.default_rng(12)
kind = rng.choice(3, 4_000)
stays = pd.DataFrame(
    {
        "age": rng.normal(np.array([30, 50, 75])[kind], 6).round(),
        "days": rng.gamma(4, np.array([0.5, 1, 2.5])[kind]).round(1),
    }
)
stays.to_csv(folder / "data" / "stays.csv", index=False)
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
url = f"http://127.0.0.1:{port}"
database, data = str(folder / "service.db"), str(folder / "data")
schema = Schema({"age": Box(0, 110, missing=50), "days": Box(0, 60, missing=0)})
site = Services(Settings(url=url, port=port, database=database, data=data), works=False)
first = site.accounts.add("ann", "analyst")
site.accounts.change_password(site.accounts.by_name("ann"), first, "a password of her own")
ann = site.accounts.by_name("ann")
draft = site.datasets.draft("stays", "stays.csv", schema, AddRemoveRow(), 5_000)
dataset = site.datasets.add(draft, site.datasets.check(draft))
site.datasets.grant(dataset, ann, "2", "0", "a study of stays")
token = site.accounts.add_token(ann, "laptop", "run", 1)

(folder / "service.toml").write_text(
    f'url = "{url}"\nport = {port}\ndatabase = "{database}"\ndata = "{data}"\ntick_seconds = 1\n'
)
command = [sys.executable, "-m", "privclust", "serve", "--config", str(folder / "service.toml")]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
for _ in range(300):
    try:
        urlopen(f"{url}/healthz").close()  # noqa: S310
        break
    except OSError:
        time.sleep(0.1)

# %%
# **The analyst's side.** An address and a token are all it takes. ``remote.plan(model)`` would tell
# cost and error beforehand, for nothing; ``remote.fit(model)`` is charged and returns a release.
# It appears at a fixed moment, whatever the job needs.
try:
    remote = RemoteDataset(f"{url}/datasets/{dataset.id}", token)
    release = remote.fit(PrivateKMeans(3, epsilon=1.0))
    left = remote.about()["balance"][0]["left"]
finally:
    server.terminate()
    server.wait()
print(f"left of the grant: {left}")

# %%
# The release is like any other: it labels rows of the analyst's own, and says what it cost.
centres, sizes = release.arrays["cluster_centers"], release.arrays["cluster_sizes"]
figure, axes = plt.subplots()
axes.scatter(*centres.T, s=sizes / 5, alpha=0.7)
for (age, days), size in zip(centres, sizes, strict=True):
    axes.annotate(f"{size:,.0f} stays", (age, days), ha="center", va="center")
axes.set(xlabel="age", ylabel="days", xlim=(0, 110), ylim=(0, 20), title=release.privacy.promise)
plt.show()
