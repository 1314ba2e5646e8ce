"""What is on its way out: messages of exports, dead letters, webhooks and mail; and who carries it."""

from collections.abc import Iterator, Sequence

from django.db.models import Q
from redis.exceptions import ResponseError

from config.doctor import redis_server, sql
from config.doctor.finding import Finding, bad, ok, warn
from exports.messages import PROGRESS
from exports.models import DeadLetter
from exports.streams import BACKEND
from jobs.models import Webhook
from jobs.sql import call

# A listener asks several times in a second; from Redis 7.2 on each asking counts.
SILENT_MS = 30_000
LATE = 60.0
START_LISTENER = "start one: `python manage.py listen`"


def checks() -> Iterator[Finding]:
    yield listener(consumers())
    yield outbox(*call.rows(sql.OUTBOX)[0])
    yield dead_letters(DeadLetter.objects.filter(state=DeadLetter.State.OPEN).count())
    yield notices(*call.rows(sql.LATE_NOTICES)[0])
    yield webhooks(Webhook.objects.filter(Q(enabled=False) & ~Q(disabled_reason="")).count())


def consumers() -> list[int] | None:
    """For how long each consumer of our group has been silent, in milliseconds; None without a group."""
    with redis_server.client() as redis:
        try:
            return [int(one["idle"]) for one in redis.xinfo_consumers(PROGRESS, BACKEND)]
        except ResponseError:
            return None


def listener(silent: Sequence[int] | None) -> Finding:
    if silent is None:
        return bad("listener", "none was ever there: exports neither start nor end", START_LISTENER)
    alive = [one for one in silent if one <= SILENT_MS]
    if not alive:
        return bad("listener", "none listens: exports neither start nor end", START_LISTENER)
    return ok("listener", f"{len(alive)} listen")


def outbox(count: int, seconds: float) -> Finding:
    if seconds > LATE:
        said = f"{count:,} waiting, the oldest for {seconds:,.0f} s"
        return bad("outbox", said, "see whether a listener runs, and its log")
    return ok("outbox", f"{count:,} waiting" if count else "empty")


def dead_letters(count: int) -> Finding:
    if count:
        return warn(
            "dead letters",
            f"{count:,} wait for somebody to decide",
            "look at them and send them again or discard them: /deadletters on the monitor",
        )
    return ok("dead letters", "none")


def notices(count: int, seconds: float) -> Finding:
    if seconds > LATE:
        said = f"{count:,} late, the oldest by {seconds:,.0f} s"
        return warn("notices", said, "see whether a worker consumes `notices`, and its log")
    return ok("notices", "none is late")


def webhooks(disabled: int) -> Finding:
    if disabled:
        return warn(
            "webhooks",
            f"{disabled} were turned off, since they answered with errors for too long",
            "mend the receiver, then turn it on again: the office's webhooks, or the admin",
        )
    return ok("webhooks", "none was turned off")
