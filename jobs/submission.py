"""Reads a client's submission and prepares its rows, or reports all its errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from pydantic import TypeAdapter, ValidationError

from jobs import catalogue, graph
from jobs.errors import ArgsRefused, ErrorText, FieldErrors, Invalid, TooLarge
from jobs.ids import parse_uuid, uuid7
from jobs.known_tasks import KnownTask, UnknownTask, check_size
from jobs.models import Batch, Job, Office
from jobs.references import MalformedReference, find_references
from jobs.schemas import DEFAULT_PRIORITY, BatchIn, JobIn, field_errors
from jobs.specs import NO_OCCASION, Occasion
from jobs.states import OnDependencyFailure, Trigger

SHOWN_ERRORS = 50
SHOWN_MEMBERS = 20

JOB = TypeAdapter(JobIn)
BATCH = TypeAdapter(BatchIn)


@dataclass
class PreparedSubmission:
    """A submission that passed every check, with the ids its jobs will have."""

    office: UUID
    jobs: list[dict[str, Any]]
    # Job, dependency and its place; ids as text, which a hundred thousand times is much cheaper.
    edges: list[tuple[str, str, int]] = field(default_factory=list)
    roots: list[UUID] = field(default_factory=list)
    # The jobs that depend on an existing job of the office.
    joined: list[UUID] = field(default_factory=list)
    batch: UUID | None = None
    batch_name: str = ""
    occasion: Occasion = NO_OCCASION

    def rows(self) -> list[dict[str, Any]]:
        return [{**job, "id": str(job["id"]), "depends_on": None} for job in self.jobs]


class Problems:
    """Collects errors by field, and raises them together at the end."""

    def __init__(self) -> None:
        self.errors: FieldErrors = {}

    def add(self, where: str, code: str, /, **params: object) -> None:
        self.add_text(where, ErrorText(code, **params))

    def add_text(self, where: str, text: ErrorText) -> None:
        if len(self.errors) < SHOWN_ERRORS:
            self.errors.setdefault(where, []).append(text)

    def refuse(self) -> None:
        if self.errors:
            raise Invalid("submission_invalid", errors=self.errors)


def read(office: Office, body: object) -> PreparedSubmission:
    """A client's submission: one job, or `{"jobs": [...], "batch": {...}}`."""
    if not isinstance(body, Mapping):
        raise Invalid("submission_object", errors={"body": [ErrorText("object")]})
    if "jobs" not in body:
        return prepare(office, [body], named=False)
    problems = Problems()
    for unknown in sorted(set(body) - {"jobs", "batch"}):
        problems.add(str(unknown), "unknown_field")
    batch, name = read_batch(office, body.get("batch"), problems)
    if not isinstance(body["jobs"], list) or not body["jobs"]:
        problems.add("jobs", "submission_jobs")
    problems.refuse()
    return prepare(office, body["jobs"], batch=batch, batch_name=name)


def read_batch(office: Office, value: object, problems: Problems) -> tuple[UUID, str]:
    """The batch's id and name; the id is new unless the request has one."""
    try:
        batch = BATCH.validate_python({} if value is None else value)
    except ValidationError as error:
        for name, (text,) in field_errors(BatchIn, error).items():
            if name:
                problems.add_text(f"batch.{name}", text)
            else:
                problems.add("batch", "submission_batch")
        return uuid7(), ""
    if batch.id is not None and Batch.objects.filter(id=batch.id).exclude(office=office).exists():
        problems.add("batch.id", "id_taken")
    return batch.id or uuid7(), batch.name or ""


def prepare(
    office: Office,
    values: Sequence[object],
    *,
    named: bool = True,
    batch: UUID | None = None,
    batch_name: str = "",
    trigger: str = Trigger.JOB,
) -> PreparedSubmission:
    """Check jobs one by one, then their graph."""
    if len(values) > settings.DURE_MAX_JOBS_PER_SUBMISSION:
        raise TooLarge("too_many_jobs", limit=settings.DURE_MAX_JOBS_PER_SUBMISSION, count=len(values))
    edge_count = sum(
        len(value["depends_on"])
        for value in values
        if isinstance(value, Mapping) and isinstance(value.get("depends_on"), list)
    )
    if edge_count > settings.DURE_MAX_EDGES_PER_SUBMISSION:
        raise TooLarge("too_many_edges", limit=settings.DURE_MAX_EDGES_PER_SUBMISSION, count=edge_count)
    problems = Problems()
    reader = JobReader(office, problems, trigger)
    jobs = [
        reader.read(value, f"jobs.{place}." if named else "", place) for place, value in enumerate(values)
    ]
    problems.refuse()
    prepared = PreparedSubmission(office=office.id, jobs=jobs, batch=batch, batch_name=batch_name)
    connect(prepared, problems, named)
    return prepared


class JobReader:
    """Reads jobs one by one, with the office's defaults."""

    def __init__(self, office: Office, problems: Problems, trigger: str) -> None:
        self.office = office
        self.problems = problems
        self.trigger = trigger
        # The Tasks found so far. Each look for an unknown one asks the database.
        self.tasks: dict[str, KnownTask | UnknownTask] = {}

    def read(self, value: object, where: str, place: int) -> dict[str, Any]:
        try:
            job = JOB.validate_python(value)
        except ValidationError as error:
            self.explain(value, where, field_errors(JobIn, error))
            return {}
        task = self.find_task(job.task_id, where)
        args = job.args or {}
        self.check_args(task, args, job.depends_on or [], where)
        self.check_dependencies(job.depends_on or [], where)
        return self.row(job, task, args, place) if task is not None else {}

    def explain(self, value: object, where: str, errors: FieldErrors) -> None:
        """Record the errors of a job's fields."""
        for name, (text,) in errors.items():
            self.problems.add_text(f"{where}{name}" if name else where.rstrip(".") or "body", text)
        if not isinstance(value, Mapping):
            return
        task = self.find_task(value["task_id"], where) if "task_id" not in errors else None
        if "args" not in errors and "depends_on" not in errors:
            self.check_args(task, value.get("args") or {}, value.get("depends_on") or [], where)
        if "depends_on" not in errors:
            self.check_dependencies(value.get("depends_on") or [], where)

    def check_dependencies(self, names: Sequence[str], where: str) -> None:
        if len(set(names)) != len(names):
            self.problems.add(f"{where}depends_on", "dependency_twice")

    def find_task(self, task_id: str, where: str) -> KnownTask | None:
        if task_id not in self.tasks:
            try:
                self.tasks[task_id] = catalogue.find(task_id)
            except UnknownTask as error:
                self.tasks[task_id] = error
        task = self.tasks[task_id]
        if isinstance(task, UnknownTask):
            self.problems.add_text(f"{where}task_id", task.text)
            return None
        if not task.public:
            self.problems.add(f"{where}task_id", "internal_task", task=task_id)
        return task

    def check_args(
        self, task: KnownTask | None, args: dict[str, Any], dependencies: Sequence[str], where: str
    ) -> None:
        check_size(args, f"{where}args")
        later = [
            name for name, value in args.items() if self.has_references(value, dependencies, f"{where}args")
        ]
        if task is not None:
            try:
                task.check_args(args, unchecked=later)
            except ArgsRefused as error:
                for text in error.errors:
                    self.problems.add_text(f"{where}args", text)

    def has_references(self, value: object, dependencies: Sequence[str], where: str) -> bool:
        """Whether the argument holds references; those that could never be resolved are errors."""
        try:
            references = list(find_references(value))
        except MalformedReference:
            self.problems.add(where, "reference_malformed")
            return True
        for reference in references:
            if reference.is_input and self.trigger != Trigger.WORKFLOW:
                self.problems.add(where, "reference_input")
            elif not reference.is_input and reference.name not in dependencies:
                self.problems.add(where, "reference_dependency", name=reference.name)
        return bool(references)

    def row(self, job: JobIn, task: KnownTask, args: dict[str, Any], place: int) -> dict[str, Any]:
        """The job's values, with the defaults of its Task, then of its office."""
        role = job.role or task.role
        office = self.office
        timeout_ms = office.default_timeout_by_role.get(role, office.default_timeout_ms)
        return {
            **vars(job),
            "id": uuid7(),
            "place": place,
            "ref": job.ref or "",
            "task_id": task.task_id,
            "args": args,
            "role": role,
            "priority": first(job.priority, DEFAULT_PRIORITY),
            "urgent": bool(job.urgent),
            "depends_on": job.depends_on or [],
            "on_dependency_failure": job.on_dependency_failure or OnDependencyFailure.BLOCK,
            "timeout_ms": first(job.timeout_ms, task.timeout_ms, timeout_ms),
            "max_retries": first(job.max_retries, task.max_retries, office.max_retries),
            "retry_backoff": job.retry_backoff or office.retry_backoff,
            "retry_base_delay_ms": first(
                job.retry_base_delay, task.retry_base_delay_ms, office.retry_base_delay_ms
            ),
            "on_lost": task.on_lost,
            "trigger": self.trigger,
            "unique_key": job.unique_key or "",
        }


def first(*values: int | None) -> int:
    """The first that is set."""
    return next(value for value in values if value is not None)


def connect(prepared: PreparedSubmission, problems: Problems, named: bool) -> None:
    """Resolve names to edges; refuse unknown and repeated names, and cycles."""
    ids = [str(job["id"]) for job in prepared.jobs]
    by_ref = check_names(prepared, ids, problems, named)
    existing = existing_jobs(prepared, by_ref)
    existing_ids = set(existing.values())
    for place, (job, own) in enumerate(zip(prepared.jobs, ids, strict=True)):
        where = f"jobs.{place}.depends_on" if named else "depends_on"
        parents = []
        for name in job["depends_on"]:
            parent = by_ref.get(name) or existing.get(name)
            if parent is None:
                problems.add(where, "dependency_unknown", name=name)
                continue
            if parent == own:
                problems.add(where, "dependency_self")
            parents.append(parent)
        if len(set(parents)) != len(parents):
            problems.add(where, "dependency_twice")
        job["dependency_count"] = len(parents)
        prepared.edges.extend((own, parent, position) for position, parent in enumerate(parents))
        if not parents:
            prepared.roots.append(job["id"])
        elif not existing_ids.isdisjoint(parents):
            prepared.joined.append(job["id"])
    problems.refuse()
    refuse_cycle(prepared)


def check_names(
    prepared: PreparedSubmission, ids: Sequence[str], problems: Problems, named: bool
) -> dict[str, str]:
    """The ids by ref. No ref and no unique key may be used twice."""
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
    return by_ref


def existing_jobs(prepared: PreparedSubmission, by_ref: Mapping[str, str]) -> dict[str, str]:
    """The names that are ids of jobs which the office has already, with those ids."""
    candidates = {
        name: number
        for job in prepared.jobs
        for name in job["depends_on"]
        if name not in by_ref and (number := parse_uuid(name)) is not None
    }
    if not candidates:
        return {}
    jobs = Job.objects.filter(office_id=prepared.office, id__in=set(candidates.values()))
    ids = set(jobs.values_list("id", flat=True))
    return {name: str(number) for name, number in candidates.items() if number in ids}


def refuse_cycle(prepared: PreparedSubmission) -> None:
    names = {str(job["id"]): job["ref"] or str(job["id"]) for job in prepared.jobs}
    parents: dict[str, list[str]] = {job: [] for job in names}
    for job, parent, _ in prepared.edges:
        parents[job].append(parent)
    cycle = graph.cycle(parents)
    if cycle is not None:
        members = [names[job] for job in cycle]
        listed = members if len(members) <= SHOWN_MEMBERS else [*members[:SHOWN_MEMBERS], "…"]
        raise Invalid("cycle", count=len(members), members=" → ".join(listed), extra={"cycle": members})
