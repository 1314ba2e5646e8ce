"""The scheduler of `celery beat`: django-celery-beat's own, which also fires Schedules and workflows.

One beat at a time sends the PeriodicTasks, which stay editable in the admin. Any number of beats share the
rows of schedules and runs. Beat sleeps at most until the next due time, and at most a second, so a change
takes effect within a second.

Not guaranteed: that PeriodicTasks are sent while Redis does not answer. Beat fires schedules all the same,
and the sweep sends their messages later.
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
from scheduler import beats
from scheduler.beat_pass import pass_once
from scheduler.leader import Leadership
from scheduler.periodic_tasks import apply_sweep_interval

log = logging.getLogger(__name__)

BROKER_RETRY_SECONDS = 5.0


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """Beat's loop calls `tick`, and sleeps for the seconds that it returns."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._leadership = Leadership()
        self._is_leader = False
        self._name = beats.own_name()
        self._pass_at = 0.0
        self._seen_at = -beats.SEEN_EVERY
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
                self._mark_seen()
            except Exception:  # beat must continue after any error
                log.exception("the pass over due work failed; the next one is in %s s", self.max_interval)
                connection.close()
                wait = None
            wait = self.max_interval if wait is None else min(wait, self.max_interval)
            self._pass_at = time.monotonic() + wait
        return self._pass_at - time.monotonic()

    def _mark_seen(self) -> None:
        if time.monotonic() >= self._seen_at + beats.SEEN_EVERY:
            beats.mark_seen(self._name)
            self._seen_at = time.monotonic()

    def _send_periodic(self, *args: Any, **options: Any) -> float:
        now = time.monotonic()
        if now < self._send_at:
            return self._send_at - now
        was_leader, self._is_leader = self._is_leader, self._leadership.acquire()
        if not self._is_leader:
            self._send_at = now + self.max_interval
            return float(self.max_interval)
        try:
            if not was_leader:
                apply_sweep_interval()
                self._reload()
            return float(super().tick(*args, **options))
        except (BrokerError, RedisError, SchedulingError, OSError, DatabaseError) as error:
            connection.close()
            log.warning("could not send a periodic task, retrying in %s s: %s", BROKER_RETRY_SECONDS, error)
            self._is_leader = False
            self._reload()
            self._send_at = now + BROKER_RETRY_SECONDS
            return BROKER_RETRY_SECONDS

    def _reload(self) -> None:
        """Make the next tick read the PeriodicTasks: another beat sent them before, or a send failed."""
        self._initial_read = True
        self._heap = None
        self.__dict__.pop("producer", None)

    def _ensure_connected(self) -> Any:
        # Celery's own method waits for ever, and beat would fire nothing meanwhile.
        return self.connection.ensure_connection(max_retries=1, interval_start=0.1, timeout=3)

    def schedule_changed(self) -> bool:
        # The library compares with the time of the last change, and so misses the first one of all.
        had_time = self._last_timestamp is not None
        changed = bool(super().schedule_changed())
        return changed or (not had_time and self._last_timestamp is not None)

    def enabled_models_qs(self) -> "QuerySet[PeriodicTask]":
        # The library leaves out crontabs that are hours away, by the time of its last query: after an outage
        # it sent a daily task two hours early, and again on time.
        return PeriodicTask.objects.enabled()  # type: ignore[no-any-return]

    def install_default_entries(self, data: Any) -> None:
        """Install none: the results in Redis expire by themselves."""

    def close(self) -> None:
        super().close()
        try:
            beats.forget(self._name)
        except DatabaseError as error:
            log.warning("this beat shows as running for some seconds: %s", error)
        self._leadership.release()
