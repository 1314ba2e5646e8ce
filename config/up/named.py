"""Servers that DATABASE_URL and REDIS_URL name: whether they answer, asked once before they are needed."""

import psycopg2
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.embedded import CannotStart

PATIENCE_SECONDS = 5


def check_postgres(url: str) -> None:
    try:
        psycopg2.connect(url, connect_timeout=PATIENCE_SECONDS).close()
    except psycopg2.Error as error:
        raise CannotStart(f"DATABASE_URL does not answer: {_first_line(error)}") from None


def check_redis(url: str) -> None:
    client = redis.Redis.from_url(url, socket_timeout=PATIENCE_SECONDS, retry=Retry(NoBackoff(), 0))
    try:
        client.ping()
    except redis.RedisError as error:
        raise CannotStart(f"REDIS_URL does not answer: {_first_line(error)}") from None
    finally:
        client.close()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
