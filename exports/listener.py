"""Our ends of the streams: progress and results for the backend, requests for our worker side.

Each pass does a little and returns; the loop only repeats them. What was done is committed before it
is acknowledged, so a listener that dies leaves messages that another takes over and applies again
without harm. Any number of listeners may run.
"""

import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from redis import Redis

from exports import deadletters, lifecycle, orphan_files, outbox, streams
from exports.deadletters import Letter
from exports.lifecycle import Heard, Tally
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
from exports.streams import Entry, GroupLost
from jobs.redis import ERRORS

log = logging.getLogger(__name__)

BATCH = 500
REQUEST_BATCH = 50
BLOCK_MS = 200
MOST_DELIVERIES = 5
TIDY_SECONDS = 60.0
PARSERS: dict[str, Callable[[Fields], Progress | Result]] = {PROGRESS: parse_progress, RESULTS: parse_result}
AWAY = (OperationalError, InterfaceError)


class Listener:
    def __init__(self, redis: "Redis", name: str = "", worker: bool | None = None) -> None:
        self.redis = redis
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.worker = settings.DURE_EXPORT_WORKER if worker is None else worker
        self.streams = [PROGRESS, RESULTS, *([REQUESTS] if self.worker else [])]

    def start(self) -> None:
        """Groups first, so that nothing that comes from now on is missed."""
        if streams.ensure_groups(self.redis, self.streams):
            self.recover()

    def recover(self) -> None:
        """Redis has no memory of us: what nobody has taken is asked for again."""
        asked = lifecycle.requeue(_now())
        log.warning("the groups of the streams were made; %s exports are asked for again", asked)

    def turn(self, block_ms: int | None = BLOCK_MS) -> int:
        """Sends what waits, then reads and applies what came; how many messages."""
        sent = outbox.relay_once(self.redis)
        try:
            heard = streams.read(
                self.redis, self.name, [PROGRESS, RESULTS], BATCH, None if sent else block_ms
            )
            asked = (
                streams.read(self.redis, self.name, [REQUESTS], REQUEST_BATCH, None) if self.worker else []
            )
        except GroupLost:
            self.recover()
            return 0
        self.work(heard)
        self.work(asked)
        return len(heard) + len(asked)

    def work(self, entries: Sequence[Entry]) -> Tally:
        """Applies messages and acknowledges them: once committed they are done, whatever follows."""
        if not entries:
            return Tally()
        tally = self._apply(entries)
        streams.acknowledge(self.redis, entries)
        if tally.buried:
            log.warning("%s messages went to the dead letters", tally.buried)
        return tally

    def _apply(self, entries: Sequence[Entry]) -> Tally:
        try:
            return apply(entries, _now())
        except (*AWAY, *ERRORS):
            raise
        except Exception:
            if len(entries) == 1:
                log.exception("a message could not be applied: %s %s", entries[0].stream, entries[0].id)
                return bury(entries, "it could not be applied: see the listener's log", _now())
            # One of them is to blame. The others must not wait for it, nor die with it.
            tallies = [self._apply([entry]) for entry in entries]
        return Tally(
            sum(tally.applied for tally in tallies),
            sum(tally.ignored for tally in tallies),
            sum(tally.buried for tally in tallies),
        )

    def take_over(self) -> int:
        """What a dead listener left unfinished. A message that was handed out too often is buried."""
        idle_ms, count = int(settings.DURE_STREAM_CLAIM_SECONDS * 1000), 0
        for stream in self.streams:
            entries = streams.take_over(self.redis, self.name, stream, idle_ms, BATCH)
            times = streams.deliveries(self.redis, stream, [entry.id for entry in entries])
            worn = [entry for entry in entries if times.get(entry.id, 0) > MOST_DELIVERIES]
            if worn:
                bury(worn, f"it was handed out {MOST_DELIVERIES} times and never finished", _now())
                streams.acknowledge(self.redis, worn)
            self.work([entry for entry in entries if entry not in worn])
            count += len(entries)
        return count

    def sweep(self, healthy_for: float) -> None:
        """What time alone brings about."""
        now = _now()
        self.take_over()
        lifecycle.reconcile(now)
        limit = settings.DURE_EXPORT_STALL_SECONDS
        # A listener that was deaf itself cannot say who was silent.
        if healthy_for >= limit:
            lifecycle.stall(now, timedelta(seconds=limit))
        for stream in self.streams:
            streams.trim(self.redis, stream)

    def tidy(self, thorough: bool = False) -> None:
        """Old events, and files that belong to nothing."""
        now = _now()
        lifecycle.forget_events(now)
        orphan_files.sweep_once(now, looked_before=None if thorough else timedelta(hours=1))


def apply(entries: Sequence[Entry], now: datetime) -> Tally:
    """One transaction for all that workers said; requests one by one, as each starts a run."""
    heard, letters, tally = list[Heard](), list[Letter](), Tally()
    for entry in entries:
        if entry.raw is None:
            continue
        try:
            if entry.stream == REQUESTS:
                tally.applied += 1
                reason = lifecycle.take(parse_request(entry.raw))
                if reason:
                    letters.append(Letter(entry.stream, entry.id, entry.raw, reason))
            else:
                heard.append(Heard(entry.stream, entry.id, entry.raw, PARSERS[entry.stream](entry.raw)))
        except BadMessage as bad:
            letters.append(Letter(entry.stream, entry.id, entry.raw, str(bad)))
    if heard or letters:
        said = lifecycle.hear(heard, letters, now)
        tally = Tally(tally.applied + said.applied, said.ignored, said.buried)
    return tally


def bury(entries: Sequence[Entry], reason: str, now: datetime) -> Tally:
    letters = [Letter(entry.stream, entry.id, entry.raw or {}, reason) for entry in entries]
    with transaction.atomic():
        return Tally(buried=deadletters.bury(letters, now))


def run(listener: Listener, stopped: Callable[[], bool]) -> None:
    """Until it is told to stop. Redis or the database being away is waited out; nothing is lost by it."""
    pause = 0.1
    healthy_since, swept_at, tidied_at, ready = time.monotonic(), 0.0, 0.0, False
    while not stopped():
        try:
            if not ready:
                listener.start()
                ready, healthy_since = True, time.monotonic()
            listener.turn()
            if time.monotonic() - swept_at >= settings.DURE_SWEEP_SECONDS:
                swept_at = time.monotonic()
                listener.sweep(time.monotonic() - healthy_since)
            if time.monotonic() - tidied_at >= TIDY_SECONDS:
                listener.tidy(thorough=not tidied_at)
                tidied_at = time.monotonic()
            pause = 0.1
        except Exception as error:
            ready = False
            if not isinstance(error, (*AWAY, *ERRORS)):
                log.exception("a pass of the listener failed")
            else:
                log.warning("the listener waits %.1f s: %s", pause, str(error).strip())
            connection.close()
            time.sleep(pause)
            pause = min(pause * 2, 5.0)


def _now() -> datetime:
    return timezone.now()
