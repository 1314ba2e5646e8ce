"""Fixtures of all tests. PostgreSQL and Redis are real: started here, or named by the environment."""

import gc
import os
import signal
import sys
import uuid
from collections.abc import Iterator
from typing import Any
from unittest import mock

import hypothesis
import pytest

from tests import fast_teardown
from tests.unit.process_tools import processes_with_mark

pytest_plugins = ["tests.parallel", "tests.fast_teardown"]

# The same examples each time, and no deadline for one of them: a busy machine is no defect.
hypothesis.settings.load_profile("ci")

SERVER_VARIABLES = ("DATABASE_URL", "REDIS_URL")


def pytest_configure(config: pytest.Config) -> None:
    """A plain `pytest` starts itself again with servers of its own, as `make test` does.

    With the variables unset, the settings would name the servers of a running `make up`.
    """
    if all(os.environ.get(name) for name in SERVER_VARIABLES):
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    # So that Python finds the packages when pytest starts in a subfolder.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(config.rootpath), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", *config.invocation_params.args]
    os.execv(sys.executable, [sys.executable, "-m", "config.dev.with_servers", "--", *command])


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is imported stays: the garbage collector need not look at it every few hundred objects."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        fast_teardown.remember_rows_of_migrations()
    yield
    # A thread of asgiref keeps its connection open, which prevents dropping the database.
    with django_db_blocker.unblock():
        fast_teardown.close_other_connections()


@pytest.fixture(autouse=True, scope="session")
def fast_password_hashing() -> Iterator[None]:
    """Hundreds of tests create users. Each hash contains its number of iterations, so the processes that
    tests start can check it as well."""
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    with mock.patch.object(PBKDF2PasswordHasher, "iterations", 1):
        yield


@pytest.fixture(autouse=True, scope="session")
def static_files_are_listed_once() -> Iterator[None]:
    """Each test client has its own middleware, and WhiteNoise's lists the files of all apps at its start."""
    from whitenoise.middleware import WhiteNoiseMiddleware

    list_files = WhiteNoiseMiddleware.add_files_from_finders
    files: dict[str, Any] = {}

    def add_files(middleware: WhiteNoiseMiddleware) -> None:
        if not files:
            list_files(middleware)
            files.update(middleware.files)
        middleware.files.update(files)

    with mock.patch.object(WhiteNoiseMiddleware, "add_files_from_finders", add_files):
        yield


@pytest.fixture(autouse=True, scope="session")
def requests_wait_for_their_count() -> Iterator[None]:
    """On a busy machine Redis may answer after more than the quarter of a second that a request waits."""
    from jobs import redis

    with mock.patch.object(redis, "THROTTLE", redis.Profile(30, connect_timeout=30)):
        yield


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """A process keeps what it read of the catalogue for a moment, and a test may have emptied the tables. For
    a moment it also asks nothing of a Redis that did not answer, which may have been a test's own."""
    from jobs import catalogue, redis

    catalogue.forget()
    redis._paused_until = 0.0


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark in the command line of every process of a test, to find them all."""
    mark = f"mark-{uuid.uuid4().hex}"
    yield mark
    for pid in processes_with_mark(mark):
        os.kill(pid, signal.SIGKILL)
