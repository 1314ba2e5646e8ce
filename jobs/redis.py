"""The Redis client for everything that is not Celery's own: marks, and bells for those who watch."""

import functools

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

ERRORS = (RedisError, OSError)


@functools.cache
def client() -> "Redis":
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=3,
        socket_connect_timeout=3,
        socket_keepalive=True,
        health_check_interval=25,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
    )
