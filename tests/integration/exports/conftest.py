"""Fixtures of the tests of exports: separate folders, empty streams, and a user."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from tests.integration import export_tools as tools
from tests.integration.rest_support import client_of


@pytest.fixture
def folders(settings, tmp_path) -> None:
    """The folders of replays and exports."""
    tools.roots(settings, tmp_path)


@pytest.fixture
def redis(folders) -> Iterator[Redis]:
    """Redis with empty streams at the start and the end of each test."""
    redis = tools.empty_redis()
    yield redis
    redis.delete(*tools.ALL)
    redis.close()


@pytest.fixture
def minji() -> User:
    return tools.user()


@pytest.fixture
def client(minji) -> Client:
    """An API client with minji's token."""
    return client_of(minji)
