"""A service to try: a small data set, a steward and two analysts, in a folder in memory."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.conftest import new_postgres_url, postgres_server, postgres_url, tmp_path
from privclust.service.settings import _LEVELS
from service.clocks import false_clock
from service.serving import Serving

__all__ = ["false_clock", "new_postgres_url", "postgres_server", "postgres_url", "tmp_path"]


@pytest.fixture(autouse=True)
def _blank_pictures(blank_pictures: None) -> None:
    """Jobs write reports; what is drawn there is tested elsewhere."""


@pytest.fixture(autouse=True)
def _no_handlers_of_logs() -> Iterator[None]:
    """A test that logs to its own stream leaves none behind, nor does one of another folder."""
    _forget_handlers()
    yield
    _forget_handlers()


def _forget_handlers() -> None:
    for logger in map(logging.getLogger, _LEVELS):
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def first_serving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service that is made once and copied for every test."""
    folder = tmp_path_factory.mktemp("service")
    Serving.made(folder, str(folder / "service.db"))
    return folder


@pytest.fixture
def serving(first_serving: Path, tmp_path: Path) -> Serving:
    """A service on SQLite with one data set, and ε = 2 granted to ann."""
    shutil.copytree(first_serving, tmp_path, dirs_exist_ok=True)
    return Serving.opened(tmp_path, str(tmp_path / "service.db"))


@pytest.fixture(params=["sqlite", "postgresql"])
def any_serving(request: pytest.FixtureRequest, tmp_path: Path) -> Serving:
    """The same on either database."""
    if request.param == "sqlite":
        found: Serving = request.getfixturevalue("serving")
        return found
    return Serving.made(tmp_path, request.getfixturevalue("postgres_url"))
