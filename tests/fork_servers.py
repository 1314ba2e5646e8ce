"""Django programs that tests start, forked from processes that have imported the code already.

Importing is two thirds of the work of a start. The settings are read from the environment at that moment, so
each environment has a process of its own, which ends with the tests, as its programs end with it.
"""

import atexit
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from config.dev.forks import Fork, ForkServer
from config.dev.home import open_home
from tests.unit.process_tools import eventually

LOAD_SECONDS = 90.0
# Tests of several files alternate between a few environments.
MOST_IDLE = 2


class ForkServers:
    """By environment, the one that was used last at the end."""

    def __init__(self, folder: Path) -> None:
        self._home = open_home(folder)
        self._servers: dict[frozenset[tuple[str, str]], ForkServer] = {}

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Fork | None:
        """Start `python ...` by a fork; None if the code cannot be imported with this environment."""
        server = self._server_of(environment)
        return server.start(["python", *arguments], log) if server.is_loaded else None

    def close(self) -> None:
        for server in self._servers.values():
            server.close()
        self._home.close()

    def _server_of(self, environment: Mapping[str, str]) -> ForkServer:
        key = frozenset(environment.items())
        server = self._servers.pop(key, None)
        if server is None or server.process.has_ended():
            self._close_idle()
            server = ForkServer(self._home, environment, [])
            server.load()
        self._servers[key] = server
        assert eventually(server.has_answered, LOAD_SECONDS), f"see {server.process.log}"
        return server

    def _close_idle(self) -> None:
        for server in self._servers.values():
            server.read()
        idle = [key for key, server in self._servers.items() if not server.living]
        for key in idle[:-MOST_IDLE]:
            self._servers.pop(key).close()


@cache
def fork_servers() -> ForkServers:
    """Those of this process."""
    folder = tempfile.TemporaryDirectory(prefix="dure-")
    servers = ForkServers(Path(folder.name) / "home")
    atexit.register(folder.cleanup)
    atexit.register(servers.close)
    return servers
