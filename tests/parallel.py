"""Runs the suite in several processes (`-n auto`, as `make test` does).

A part named by its path runs in one process, and so does everything with `-n 0` or a Redis named by
REDIS_URL. The processes share a PostgreSQL server, where pytest-django creates a database for each. Each has
its own Redis server: pub/sub crosses numbered databases, and tests inspect the server's clients.
"""

import importlib
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from xdist.scheduler import LoadScopeScheduling

from config.dev import process, redis
from config.dev.home import Home, open_home
from config.dev.with_servers import EMBEDDED_VARIABLES

if TYPE_CHECKING:
    from execnet import XSpec

# More than cores, since most tests wait for other processes.
PROCESSES = 6
ACCEPTANCE = "tests/acceptance/"
# The slowest tests run first, so that all processes finish at about the same time.
ORDER = ("acceptance", "concurrency", "integration", "unit")


def redis_is_ours() -> bool:
    return "REDIS_URL" in os.environ.get(EMBEDDED_VARIABLES, "").split()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    names_a_part = config.args_source is pytest.Config.ArgsSource.ARGS
    return PROCESSES if redis_is_ours() and not names_a_part else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence["XSpec"]) -> None:
    if not redis_is_ours():
        raise pytest.UsageError("Each process needs a Redis, and REDIS_URL names one: unset it, or add -n 0.")
    for spec in specs:
        home = open_home(Path(os.environ["DURE_HOME"]) / str(spec.id))
        server, url = redis.start(home)
        config.add_cleanup(partial(stop, server, home))
        spec.env |= {"DURE_HOME": str(home.path), "REDIS_URL": url}


def stop(server: process.Process, home: Home) -> None:
    process.stop([server])
    home.close()


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps the tests of a file together. Acceptance tests share two running systems, one with a browser."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if not file.startswith(ACCEPTANCE):
            return file
        return f"{ACCEPTANCE}test_browser" if file.startswith(f"{ACCEPTANCE}test_browser") else ACCEPTANCE


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    config.option.loadscopereorder = False  # by the number of tests, which says little of their time
    return ByFile(config, log)


def pytest_collection(session: pytest.Session) -> None:
    """In a new checkout, each process compiles a share of the test modules, and finds the others compiled."""
    if not hasattr(session.config, "workerinput"):
        return
    number = int(session.config.workerinput["workerid"].removeprefix("gw"))
    root = session.config.rootpath
    files = sorted(file for folder in session.config.args for file in (root / folder).rglob("test_*.py"))
    for file in files[number :: session.config.workerinput["workercount"]]:
        with suppress(Exception):  # the collection reports it
            importlib.import_module(".".join(file.relative_to(root).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def sort_key(item: pytest.Item) -> tuple[int, int]:
        file = item.path.relative_to(config.rootpath)
        kind = file.parts[1]
        # In the order of their names, the integration tests that mostly wait would run at the same time.
        return ORDER.index(kind), crc32(bytes(file)) if kind == "integration" else 0

    if hasattr(config, "workerinput"):
        items.sort(key=sort_key)
