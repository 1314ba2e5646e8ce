"""What every test may need. Servers: PostgreSQL and Redis are the real ones, embedded unless named."""

import os
import sys

import pytest

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
