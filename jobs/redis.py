"""Makes the Redis clients of everything but Celery. A profile says how long a caller waits for an answer.

No client retries on its own for long: each caller has a better plan for an outage than to wait.
"""

import functools
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

ERRORS = (RedisError, OSError)


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
SHARED = Profile(3, retries=1, health_check_interval=25)
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
    retry = Retry(NoBackoff(), profile.retries)
    return Redis.from_url(url or settings.REDIS_URL, retry=retry, **profile.options())


def connect_async(profile: Profile, url: str = "") -> "AsyncRedis":
    retry = AsyncRetry(NoBackoff(), profile.retries)
    return AsyncRedis.from_url(url or settings.REDIS_URL, retry=retry, **profile.options())


@functools.cache
def client() -> "Redis":
    """The client that this process shares."""
    return connect(SHARED)
