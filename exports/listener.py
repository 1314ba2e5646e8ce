"""Reads the streams: progress and results for the backend, requests for our own workers.

Each pass does a little and returns; the loop only repeats passes. The listener acknowledges a message after
it has committed what the message did, so another listener can take over the messages of one that died, and
apply them again without harm. Any number of listeners may run.
"""

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from redis import Redis

from exports import deadletters, events, lifecycle, orphan_files, outbox, reports, streams
from exports.deadletters import DeadLetterIn
from exports.lifecycle import Received
from exports.messages import (
    PROGRESS,
    REQUESTS,
    RESULTS,
    BadMessage,
    Fields,
    Progress,
    Result,
    parse_progress,
    parse_request,
    parse_result,
)
from exports.result_checks import ResultChecks
from exports.results import Verdict
from exports.states import JobType
from exports.streams import Entry, GroupLost
from jobs.redis import ERRORS

log = logging.getLogger(__name__)

BATCH = 500
REQUEST_BATCH = 50
BLOCK_MS = 200
MAX_DELIVERIES = 5
DELETE_EVERY_SECONDS = 60.0
PARSERS: dict[str, Callable[[Fields], Progress | Result]] = {PROGRESS: parse_progress, RESULTS: parse_result}
DATABASE_ERRORS = (OperationalError, InterfaceError)


class Listener:
    def __init__(self, redis: "Redis", name: str = "", worker: bool | None = None) -> None:
        self.redis = redis
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.worker = settings.DURE_EXPORT_WORKER if worker is None else worker
        self.streams = [PROGRESS, RESULTS, *([REQUESTS] if self.worker else [])]
        self.checks = ResultChecks()

    def start(self) -> None:
        """Makes the groups first, so that no message from now on is missed."""
        if streams.ensure_groups(self.redis, self.streams):
            self.recover()

    def recover(self) -> None:
        """Redis has lost its data: requests that no worker has accepted are sent again."""
        count = lifecycle.republish_requests(timezone.now())
        log.warning("created the consumer groups; republished the requests of %s exports", count)

    def poll(self, block_ms: int | None = BLOCK_MS) -> int:
        """Sends the outbox, then reads and applies new messages; answers how many."""
        sent = outbox.send_once(self.redis)
        try:
            reports = streams.read(
                self.redis, self.name, [PROGRESS, RESULTS], BATCH, None if sent else block_ms
            )
            requests = (
                streams.read(self.redis, self.name, [REQUESTS], REQUEST_BATCH, None) if self.worker else []
            )
        except GroupLost:
            self.recover()
            return 0
        self.process(reports)
        self.process(requests)
        return len(reports) + len(requests)

    def process(self, entries: Sequence[Entry]) -> None:
        """Applies messages, and acknowledges them once they are committed; results once they are checked."""
        self._commit(self.checks.start(entries), {})
        self._commit(*self.checks.take_finished())

    def _commit(self, entries: Sequence[Entry], verdicts: Mapping[str, Verdict]) -> None:
        if not entries:
            return
        dead_lettered = self._apply(entries, verdicts)
        streams.acknowledge(self.redis, entries)
        if dead_lettered:
            log.warning("dead-lettered %s messages", dead_lettered)

    def _apply(self, entries: Sequence[Entry], verdicts: Mapping[str, Verdict]) -> int:
        """Answers how many messages were dead-lettered."""
        try:
            return apply(entries, verdicts, timezone.now())
        except (*DATABASE_ERRORS, *ERRORS):
            raise
        except Exception:
            if len(entries) == 1:
                log.exception("could not apply message %s of %s", entries[0].id, entries[0].stream)
                return dead_letter(entries, "it could not be applied: see the listener's log", timezone.now())
            # One of them is at fault. The others must neither wait for it nor fail with it.
            return sum(self._apply([entry], verdicts) for entry in entries)

    def take_over(self) -> int:
        """Processes what dead listeners left. A message that was delivered too often is dead-lettered."""
        idle_ms, count = int(settings.DURE_STREAM_CLAIM_SECONDS * 1000), 0
        for stream in self.streams:
            entries = streams.take_over(self.redis, self.name, stream, idle_ms, BATCH)
            entries = [entry for entry in entries if not self.checks.has(entry)]
            deliveries = streams.deliveries(self.redis, stream, [entry.id for entry in entries])
            failing = [entry for entry in entries if deliveries.get(entry.id, 0) > MAX_DELIVERIES]
            if failing:
                reason = f"it was delivered {MAX_DELIVERIES} times and never acknowledged"
                dead_letter(failing, reason, timezone.now())
                streams.acknowledge(self.redis, failing)
            self.process([entry for entry in entries if entry not in failing])
            count += len(entries)
        return count

    def sweep(self, healthy_seconds: float) -> None:
        """Takes over messages, repairs missing results, fails stalled exports and trims the streams."""
        now = timezone.now()
        streams.keep(self.redis, self.name, RESULTS, self.checks.entry_ids)
        lifecycle.write_heard_at(self.checks.job_ids, now)
        self.take_over()
        reports.report_missing_results(now)
        for kind, limit in settings.DURE_EXPORT_STALL_SECONDS_BY_TYPE.items():
            # A listener that could not read for a while cannot tell which workers were silent.
            if healthy_seconds >= limit:
                lifecycle.fail_stalled(now, timedelta(seconds=limit), JobType(kind))
        for stream in self.streams:
            streams.trim(self.redis, stream)
        streams.trim_by_length(self.redis)

    def delete_old(self, full: bool = False) -> None:
        """Deletes old events and orphan files."""
        now = timezone.now()
        events.delete_old(now)
        orphan_files.sweep_once(now, changed_within=None if full else timedelta(hours=1))


def apply(entries: Sequence[Entry], verdicts: Mapping[str, Verdict], now: datetime) -> int:
    """One transaction for all progress and results; one for each request, because each starts a run.

    Answers how many messages were dead-lettered.
    """
    received, rejected = list[Received](), list[DeadLetterIn]()
    for entry in entries:
        if entry.raw is None:
            continue
        try:
            if entry.stream == REQUESTS:
                if reason := lifecycle.accept_request(parse_request(entry.raw)):
                    rejected.append(DeadLetterIn(entry, reason))
            else:
                received.append(Received(entry, PARSERS[entry.stream](entry.raw)))
        except BadMessage as bad:
            rejected.append(DeadLetterIn(entry, str(bad)))
    return lifecycle.apply_messages(received, rejected, verdicts, now) if received or rejected else 0


def dead_letter(entries: Sequence[Entry], reason: str, now: datetime) -> int:
    with transaction.atomic():
        return deadletters.dead_letter([DeadLetterIn(entry, reason) for entry in entries], now)


def run(listener: Listener, stopped: Callable[[], bool]) -> None:
    """Repeats passes until `stopped`. While Redis or the database is down it waits; nothing is lost."""
    try:
        _repeat_passes(listener, stopped)
    finally:
        listener.checks.stop()


def _repeat_passes(listener: Listener, stopped: Callable[[], bool]) -> None:
    pause = 0.1
    healthy_since, swept_at, deleted_at, ready = time.monotonic(), 0.0, 0.0, False
    while not stopped():
        try:
            if not ready:
                listener.start()
                ready, healthy_since = True, time.monotonic()
            listener.poll()
            if time.monotonic() - swept_at >= settings.DURE_SWEEP_SECONDS:
                swept_at = time.monotonic()
                listener.sweep(time.monotonic() - healthy_since)
            if time.monotonic() - deleted_at >= DELETE_EVERY_SECONDS:
                listener.delete_old(full=not deleted_at)
                deleted_at = time.monotonic()
            pause = 0.1
        except Exception as error:
            ready = False
            if not isinstance(error, (*DATABASE_ERRORS, *ERRORS)):
                log.exception("a pass of the listener failed")
            else:
                log.warning("the listener retries in %.1f s: %s", pause, str(error).strip())
            connection.close()
            time.sleep(pause)
            pause = min(pause * 2, 5.0)
