"""Reads what a client submits and makes it ready to write, or says everything that is wrong with it.

Written by hand and not as a serializer: ten thousand jobs and a hundred thousand edges have to be
checked in a second or two.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from jobs import graph, registry
from jobs.errors import ErrorText, FieldErrors, Invalid, InvalidArgs, TooLarge
from jobs.ids import parse_uuid, uuid7
from jobs.models import Batch, Job, Office
from jobs.sql import call
from jobs.states import Backoff, OnDependencyFailure, Trigger

SHOWN_ERRORS = 50
SHOWN_MEMBERS = 20
LONGEST_TEXT = 200
LONGEST_TIMEOUT_MS = 30 * 86_400_000
LONGEST_DELAY_MS = 24 * 3_600_000
MOST_RETRIES = 100
FURTHEST_AHEAD = timedelta(days=3650)
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Prepared:
    """A submission that passed every check, with the ids its jobs will have."""

    office: UUID
    jobs: list[dict[str, Any]]
    # Job, dependency and its place; ids as text, which a hundred thousand times is much cheaper.
    edges: list[tuple[str, str, int]] = field(default_factory=list)
    roots: list[UUID] = field(default_factory=list)
    # Those with a dependency that the office had before.
    joined: list[UUID] = field(default_factory=list)
    batch: UUID | None = None
    batch_name: str = ""

    def rows(self) -> list[dict[str, Any]]:
        return [{**job, "id": str(job["id"]), "depends_on": None} for job in self.jobs]


class Problems:
    """Collects what is wrong, by field, and refuses in the end."""

    def __init__(self) -> None:
        self.found: FieldErrors = {}

    def add(self, where: str, code: str, /, **params: object) -> None:
        self.add_text(where, ErrorText(code, **params))

    def add_text(self, where: str, text: ErrorText) -> None:
        if len(self.found) < SHOWN_ERRORS:
            self.found.setdefault(where, []).append(text)

    def refuse(self) -> None:
        if self.found:
            raise Invalid("submission_invalid", errors=self.found)


def read(office: Office, body: object, *, trigger: str = Trigger.JOB) -> Prepared:
    """A client's submission: one job, or `{"jobs": [...], "batch": {...}}`."""
    if not isinstance(body, Mapping):
        raise Invalid("submission_object", errors={"body": [ErrorText("object")]})
    if "jobs" not in body:
        return prepare(office, [body], named=False, trigger=trigger)
    problems = Problems()
    for unknown in sorted(set(body) - {"jobs", "batch"}):
        problems.add(str(unknown), "unknown_field")
    batch, name = read_batch(office, body.get("batch"), problems)
    if not isinstance(body["jobs"], list) or not body["jobs"]:
        problems.add("jobs", "submission_jobs")
    problems.refuse()
    return prepare(office, body["jobs"], batch=batch, batch_name=name, trigger=trigger)


def read_batch(office: Office, given: object, problems: Problems) -> tuple[UUID, str]:
    if given is None:
        return uuid7(), ""
    if not isinstance(given, Mapping):
        problems.add("batch", "submission_batch")
        return uuid7(), ""
    for unknown in sorted(set(given) - {"id", "name"}):
        problems.add(f"batch.{unknown}", "unknown_field")
    name = given.get("name") or ""
    if not isinstance(name, str) or len(name) > LONGEST_TEXT:
        problems.add("batch.name", "text_up_to", limit=LONGEST_TEXT)
        name = ""
    if given.get("id") is None:
        return uuid7(), name
    batch = parse_uuid(given["id"])
    if batch is None:
        problems.add("batch.id", "uuid")
        return uuid7(), name
    if Batch.objects.filter(id=batch).exclude(office=office).exists():
        problems.add("batch.id", "id_taken")
    return batch, name


def prepare(
    office: Office,
    given: Sequence[object],
    *,
    named: bool = True,
    batch: UUID | None = None,
    batch_name: str = "",
    trigger: str = Trigger.JOB,
) -> Prepared:
    """Check jobs one by one, then the graph that they make."""
    if len(given) > settings.DURE_MAX_JOBS_PER_SUBMISSION:
        raise TooLarge("too_many_jobs", limit=settings.DURE_MAX_JOBS_PER_SUBMISSION, count=len(given))
    edge_count = sum(
        len(job["depends_on"])
        for job in given
        if isinstance(job, Mapping) and isinstance(job.get("depends_on"), list)
    )
    if edge_count > settings.DURE_MAX_EDGES_PER_SUBMISSION:
        raise TooLarge("too_many_edges", limit=settings.DURE_MAX_EDGES_PER_SUBMISSION, count=edge_count)
    problems = Problems()
    reader = JobReader(office, problems, trigger)
    jobs = [reader.read(job, f"jobs.{place}." if named else "", place) for place, job in enumerate(given)]
    problems.refuse()
    prepared = Prepared(office=office.id, jobs=jobs, batch=batch, batch_name=batch_name)
    connect(prepared, problems, named)
    problems.refuse()
    return prepared


class JobReader:
    """Reads one job after another, with the office's defaults at hand."""

    FIELDS = frozenset(
        (
            *("ref", "task_id", "args", "role", "priority", "urgent", "depends_on", "on_dependency_failure"),
            *("timeout_ms", "max_retries", "retry_backoff", "retry_base_delay", "unique_key", "run_at"),
        )
    )

    def __init__(self, office: Office, problems: Problems, trigger: str) -> None:
        self.office = office
        self.problems = problems
        self.trigger = trigger
        self.latest = timezone.now() + FURTHEST_AHEAD

    def read(self, given: object, where: str, place: int) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            self.problems.add(where.rstrip(".") or "body", "object")
            return {}
        for unknown in given.keys() - self.FIELDS:
            self.problems.add(f"{where}{unknown}", "unknown_field")
        pick = Picker(given, where, self.problems)
        known = self.task(pick)
        args = self.args(pick, known)
        role = pick.one_of("role", settings.DURE_ROLES, known.role if known else "default")
        base = known.retry_backoff if known else None
        return {
            "id": uuid7(),
            "place": place,
            "ref": pick.text("ref"),
            "task_id": known.task_id if known else "",
            "args": args,
            "role": role,
            "priority": pick.integer("priority", 100, -(2**31), 2**31 - 1),
            "urgent": pick.flag("urgent"),
            "depends_on": self.depends_on(pick),
            "on_dependency_failure": pick.one_of(
                "on_dependency_failure", OnDependencyFailure.values, OnDependencyFailure.BLOCK
            ),
            "timeout_ms": pick.integer("timeout_ms", self.timeout_ms(known, role), 1, LONGEST_TIMEOUT_MS),
            "max_retries": pick.integer(
                "max_retries",
                known.max_retries if known and known.max_retries is not None else self.office.max_retries,
                0,
                MOST_RETRIES,
            ),
            "retry_backoff": pick.one_of("retry_backoff", Backoff.values, self.office.retry_backoff),
            "retry_base_delay_ms": pick.integer(
                "retry_base_delay",
                int(base * 1000) if base is not None else self.office.retry_base_delay_ms,
                0,
                LONGEST_DELAY_MS,
            ),
            "on_lost": known.on_lost if known else "",
            "trigger": self.trigger,
            "unique_key": pick.text("unique_key"),
            "run_at": self.run_at(pick),
        }

    def task(self, pick: "Picker") -> registry.Task | None:
        task_id = pick.given.get("task_id")
        if not isinstance(task_id, str) or not task_id:
            pick.wrong("task_id", "required")
            return None
        try:
            known = registry.find(task_id)
        except registry.UnknownTask as error:
            self.problems.add_text(f"{pick.where}task_id", error.text)
            return None
        if not known.public:
            pick.wrong("task_id", "internal_task", task=task_id)
        return known

    def args(self, pick: "Picker", known: registry.Task | None) -> dict[str, Any]:
        args = pick.given.get("args")
        if args is None:
            args = {}
        if not isinstance(args, dict):
            pick.wrong("args", "object")
            return {}
        # Only what can be large is measured exactly.
        if len(str(args)) > settings.DURE_MAX_ARGS_BYTES // 4:
            size = len(call.as_json(args).encode())
            if size > settings.DURE_MAX_ARGS_BYTES:
                raise TooLarge(
                    "args_too_large",
                    field=f"{pick.where}args",
                    size=size,
                    limit=settings.DURE_MAX_ARGS_BYTES,
                )
        if known is not None:
            try:
                known.check_args(args)
            except InvalidArgs as error:
                for text in error.errors:
                    self.problems.add_text(f"{pick.where}args", text)
        return args

    def timeout_ms(self, known: registry.Task | None, role: str) -> int:
        if known is not None and known.timeout is not None:
            return int(known.timeout * 1000)
        return int(self.office.default_timeout_by_role.get(role, self.office.default_timeout_ms))

    def depends_on(self, pick: "Picker") -> list[str]:
        named = pick.given.get("depends_on")
        if named is None:
            return []
        if not isinstance(named, list) or not all(isinstance(one, str) and one for one in named):
            pick.wrong("depends_on", "dependency_list")
            return []
        if len(set(named)) != len(named):
            pick.wrong("depends_on", "dependency_twice")
        return named

    def run_at(self, pick: "Picker") -> str | None:
        given = pick.given.get("run_at")
        if given is None:
            return None
        moment: datetime | None = None
        if isinstance(given, str):
            try:
                moment = parse_datetime(given)
            except ValueError:
                moment = None
        if moment is None or moment.tzinfo is None:
            pick.wrong("run_at", "time_with_offset")
            return None
        if not EARLIEST <= moment <= self.latest:
            pick.wrong("run_at", "time_out_of_range")
            return None
        # In UTC, as PostgreSQL does not know every offset that a client may write.
        return moment.astimezone(UTC).isoformat()


class Picker:
    """Takes typed values out of one job, and notes what does not fit."""

    def __init__(self, given: Mapping[str, Any], where: str, problems: Problems) -> None:
        self.given = given
        self.where = where
        self.problems = problems

    def wrong(self, name: str, code: str, /, **params: object) -> None:
        self.problems.add(f"{self.where}{name}", code, **params)

    def _pick(
        self, name: str, default: Any, fits: Callable[[Any], bool], code: str, /, **params: object
    ) -> Any:
        value = self.given.get(name)
        if value is None:
            return default
        if not fits(value):
            self.wrong(name, code, **params)
            return default
        return value

    def text(self, name: str) -> str:
        def fits(value: Any) -> bool:
            return isinstance(value, str) and len(value) <= LONGEST_TEXT

        return str(self._pick(name, "", fits, "text_up_to", limit=LONGEST_TEXT))

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        def fits(value: Any) -> bool:
            # In JSON 5.0 is a whole number, too.
            is_whole = type(value) is int or (type(value) is float and value.is_integer())
            return is_whole and low <= value <= high

        return int(self._pick(name, default, fits, "whole_number_between", low=low, high=high))

    def flag(self, name: str) -> bool:
        return bool(self._pick(name, False, lambda value: isinstance(value, bool), "boolean"))

    def one_of(self, name: str, allowed: Sequence[str], default: str) -> str:
        def fits(value: Any) -> bool:
            return isinstance(value, str) and value in allowed

        return str(self._pick(name, default, fits, "one_of", limit=", ".join(allowed)))


def connect(prepared: Prepared, problems: Problems, named: bool) -> None:
    """Turn names into edges; refuse what is unknown, doubled or goes round in a circle."""
    ids = [str(job["id"]) for job in prepared.jobs]
    by_ref: dict[str, str] = {}
    keys: set[str] = set()
    for place, (job, own) in enumerate(zip(prepared.jobs, ids, strict=True)):
        where = f"jobs.{place}." if named else ""
        if job["ref"]:
            if job["ref"] in by_ref:
                problems.add(f"{where}ref", "ref_twice", name=job["ref"])
            by_ref[job["ref"]] = own
        if job["unique_key"]:
            if job["unique_key"] in keys:
                problems.add(f"{where}unique_key", "unique_key_twice")
            keys.add(job["unique_key"])
    had_before = known_before(prepared, by_ref)
    old = set(had_before.values())
    for place, (job, own) in enumerate(zip(prepared.jobs, ids, strict=True)):
        where = f"jobs.{place}.depends_on" if named else "depends_on"
        parents = [by_ref.get(name) or had_before.get(name) for name in job["depends_on"]]
        for name, parent in zip(job["depends_on"], parents, strict=True):
            if parent is None:
                problems.add(where, "dependency_unknown", name=name)
            elif parent == own:
                problems.add(where, "dependency_self")
        found = [parent for parent in parents if parent is not None]
        if len(set(found)) != len(found):
            problems.add(where, "dependency_twice")
        job["dependency_count"] = len(found)
        prepared.edges.extend((own, parent, position) for position, parent in enumerate(found))
        if not found:
            prepared.roots.append(job["id"])
        elif not old.isdisjoint(found):
            prepared.joined.append(job["id"])
    problems.refuse()
    refuse_cycle(prepared)


def known_before(prepared: Prepared, by_ref: Mapping[str, str]) -> dict[str, str]:
    """Those names that are ids of jobs which the office has already, and those ids."""
    asked = {
        name: number
        for job in prepared.jobs
        for name in job["depends_on"]
        if name not in by_ref and (number := parse_uuid(name)) is not None
    }
    if not asked:
        return {}
    found = set(
        Job.objects.filter(office_id=prepared.office, id__in=set(asked.values())).values_list("id", flat=True)
    )
    return {name: str(number) for name, number in asked.items() if number in found}


def refuse_cycle(prepared: Prepared) -> None:
    names = {str(job["id"]): job["ref"] or str(job["id"]) for job in prepared.jobs}
    parents: dict[str, list[str]] = {job: [] for job in names}
    for job, parent, _ in prepared.edges:
        parents[job].append(parent)
    circle = graph.cycle(parents)
    if circle is not None:
        members = [names[job] for job in circle]
        shown = members if len(members) <= SHOWN_MEMBERS else [*members[:SHOWN_MEMBERS], "…"]
        raise Invalid("cycle", count=len(members), members=" → ".join(shown), extra={"cycle": members})
