"""Makes the Redis clients of everything but Celery. A profile says how long a caller waits for an answer.

No client retries on its own for long: each caller has a better plan for an outage than to wait. Requests and
runs make their calls inside `circuit_breaker`, so that together they wait once for a Redis that does not
answer.
"""

import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as BrokenConnectionError
from redis.exceptions import RedisError
from redis.retry import Retry

ERRORS = (RedisError, OSError)
# The longest wait of a request, or of a run, for an answer: the broker's and the chords' clients have it too.
ANSWER_SECONDS = 2.0
# After a failure no caller of this process waits again until this long has passed.
PAUSE_SECONDS = 2.0

_paused_until = 0.0


class Unavailable(RedisError):
    """Redis did not answer a moment ago."""


@contextmanager
def circuit_breaker() -> Iterator[None]:
    """Raise Unavailable at once after a call of this process that failed: a frozen Redis would delay each."""
    global _paused_until  # noqa: PLW0603 (one for the process)
    if time.monotonic() < _paused_until:
        raise Unavailable("Redis did not answer a moment ago")
    try:
        yield
    except Exception:
        _paused_until = time.monotonic() + PAUSE_SECONDS
        raise


@dataclass(frozen=True)
class Profile:
    # None, since a read may wait for ever; redis-py would give up after 5 s.
    timeout: float | None
    connect_timeout: float = 3.0
    retries: int = 0
    health_check_interval: int = 0
    decode: bool = True

    def options(self) -> dict[str, Any]:
        return {
            "socket_timeout": self.timeout,
            "socket_connect_timeout": self.connect_timeout,
            "socket_keepalive": True,
            "health_check_interval": self.health_check_interval,
            "decode_responses": self.decode,
        }


# Marks, counters of joins, and publishing.
SHARED = Profile(ANSWER_SECONDS, connect_timeout=ANSWER_SECONDS, retries=1, health_check_interval=25)
# A request waits this long for its count, and passes without one.
THROTTLE = Profile(0.25, connect_timeout=0.25)
# `/readyz` and the like: a slow answer is a failure.
PROBE = Profile(1, connect_timeout=1)
# The doctor, and `make up`.
CHECK = Profile(3)
# Longer than any blocking read of the streams. One retry at once: the reader must notice a stop soon.
STREAMS = Profile(5, retries=1, decode=False)
SUBSCRIBER = Profile(None)


def connect(profile: Profile, url: str = "") -> "Redis":
    # A connection that broke while idle is worth a second try. A server that does not answer is not.
    retry = Retry(NoBackoff(), profile.retries, supported_errors=(BrokenConnectionError,))
    return Redis.from_url(url or settings.REDIS_URL, retry=retry, **profile.options())


def connect_async(profile: Profile, url: str = "") -> "AsyncRedis":
    retry = AsyncRetry(NoBackoff(), profile.retries)
    return AsyncRedis.from_url(url or settings.REDIS_URL, retry=retry, **profile.options())


@functools.cache
def client() -> "Redis":
    """The client that this process shares."""
    return connect(SHARED)
