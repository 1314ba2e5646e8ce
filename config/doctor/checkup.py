"""The order of the subjects, what each needs before it can be looked at, and the round."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.db import connection

from config.doctor import (
    addresses,
    environment,
    files,
    keeping,
    outgoing,
    packages,
    postgresql,
    redis_server,
    schema,
    upkeep,
    workers_seen,
    zones,
)
from config.doctor.finding import Finding, Level, bad, warn, worst
from config.doctor.patience import in_short

DATABASE, REDIS, SCHEMA = "postgresql", "redis", "schema"

Look = Callable[[], Iterable[Finding]]


@dataclass(frozen=True)
class Subject:
    """What is looked at under this name, in order, where nothing that it needs is in the way."""

    name: str
    looks: tuple[Look, ...]
    needs: tuple[str, ...] = ()
    # Asked first: when it is bad there is nothing to look at, and others that need it wait. Of a subject
    # without a door whatever is bad keeps them waiting.
    door: Callable[[], Finding] | None = None


SUBJECTS = (
    Subject("packages", (packages.checks,)),
    Subject("settings", (environment.checks,)),
    Subject("time", (zones.checks,)),
    Subject(DATABASE, (postgresql.checks, keeping.checks), door=postgresql.reachable),
    Subject(SCHEMA, (schema.checks,), needs=(DATABASE,)),
    Subject(REDIS, (redis_server.checks,), door=redis_server.reachable),
    Subject("workers", (workers_seen.checks,), needs=(SCHEMA, REDIS)),
    Subject("upkeep", (upkeep.checks, zones.of_schedules), needs=(SCHEMA,)),
    Subject("outgoing", (outgoing.checks,), needs=(SCHEMA, REDIS)),
    Subject("exports", (files.checks,)),
    Subject("addresses", (addresses.checks,)),
)


def examine() -> Iterator[tuple[str, Finding]]:
    """Each finding under its subject's name, as soon as it is there."""
    # Whose fault it is that others cannot be looked at.
    shut: dict[str, set[str]] = {}
    for subject in SUBJECTS:
        causes = {cause for need in subject.needs for cause in shut.get(need, ())}
        if causes:
            shut[subject.name] = causes
            why = f"not looked at, because of {' and '.join(sorted(causes))}"
            yield subject.name, warn(subject.name, why, "mend that, and look again")
            continue
        said = []
        for finding in findings(subject):
            said.append(finding)
            yield subject.name, finding
        if worst(said[:1] if subject.door else said) == Level.BAD:
            shut[subject.name] = {subject.name}


def findings(subject: Subject) -> Iterator[Finding]:
    if subject.door is not None:
        first = subject.door()
        yield first
        if first.level == Level.BAD:
            return
    for look in subject.looks:
        try:
            yield from look()
        except Exception as error:
            # A check that fails is a finding too, and the others go on.
            connection.close()
            said = f"could not be looked at: {type(error).__name__}: {in_short(error)}"
            yield bad(subject.name, said, "mend what is named above, and look again; else report this")
