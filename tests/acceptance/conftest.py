"""One running system for all acceptance tests: starting one takes seconds, so it is shared.

A module's browser is its own: while one is open, asyncio cannot be run beside it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.browser import Window, launched, need_chromium
from tests.acceptance.system import System
from tests.acceptance.timetable import Timetable, make


@pytest.fixture(scope="package")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = System(tmp_path_factory.mktemp("up"))
    try:
        running.start()
        yield running
    finally:
        if not running.has_ended():
            running.stop()


@pytest.fixture(scope="package", autouse=True)
def timetable(request: pytest.FixtureRequest) -> Timetable | None:
    """Creates the schedules of test_timetable.py early: their minutes pass during the tests before it."""
    is_wanted = any(item.path.name == "test_timetable.py" for item in request.session.items)
    return make(request.getfixturevalue("system")) if is_wanted else None


@pytest.fixture
def stack(system: System) -> System:
    """The shared system, started again if a test stopped it."""
    if system.has_ended():
        system.start()
    return system


@pytest.fixture
def folder(stack: System, tmp_path: Path) -> Path:
    """A folder like the checkout, for the commands of the documentation."""
    (tmp_path / "var").symlink_to(stack.home)
    return tmp_path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    need_chromium()
    with launched() as running:
        yield running


@pytest.fixture
def window(browser: Any, stack: System) -> Iterator[Any]:
    """Opens windows, in English by default: `window("ko", viewport=...).sign_in("alice")`."""
    opened: list[Window] = []

    def open_one(locale: str = "en", **more: Any) -> Window:
        opened.append(Window(browser, stack, locale, **more))
        return opened[-1]

    yield open_one
    for opened_window in opened:
        opened_window.context.close()
        assert opened_window.complaints == []
        assert opened_window.foreign_requests == []


@pytest.fixture(scope="module")
def office(system: System) -> Iterator[str]:
    """An office of the tests: the demonstration's jobs occupy the slots of its own office."""
    if system.has_ended():
        system.start()
    made = system.client("alice").create("/api/offices", {"name": "Browser tests"})
    yield str(made["id"])
    if not system.has_ended():
        system.client("alice").send("DELETE", f"/api/offices/{made['id']}")
