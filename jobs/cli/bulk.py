"""One verb for many jobs, of whatever offices: what would be skipped, and the doing of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from jobs.cli.confirm import counted
from jobs.models import Job, Office
from jobs.pages import bulk
from jobs.pages.bulk import APPLIES_TO, VERBS, Wish
from jobs.selection import in_states

# So many of the skipped are named; the others are counted.
NAMED_SKIPPED = 100
DID = {
    "cancel": "cancelled, or told to stop",
    "retry": "will run again",
    "reprioritise": "have a new place",
}


@dataclass(frozen=True)
class Preview:
    """What a verb would do: to how many jobs, of which offices, and which it would leave alone."""

    fitting: int
    offices: list[str]
    skipped_by_state: dict[str, int]
    skipped: list[Job]

    @property
    def skipped_count(self) -> int:
        return sum(self.skipped_by_state.values())


@dataclass(frozen=True)
class Done:
    changed: int
    # Fitted when they were chosen, and were refused by the verb: they had changed, or a newer one has
    # their unique_key.
    refused: int


def preview(jobs: QuerySet[Job], verb: str) -> Preview:
    skipped_by_state, by_office = Counter[str](), Counter[str]()
    for office in offices_of(jobs):
        seen = bulk.preview(jobs.filter(office=office), verb)
        skipped_by_state.update(seen.skipped_by_state)
        by_office[office.name] += seen.changed + seen.beyond
    skipped = jobs.exclude(status__in=APPLIES_TO[verb]).order_by("-pk").only("id", "status")
    return Preview(
        fitting=by_office.total(),
        offices=[name for name, number in by_office.most_common() if number],
        skipped_by_state=dict(skipped_by_state),
        skipped=list(skipped[:NAMED_SKIPPED]) if skipped_by_state else [],
    )


def act(jobs: QuerySet[Job], wish: Wish) -> Done:
    """Office by office, piece by piece: each is a transaction of its own, and the verb's guard decides."""
    changed = fitting = 0
    for office in offices_of(jobs):
        wanted = jobs.filter(in_states(APPLIES_TO[wish.verb]), office=office).order_by("seq")
        ids = list(wanted.values_list("id", flat=True))
        fitting += len(ids)
        changed += sum(VERBS[wish.verb](office.id, piece, wish) for piece in bulk.pieces(ids))
    return Done(changed, fitting - changed)


def offices_of(jobs: QuerySet[Job]) -> list[Office]:
    return list(Office.objects.filter(pk__in=jobs.order_by().values("office_id")))


def document(verb: str, seen: Preview, done: Done | None, missing: Sequence[UUID]) -> dict[str, Any]:
    """For programs: what was done, or would be when there is no `done`."""
    return {
        "verb": verb,
        "dry_run": done is None,
        "changed": seen.fitting if done is None else done.changed,
        "refused": 0 if done is None else done.refused,
        "skipped": seen.skipped_count,
        "skipped_by_state": seen.skipped_by_state,
        "skipped_jobs": [{"id": str(job.id), "status": job.status} for job in seen.skipped],
        "missing": [str(one) for one in missing],
    }


def told(
    verb: str, seen: Preview, done: Done | None, missing: Sequence[UUID], *, by_name: bool
) -> Iterator[str]:
    """The same for people; `by_name` where each was named, and each wants an answer."""
    if done is None:
        yield f"{question(verb, seen)}. Nothing was done."
    else:
        yield f"{counted(done.changed, 'job')}: {DID[verb]}."
        if done.refused:
            yield f"{counted(done.refused, 'job')}: refused, for they had changed, or for their unique_key."
    if by_name or done is None:
        yield from (f"{job.id}  skipped: it is {job.status}" for job in seen.skipped)
        if (unnamed := seen.skipped_count - len(seen.skipped)) > 0:
            yield f"and {unnamed:,} more are skipped"
    elif seen.skipped_count:
        yield f"{counted(seen.skipped_count, 'job')}: skipped, {states(seen)}."
    yield from (f"{one}  there is no such job" for one in missing)


def question(verb: str, seen: Preview) -> str:
    where = {0: "", 1: f" of {seen.offices[0]}" if seen.offices else ""}.get(
        len(seen.offices), f" of {len(seen.offices)} offices"
    )
    skipped = f", and skip {seen.skipped_count:,} ({states(seen)})" if seen.skipped_count else ""
    return f"This would {verb} {counted(seen.fitting, 'job')}{where}{skipped}"


def states(seen: Preview) -> str:
    return ", ".join(f"{number:,} {state}" for state, number in sorted(seen.skipped_by_state.items()))
