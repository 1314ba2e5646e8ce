"""What every test may need. Servers: PostgreSQL and Redis are the real ones, embedded unless named."""

import os
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from tests import fast_teardown

pytest_plugins = ["tests.parallel", "tests.fast_teardown"]

SERVER_VARIABLES = ("DATABASE_URL", "REDIS_URL")


def pytest_configure(config: pytest.Config) -> None:
    """A plain `pytest` starts the servers that `make test` starts: it begins again beside them.

    Were they left unset, the settings would name the servers of a `make up` that runs here.
    """
    if all(os.environ.get(name) for name in SERVER_VARIABLES):
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    # From a folder below, the packages of the checkout are found as well.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(config.rootpath), os.environ.get("PYTHONPATH", "")])
    this = [sys.executable, "-m", "pytest", *config.invocation_params.args]
    os.execv(sys.executable, [sys.executable, "-m", "config.embedded", "run", "--", *this])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        fast_teardown.remember()
    yield
    # A thread of asgiref's keeps its connection for good, and nobody can drop the database meanwhile.
    with django_db_blocker.unblock():
        fast_teardown.cut_others_off()


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """A password is slow to check on purpose, and hundreds of tests make users. Each hash says itself how
    often it was turned, so the processes that tests start can check it as well."""
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    with mock.patch.object(PBKDF2PasswordHasher, "iterations", 1):
        yield
