"""What the tests of exports start from: folders of their own, streams that are empty, and a user."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from tests.integration import export_tools as tools
from tests.integration.rest_support import client_of, forget_counts


@pytest.fixture
def folders(settings, tmp_path) -> None:
    """Where replays and exports are kept."""
    tools.roots(settings, tmp_path)


@pytest.fixture
def redis(folders) -> Iterator[Redis]:
    """Its streams are empty at the start and at the end of each test."""
    redis = tools.empty_redis()
    yield redis
    redis.delete(*tools.ALL)
    redis.close()


@pytest.fixture
def fresh_counts() -> None:
    """No request has been counted yet."""
    forget_counts()


@pytest.fixture
def minji() -> User:
    return tools.user()


@pytest.fixture
def client(minji) -> Client:
    """Speaks to the API with a token of minji's."""
    return client_of(minji)
