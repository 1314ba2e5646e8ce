"""Tasks for the benches of schedules: one of Dure, and a plain Celery task for django-celery-beat."""

import time

from celery import shared_task
from django.conf import settings
from redis import Redis

from dure import Context, task

STARTS = "bench:starts"
_redis = Redis.from_url(settings.REDIS_URL)


@task("bench.stamp")
def stamp(ctx: Context) -> None:
    """Records its start time."""
    _redis.rpush(STARTS, time.time())


@shared_task(name="bench.plain", ignore_result=True)  # type: ignore[untyped-decorator]
def plain() -> None:
    """Does the same without the engine."""
    _redis.rpush(STARTS, time.time())
