"""What ``make dist`` checks of a wheel and a source archive: their contents, and that they install.

``python tests/wheels/check.py dist`` installs the wheel into an empty environment, without any
extra, and uses it there as a newcomer would: a fit, a release, a report, the command line.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path, PurePosixPath

SOURCES = Path(__file__).parents[2] / "src" / "privclust"
# What a source archive must hold besides the package, so that somebody can test and build it.
WANTED = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "Makefile", "tests/conftest.py"}
USE = """
import numpy as np
from privclust import Box, PrivateKMeans, Release, Schema
schema = Schema({"x": Box(0, 1), "y": Box(0, 1)})
model = PrivateKMeans(2, epsilon=1.0, schema=schema).fit(np.random.default_rng(0).random((500, 2)))
model.release().save("release", report=True)
assert Release.load("release").digest == model.release().digest
"""


def packaged() -> set[str]:
    """Return every file of the package that has to be installed, by its path in a wheel."""
    files = (path for path in SOURCES.rglob("*") if path.is_file())
    return {
        str(PurePosixPath("privclust") / path.relative_to(SOURCES).as_posix())
        for path in files
        if "__pycache__" not in path.parts
    }


def problems_of_wheel(names: set[str]) -> list[str]:
    """Return what a wheel lacks, and what it has beyond the package and its metadata."""
    lacking = [f"the wheel lacks {name}" for name in sorted(packaged() - names)]
    own = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    return lacking + [f"the wheel should not hold {name}" for name in sorted(own - packaged())]


def problems_of_sdist(names: set[str]) -> list[str]:
    """Return what a source archive lacks; its files lie below one folder."""
    inner = {name.partition("/")[2] for name in names}
    wanted = WANTED | {f"src/{name}" for name in packaged()}
    return [f"the source archive lacks {name}" for name in sorted(wanted - inner)]


def install_and_use(wheel: Path) -> None:
    """Install a wheel into an empty environment and use it there; raise if anything fails."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        binaries = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        python = str(binaries / "python")
        for command in (
            [python, "-m", "pip", "install", "--quiet", str(wheel.resolve())],
            [python, "-c", USE],
            [str(binaries / "privclust"), "--version"],
        ):
            subprocess.run(command, cwd=folder, check=True)  # noqa: S603


def main(folder: str) -> int:
    """Check what lies in a folder, and return 0 if all is well."""
    (wheel,), (sdist,) = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        problems = problems_of_wheel(set(archive.namelist()))
    with tarfile.open(sdist) as files:
        problems += problems_of_sdist(set(files.getnames()))
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        install_and_use(wheel)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
