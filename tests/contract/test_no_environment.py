"""What is released depends on data, parameters and noise, never on the environment."""

from __future__ import annotations

from pathlib import Path

import privclust

PACKAGE = Path(privclust.__file__).parent
# A token of the remote command, where a service finds its secrets, and whether a worker process
# gives memory back.
# The process that labels is handed the environment, which nothing is read from.
MAY_READ = {"cli/remote.py", "engines/workers.py", "service/labelling.py", "service/settings.py"}


def test_only_these_files_read_the_environment():
    reading = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in ("os.environ", "getenv", "environb"))
    }
    assert reading <= MAY_READ
