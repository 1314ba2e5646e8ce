"""Real workers for tests that need them: one pair for a module, on the database of `transaction=True` tests.

There is no beat: a test that wants a sweep calls it, and one that does not proves that none was needed.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine_workers import Workers, ending_what_runs, start


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


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file for bodies to write to."""
    return str(tmp_path / "lines")
