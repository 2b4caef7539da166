"""The example of a cluster with TLS runs as it stands, on loopback."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "tls_cluster.py"


def test_the_example_fits_on_a_cluster_with_tls(tmp_path):
    command = [sys.executable, "-W", "ignore", str(EXAMPLE), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240)  # noqa: S603
    assert ran.returncode == 0, ran.stderr
    assert "The scheduler listens at tls" in ran.stdout
    assert (tmp_path / "machine.pem").stat().st_mode & 0o077 == 0
