"""The scheduler of `celery beat`: django-celery-beat's, which also fires our Schedules and workflows.

PeriodicTasks are sent as ever and stay editable in the admin, by one beat at a time. Schedules and runs
are rows that any number of beats share. A tick sleeps no longer than until the next due time, and no
longer than a second, so every change counts within a second.

Not guaranteed: that PeriodicTasks are sent while Redis is away. Schedules are fired all the same; their
messages follow once it is back.
"""

import logging
import time
from typing import Any

from celery.beat import SchedulingError
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import QuerySet
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from jobs import registry
from scheduler.beat_pass import pass_once
from scheduler.leader import Leadership
from scheduler.periodic_tasks import apply_sweep_interval

log = logging.getLogger(__name__)

BROKER_REST_SECONDS = 5.0


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """Beat's loop calls `tick` and sleeps for what it answers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._leadership = Leadership()
        self._led = False
        self._pass_at = 0.0
        self._send_at = 0.0
        registry.load()
        super().__init__(*args, **options)

    def tick(self, *args: Any, **options: Any) -> float:
        # Schedules first: a slow broker must not make them late.
        until_due = self._pass()
        until_periodic = self._send_periodic(*args, **options)
        return max(0.0, min(until_due, until_periodic))

    def _pass(self) -> float:
        if time.monotonic() >= self._pass_at:
            try:
                wait = pass_once()
            except Exception:  # beat must go on after any error
                log.exception("the pass over what is due failed; the next one is in %s s", self.max_interval)
                connection.close()
                wait = None
            wait = self.max_interval if wait is None else min(wait, self.max_interval)
            self._pass_at = time.monotonic() + wait
        return self._pass_at - time.monotonic()

    def _send_periodic(self, *args: Any, **options: Any) -> float:
        now = time.monotonic()
        if now < self._send_at:
            return self._send_at - now
        leads, led = self._leadership.held(), self._led
        self._led = leads
        if not leads:
            self._send_at = now + self.max_interval
            return float(self.max_interval)
        try:
            if not led:
                apply_sweep_interval()
                self._forget()
            return float(super().tick(*args, **options))
        except (BrokerError, RedisError, SchedulingError, OSError, DatabaseError) as error:
            connection.close()
            log.warning(
                "could not send a periodic task, trying again in %s s: %s", BROKER_REST_SECONDS, error
            )
            self._led = False
            self._forget()
            self._send_at = now + BROKER_REST_SECONDS
            return BROKER_REST_SECONDS

    def _forget(self) -> None:
        """Read the PeriodicTasks again: another beat sent them until now, or a send went wrong halfway."""
        self._initial_read = True
        self._heap = None
        self.__dict__.pop("producer", None)

    def _ensure_connected(self) -> Any:
        # Celery's own waits here for ever, and nothing would be fired meanwhile.
        return self.connection.ensure_connection(max_retries=1, interval_start=0.1, timeout=3)

    def enabled_models_qs(self) -> "QuerySet[PeriodicTask]":
        # All of them. The library leaves out crontabs that are hours away and goes by the last time it
        # looked: after an outage a daily task was sent two hours early, and again on time.
        return PeriodicTask.objects.enabled()  # type: ignore[no-any-return]

    def install_default_entries(self, data: Any) -> None:
        """None: the results in Redis expire by themselves."""

    def close(self) -> None:
        super().close()
        self._leadership.give_up()
