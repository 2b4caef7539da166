"""A Dask cluster with TLS on this machine: certificates, a scheduler, two workers, and a fit.

On real machines the steps are the same. Every machine gets the certificate of the authority and one
of its own. Whoever holds a certificate of that authority may read the rows, so guard their keys.

Run ``python examples/tls_cluster.py [FOLDER]``: it writes made-up visits and the certificates to
the folder, fits on the cluster, and prints the centres.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from distributed import Security

import privclust
from privclust import Box, PrivateKMeans, Schema

HOST = "127.0.0.1"
# Workers never write rows to disk, and keep their memory from one question to the next.
SETTINGS = {
    "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False",
    "OMP_NUM_THREADS": "1",
}


def main() -> None:
    """Make everything in a folder and fit there."""
    with ExitStack() as cleaned:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else "")
        if len(sys.argv) < 2:
            folder = Path(cleaned.enter_context(tempfile.TemporaryDirectory()))
        visits, (authority, mine) = made_up_visits(folder / "visits"), certificates(folder)
        schema = Schema({"age": Box(0, 110), "visits": Box(0, 50)})
        model = PrivateKMeans(3, epsilon=1.0, schema=schema)
        security = Security(
            tls_ca_file=str(authority),
            tls_client_cert=str(mine),
            tls_client_key=str(mine),
            require_encryption=True,
        )
        with cluster(folder, authority, mine) as address:
            print("The scheduler listens at", address.partition("://")[0])
            with privclust.engine(address, security=security):
                model.fit(visits)
        print(model.cluster_centers_.round(1))


def made_up_visits(folder: Path) -> Path:
    """Write visits of people in three groups, in four files."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        group = rng.integers(0, 3, 5000)
        columns = {
            "age": np.array([20, 45, 75])[group] + rng.normal(scale=5, size=5000),
            "visits": np.array([3, 10, 25])[group] + rng.normal(scale=2, size=5000),
        }
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return folder


def certificates(folder: Path) -> tuple[Path, Path]:
    """Make an authority, and a certificate with its key for this machine; return both files."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the example")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    authority = _certificate(issuer, issuer, authority_key, authority_key, is_authority=True)
    mine = _certificate(subject, issuer, key, authority_key, is_authority=False)
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = folder / "authority.pem", folder / "machine.pem"
    for path, content in zip(
        files, (authority.public_bytes(pem), mine.public_bytes(pem) + secret), strict=True
    ):
        path.touch(mode=0o600)
        path.write_bytes(content)
    return files


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))])
    limits = x509.BasicConstraints(ca=is_authority, path_length=None)
    made = x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(minutes=5),
        not_valid_after=now + timedelta(days=1),
    )
    made = made.add_extension(names, critical=False).add_extension(limits, critical=True)
    return made.sign(signer, hashes.SHA256())


@contextmanager
def cluster(folder: Path, authority: Path, mine: Path) -> Iterator[str]:
    """Start a scheduler and two workers, and give the address of the scheduler."""
    found = folder / "scheduler.json"
    tls = ["--tls-ca-file", authority, "--tls-cert", mine, "--tls-key", mine]
    scheduler = ["scheduler", "--protocol", "tls", "--host", HOST, "--port", "0", "--no-dashboard",
                 "--dashboard-address", f"{HOST}:0", "--scheduler-file", found]  # fmt: skip
    worker = ["worker", "--host", HOST, "--scheduler-file", found, "--nthreads", "1", "--no-nanny",
              "--no-dashboard", "--local-directory", folder / "scratch"]  # fmt: skip
    started = []
    try:
        for command in (scheduler, worker, worker):
            whole = [sys.executable, "-m", "dask", *map(str, [*command, *tls])]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            settings = {**os.environ, **SETTINGS}
            started.append(subprocess.Popen(whole, env=settings, **quiet))  # noqa: S603
        yield _address_in(found)
    finally:
        for process in reversed(started):  # workers first, while there is a scheduler to tell
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _address_in(path: Path) -> str:
    """Wait until the scheduler has written its address."""
    for _ in range(600):
        if path.is_file() and path.stat().st_size:
            return str(json.loads(path.read_text())["address"])
        time.sleep(0.1)
    raise SystemExit("The scheduler did not start.")


if __name__ == "__main__":
    main()
