"""Schedules of all owners, for operators: listed, looked at, run now, held, resumed, deleted."""

from collections.abc import Callable
from functools import partial
from typing import Any

from jobs.cli.bulk import add_consent, make_sure
from jobs.cli.command import DONE, LIST, NOT_ALL, Complaint, Console, add_limit
from jobs.cli.filters import are_given
from jobs.cli.format import counted
from jobs.errors import Refused
from scheduler.api import shapes
from scheduler.cli import schedules as output
from scheduler.clock import database_now
from scheduler.manual_runs import run_task
from scheduler.models import Schedule
from scheduler.schedules import lifecycle

# What is done to one schedule, and what programs get to know of it.
Verb = Callable[[Schedule], dict[str, Any]]


def run(one: Schedule) -> dict[str, Any]:
    """By hand, as its owner would. Refused while a scheduled or manual run of the Task has not ended."""
    execution = run_task(one.task_id, one.args, user_id=one.owner_id or "")
    return {"id": str(one.id), "name": one.name, "execution_id": str(execution)}


def pause(one: Schedule) -> dict[str, Any]:
    return shapes.schedule(lifecycle.pause(one.pk, now=database_now()))


def resume(one: Schedule) -> dict[str, Any]:
    return shapes.schedule(lifecycle.resume(one.pk, now=database_now()))


def delete(one: Schedule) -> dict[str, Any]:
    gone = {"id": str(one.id), "name": one.name}
    lifecycle.remove(one.pk)
    return gone


VERBS: dict[str, tuple[Verb, str]] = {
    "run": (run, "run them now, once, beside their times"),
    "pause": (pause, "hold them; what would have been due meanwhile is not made up"),
    "resume": (resume, "let them go on from now"),
    "delete": (delete, "delete them and the record of their turns; it asks even about those that are named"),
}


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        listing = self.part(LIST, self.show_list, "schedules, the newest first; done when no word is given")
        output.add_filters(listing)
        add_limit(listing)
        one = self.part("show", self.show_one, "one schedule: its rule in words, its next and its last times")
        one.add_argument("schedule", metavar="ID|NAME")
        for name, (_, help) in VERBS.items():
            parser = self.part(name, partial(self.act, name), help)
            parser.add_argument("schedules", nargs="*", metavar="ID|NAME", help="these, or all that match:")
            output.add_filters(parser)
            add_consent(parser, "schedules")

    def show_list(self, options: dict[str, Any]) -> int:
        # Ids grow with time.
        found = list(output.matching(options).order_by("-pk")[: options["limit"] + 1])
        more, found = len(found) > options["limit"], found[: options["limit"]]
        document = {"results": [shapes.schedule(one) for one in found], "more": more}
        self.show_rows(document, output.rows(found), "schedule")
        return DONE if found else NOT_ALL

    def show_one(self, options: dict[str, Any]) -> int:
        found, missing = output.named([options["schedule"]])
        if missing:
            raise Complaint(f"There is no schedule {options['schedule']!r}.", NOT_ALL)
        now = database_now()
        self.show(output.document(found[0], now), output.page(found[0], now))
        return DONE

    def act(self, name: str, options: dict[str, Any]) -> int:
        verb, _ = VERBS[name]
        chosen, missing = chosen_by(options)
        question = f"This would {name} {counted(len(chosen), 'schedule')}"
        done: list[dict[str, Any]] = []
        refused: list[tuple[Schedule, str]] = []
        if not options["dry_run"]:
            if chosen and (name == "delete" or not options["schedules"]):
                make_sure(question, str(len(chosen)), sure=options["yes"])
            for one in chosen:
                try:
                    done.append(verb(one))
                except Refused as why:
                    refused.append((one, str(why)))
                except Schedule.DoesNotExist:
                    missing.append(str(one.pk))
        self.show(
            {
                "verb": name,
                "dry_run": options["dry_run"],
                "results": [shapes.schedule(one) for one in chosen] if options["dry_run"] else done,
                "refused": [{"id": str(one.id), "name": one.name, "why": why} for one, why in refused],
                "missing": missing,
            },
            [
                *([f"{question}. Nothing was done."] if options["dry_run"] else []),
                *(output.rows(chosen) if options["dry_run"] and chosen else []),
                *(told(name, one) for one in done),
                *(f"{one.id}  {one.name}  refused: {why}" for one, why in refused),
                *(f"{word}  there is no such schedule" for word in missing),
            ]
            or ["No schedule matches."],
        )
        return DONE if chosen and not (refused or missing) else NOT_ALL


def told(name: str, one: dict[str, Any]) -> str:
    did = {"run": "runs", "pause": "paused", "resume": "resumed", "delete": "deleted"}[name]
    more = {
        "run": f" as Execution {one.get('execution_id')}",
        "resume": f", next at {one.get('next_run_at') or 'no time: its last one is over'}",
    }.get(name, "")
    return f"{one['id']}  {one['name']}  {did}{more}"


def chosen_by(options: dict[str, Any]) -> tuple[list[Schedule], list[str]]:
    filtered = are_given(options, output.FILTERS)
    if options["schedules"]:
        if filtered or options["all"]:
            raise Complaint("Name schedules, or say which match; not both.")
        return output.named(options["schedules"])
    if not filtered and not options["all"]:
        raise Complaint("Name schedules, or give a filter; --all means every schedule there is.")
    return list(output.matching(options).order_by("pk")), []
