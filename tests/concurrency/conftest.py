"""Fixtures of tests with concurrent threads: each has its own connection, so rows are really committed."""

from pathlib import Path

import pytest

from jobs import joins, publish, pubsub
from jobs.notifications import requests


@pytest.fixture
def unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sends nothing to Redis: these tests race for rows, and no worker would consume the messages.

    By the test's own monkeypatch, which undoes what it did in the right order: one that ended after us
    would put our stand-ins back, for all tests to come.
    """
    monkeypatch.setattr(publish, "send_messages", lambda sends, early=False: bool(sends))
    monkeypatch.setattr(publish, "send_control", lambda *_, **__: True)
    monkeypatch.setattr(joins, "seed", lambda sizes: bool(list(sizes)) or True)
    monkeypatch.setattr(joins, "count", lambda parts: None)
    monkeypatch.setattr(pubsub, "publish_change", lambda office: None)
    monkeypatch.setattr(requests, "request_creation", lambda office: None)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lines")
