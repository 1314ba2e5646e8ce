"""One running system for all acceptance tests: starting one takes seconds, so it is shared."""

from collections.abc import Iterator

import pytest

from tests.acceptance.system import System


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = System(tmp_path_factory.mktemp("up"))
    try:
        running.start()
        yield running
    finally:
        if not running.has_ended():
            running.stop()


@pytest.fixture
def stack(system: System) -> System:
    """The shared system, up: a test that stops it leaves it to the next one to start again."""
    if system.has_ended():
        system.start()
    return system
