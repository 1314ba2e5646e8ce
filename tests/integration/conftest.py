"""Real workers for tests that need them: one pair for a module, on the database of `transaction=True` tests.

There is no beat: a test that wants a sweep calls it, and one that does not proves that none was needed.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine_workers import Workers, ending_what_runs, start
from tests.integration.rest_support import forget_counts


@pytest.fixture(scope="module")
def workers(
    django_db_setup: None, django_db_blocker: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workers]:
    with django_db_blocker.unblock(), start(tmp_path_factory.mktemp("workers")) as running:  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def worker(workers: Workers, transactional_db: None) -> Iterator[Workers]:
    """The module's workers, idle at the start and at the end of each test."""
    with ending_what_runs():
        yield workers


@pytest.fixture(scope="module")
def workers_with_long_bursts(
    django_db_setup: None, django_db_blocker: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workers]:
    """A worker whose bursts are long enough for a busy machine."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():  # type: ignore[attr-defined]
        patch.setenv("DURE_BURST_MS", "1000")
        with start(tmp_path_factory.mktemp("bursts"), name="bursting") as running:
            yield running


@pytest.fixture
def bursting_worker(workers_with_long_bursts: Workers, transactional_db: None) -> Iterator[Workers]:
    """The same, idle at the start and at the end of each test."""
    with ending_what_runs():
        yield workers_with_long_bursts


@pytest.fixture
def fresh_counts() -> None:
    """Reset the counts of requests that throttles compare."""
    forget_counts()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file for bodies to write to."""
    return str(tmp_path / "lines")
