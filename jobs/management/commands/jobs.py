"""Jobs of all offices, for operators: listed, looked at, cancelled, run again, moved in the order."""

from functools import partial
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import QuerySet
from django.utils import timezone

from jobs import serialize
from jobs.api.control import HIGHEST, LOWEST
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
from jobs.cli.confirm import add_consent, make_sure
from jobs.insight.explain import explain
from jobs.models import Job
from jobs.pages.bulk import Wish
from jobs.pages.job_detail import events_of

PLACES = whole_number(LOWEST, HIGHEST)


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        listing = self.part(LIST, self.show_list, "jobs, the newest first; done when no word is given")
        filters.add_filters(listing)
        add_limit(listing)
        one = self.part("show", self.show_one, "one job: why it is where it is, its runs, its events")
        one.add_argument("id", type=UUID, metavar="ID")
        self.verb("cancel", "cancel jobs; what runs is told to stop")
        self.verb("retry", "run failed, cancelled or timed-out jobs again")
        moving = self.verb("reprioritise", "change the place of jobs in the order")
        place = moving.add_mutually_exclusive_group()
        place.add_argument("--priority", type=PLACES, metavar="N", help="the lower, the earlier")
        place.add_argument("--delta", type=PLACES, metavar="N", help="added to the priority they have")
        rank = moving.add_mutually_exclusive_group()
        rank.add_argument("--urgent", action="store_true", default=None, help="before all that are not")
        rank.add_argument("--not-urgent", dest="urgent", action="store_false", default=None)

    def verb(self, name: str, help: str) -> CommandParser:
        parser = self.part(name, partial(self.act, name), help)
        parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="these jobs, or all that match:")
        filters.add_filters(parser)
        add_consent(parser, "jobs")
        add_author(parser)
        return parser

    def show_list(self, options: dict[str, Any]) -> int:
        chosen = filters.newest_first(filters.matching(options), options)
        found = list(chosen.select_related("execution", "office")[: options["limit"] + 1])
        more, found = len(found) > options["limit"], found[: options["limit"]]
        self.show_rows({"results": serialize.jobs_json(found), "more": more}, format.rows(found), "job")
        return DONE if found else NOT_ALL

    def show_one(self, options: dict[str, Any]) -> int:
        job = Job.objects.select_related("execution", "office").filter(pk=options["id"]).first()
        if job is None:
            raise Complaint(f"There is no job {options['id']}.", NOT_ALL)
        now = timezone.now()
        explained, events = explain(job.office, job, now), events_of(job)
        runs = list(job.executions.order_by("created_at", "id").prefetch_related("attempts"))
        self.show(format.document(job, explained, events), format.page(job, explained, runs, events, now))
        return DONE

    def act(self, verb: str, options: dict[str, Any]) -> int:
        wish = wish_of(verb, options)
        jobs, missing = chosen_by(options)
        seen, done = bulk.preview(jobs, verb), None
        if not options["dry_run"]:
            if seen.fitting and not options["ids"]:
                make_sure(bulk.question(verb, seen), str(seen.fitting), sure=options["yes"])
            done = bulk.act(jobs, wish)
        self.show(
            bulk.document(verb, seen, done, missing),
            list(bulk.told(verb, seen, done, missing, by_name=bool(options["ids"]))),
        )
        changed = seen.fitting if done is None else done.changed
        refused = missing or (options["ids"] and seen.skipped_count) or (done and done.refused)
        return NOT_ALL if refused or not changed else DONE


def chosen_by(options: dict[str, Any]) -> tuple[QuerySet[Job], list[UUID]]:
    """The jobs that are meant, and the ids for which there are none."""
    filtered = filters.are_given(options)
    if options["ids"]:
        if filtered or options["all"]:
            raise Complaint("Name jobs, or say which match; not both.")
        named = filters.named(options["ids"])
        return named.jobs, named.missing
    if not filtered and not options["all"]:
        raise Complaint("Name jobs, or give a filter; --all means every job there is.")
    return filters.matching(options), []


def wish_of(verb: str, options: dict[str, Any]) -> Wish:
    priority, delta, urgent = (options.get(name) for name in ("priority", "delta", "urgent"))
    if verb == "reprioritise" and priority is None and delta is None and urgent is None:
        raise Complaint("Say what is to change: --priority, --delta, --urgent or --not-urgent.")
    return Wish(
        verb=verb,
        actor=options["actor"],
        reason=options["reason"],
        priority=priority,
        delta=delta,
        urgent=urgent,
    )
