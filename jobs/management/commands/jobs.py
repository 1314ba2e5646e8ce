"""Lists and shows jobs of all offices; cancels and retries them, and changes their priority."""

from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import QuerySet
from django.utils import timezone

from jobs import serialize
from jobs.bulk import CANCEL, REPRIORITISE, RETRY, Action
from jobs.cli import bulk, filters, format
from jobs.cli.command import (
    DONE,
    LIST,
    NOT_ALL,
    Complaint,
    Console,
    add_author,
    add_limit,
    whole_number,
)
from jobs.field_types import HIGHEST_PRIORITY, LOWEST_PRIORITY
from jobs.insight.explain import explain
from jobs.models import Job
from jobs.queries import events_of, executions_of

PRIORITY = whole_number(LOWEST_PRIORITY, HIGHEST_PRIORITY)


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        listing = self.part(LIST, self.show_list, "jobs, newest first; the default")
        filters.add_filters(listing)
        add_limit(listing)
        show = self.part("show", self.show_job, "one job: why it has not ended, its runs, its events")
        show.add_argument("id", type=UUID, metavar="ID")
        self.verb(CANCEL, "cancel jobs; running jobs are asked to stop")
        self.verb(RETRY, "run failed, cancelled or timed-out jobs again")
        reprioritise = self.verb(REPRIORITISE, "change the priority of jobs")
        priority = reprioritise.add_mutually_exclusive_group()
        priority.add_argument("--priority", type=PRIORITY, metavar="N", help="lower runs first")
        priority.add_argument("--delta", type=PRIORITY, metavar="N", help="adjust the priority by this")
        urgency = reprioritise.add_mutually_exclusive_group()
        urgency.add_argument("--urgent", action="store_true", default=None, help="front of the queue")
        urgency.add_argument("--not-urgent", dest="urgent", action="store_false", default=None)

    def verb(self, name: str, help: str) -> CommandParser:
        parser = self.part(name, partial(self.act, name), help)
        parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="these jobs, or all that match:")
        filters.add_filters(parser)
        bulk.add_consent(parser, "jobs")
        add_author(parser)
        return parser

    def show_list(self, options: dict[str, Any]) -> int:
        ordered = filters.newest_first(filters.matching_jobs(options), options)
        jobs = list(ordered.select_related("execution", "office")[: options["limit"] + 1])
        more, jobs = len(jobs) > options["limit"], jobs[: options["limit"]]
        self.show_rows({"results": serialize.jobs_json(jobs), "more": more}, format.rows(jobs), "job")
        return DONE if jobs else NOT_ALL

    def show_job(self, options: dict[str, Any]) -> int:
        job = Job.objects.select_related("execution", "office").filter(pk=options["id"]).first()
        if job is None:
            raise Complaint(f"There is no job {options['id']}.", NOT_ALL)
        now = timezone.now()
        explained, events = explain(job.office, job, now), events_of(job)
        runs = list(executions_of(job))
        self.show(format.document(job, explained, events), format.page(job, explained, runs, events, now))
        return DONE

    def act(self, verb: str, options: dict[str, Any]) -> int:
        action = action_of(verb, options)
        jobs, missing = select(options)
        by_name = bool(options["ids"])
        report = bulk.preview(jobs, verb, missing)
        if not options["dry_run"]:
            if report.changed and not by_name:
                bulk.make_sure(report.question(), str(report.changed), sure=options["yes"])
            report = replace(report, result=bulk.apply(jobs, action))
        self.show(report.document(), list(report.lines(by_name=by_name)))
        incomplete = missing or report.refused or (by_name and report.preview.skipped)
        return NOT_ALL if incomplete or not report.changed else DONE


def select(options: dict[str, Any]) -> tuple[QuerySet[Job], list[UUID]]:
    """The selected jobs, and the given ids that no job has."""
    filtered = filters.are_given(options)
    if options["ids"]:
        if filtered or options["all"]:
            raise Complaint("Give ids or filters, not both.")
        return filters.find_by_ids(options["ids"])
    if not filtered and not options["all"]:
        raise Complaint("Give ids or a filter; --all selects every job.")
    return filters.matching_jobs(options), []


def action_of(verb: str, options: dict[str, Any]) -> Action:
    priority, delta, urgent = (options.get(name) for name in ("priority", "delta", "urgent"))
    if verb == REPRIORITISE and priority is None and delta is None and urgent is None:
        raise Complaint("Give --priority, --delta, --urgent or --not-urgent.")
    return Action(
        verb=verb,
        actor=options["actor"],
        reason=options["reason"],
        priority=priority,
        delta=delta,
        urgent=urgent,
    )
