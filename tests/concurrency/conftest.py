"""Tests that race: each thread has a connection of its own, so rows have to be committed for real."""

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from jobs import bells, joins, publish


@pytest.fixture
def unsent() -> Iterator[None]:
    """Nothing leaves for Redis: these tests race for rows, and nobody would come for the messages."""
    with (
        mock.patch.object(publish, "messages", lambda sends: len(sends)),
        mock.patch.object(publish, "control", lambda *_, **__: True),
        mock.patch.object(joins, "seed", lambda sizes: bool(list(sizes)) or True),
        mock.patch.object(joins, "count", lambda parts: None),
        mock.patch.object(bells, "ring", lambda office: None),
        mock.patch.object(bells, "notify", lambda office: None),
    ):
        yield


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lines")
