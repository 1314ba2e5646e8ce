"""Counts in Redis, atomically, and lets everything pass while Redis does not answer."""

import logging
import time
from dataclasses import dataclass
from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

log = logging.getLogger(__name__)

PREFIX = "dure:count:"
# A request waits this long for a counter, once; then nobody asks for the pause that follows.
PATIENCE_SECONDS = 0.25
PAUSE_SECONDS = 5.0


@dataclass(frozen=True)
class Count:
    count: int
    seconds_left: float


class Counters:
    """Fixed windows that begin with their first hit. One round trip a hit, none while Redis is away."""

    def __init__(self, url: str) -> None:
        # redis-py would try three times more, with pauses, while a request waits.
        self._redis = redis.Redis.from_url(
            url,
            socket_timeout=PATIENCE_SECONDS,
            socket_connect_timeout=PATIENCE_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._away_until = 0.0

    def hit(self, name: str, window_seconds: int) -> Count | None:
        """The hits of this window so far, this one included; None while Redis does not answer."""
        if time.monotonic() < self._away_until:
            return None
        key = PREFIX + name
        try:
            with self._redis.pipeline(transaction=True) as pipeline:
                pipeline.set(key, 0, ex=window_seconds, nx=True)
                pipeline.incr(key)
                pipeline.pttl(key)
                _, count, milliseconds = pipeline.execute()
        except redis.RedisError as error:
            if not self._away_until:
                log.warning("Redis does not answer, so nothing is throttled: %s", error)
            self._away_until = time.monotonic() + PAUSE_SECONDS
            return None
        if self._away_until:
            log.warning("Redis answers again; requests are throttled.")
            self._away_until = 0.0
        return Count(int(count), max(0, int(milliseconds)) / 1000)

    def forget(self, name: str) -> None:
        try:
            self._redis.delete(PREFIX + name)
        except redis.RedisError:
            return  # the window ends by itself


@cache
def _for(url: str) -> Counters:
    return Counters(url)


def counters() -> Counters:
    return _for(settings.REDIS_URL)
