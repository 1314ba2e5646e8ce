"""List, show, run, pause, resume and delete schedules of all owners."""

from collections.abc import Callable
from functools import partial
from typing import Any

from jobs.cli.bulk import add_consent, make_sure
from jobs.cli.command import DONE, LIST, NOT_ALL, Complaint, Console, add_limit
from jobs.cli.filters import are_given
from jobs.cli.format import count_text
from jobs.errors import Refused
from scheduler.api.schemas import ScheduleOut
from scheduler.cli import schedules as output
from scheduler.clock import database_now
from scheduler.manual_runs import run_schedule
from scheduler.models import Schedule
from scheduler.schedules import lifecycle

# An action on a schedule; it returns the JSON of the result.
Verb = Callable[[Schedule], dict[str, Any]]


def run(schedule: Schedule) -> dict[str, Any]:
    """Run the Task by hand, as the owner. Refused while a scheduled or manual run of it is in progress."""
    execution = run_schedule(schedule)
    return {"id": str(schedule.id), "name": schedule.name, "execution_id": str(execution)}


def pause(schedule: Schedule) -> dict[str, Any]:
    return ScheduleOut.write(lifecycle.pause(schedule.pk, now=database_now()))


def resume(schedule: Schedule) -> dict[str, Any]:
    return ScheduleOut.write(lifecycle.resume(schedule.pk, now=database_now()))


def delete(schedule: Schedule) -> dict[str, Any]:
    result = {"id": str(schedule.id), "name": schedule.name}
    lifecycle.remove(schedule.pk, now=database_now())
    return result


VERBS: dict[str, tuple[Verb, str]] = {
    "run": (run, "run them once now; scheduled runs are not affected"),
    "pause": (pause, "pause them; runs due while paused are not backfilled"),
    "resume": (resume, "resume them from now on"),
    "delete": (delete, "delete them; their runs stay. Asks for confirmation even if they are named"),
}


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        listing = self.part(LIST, self.show_list, "list schedules, newest first (the default)")
        output.add_filters(listing)
        add_limit(listing)
        show = self.part("show", self.show_one, "show a schedule: its rule in words, next and recent runs")
        show.add_argument("schedule", metavar="ID|NAME")
        for name, (_, help) in VERBS.items():
            parser = self.part(name, partial(self.act, name), help)
            parser.add_argument("schedules", nargs="*", metavar="ID|NAME", help="these, or all that match:")
            output.add_filters(parser)
            add_consent(parser, "schedules")

    def show_list(self, options: dict[str, Any]) -> int:
        # Ids grow with time.
        page = list(output.matching_schedules(options).order_by("-pk")[: options["limit"] + 1])
        more, page = len(page) > options["limit"], page[: options["limit"]]
        document = {"results": [ScheduleOut.write(schedule) for schedule in page], "more": more}
        self.show_rows(document, output.rows(page), "schedule")
        return DONE if page else NOT_ALL

    def show_one(self, options: dict[str, Any]) -> int:
        schedules, missing = output.by_name([options["schedule"]])
        if missing:
            raise Complaint(f"There is no schedule {options['schedule']!r}.", NOT_ALL)
        now = database_now()
        self.show(output.document(schedules[0], now), output.page(schedules[0], now))
        return DONE

    def act(self, name: str, options: dict[str, Any]) -> int:
        verb, _ = VERBS[name]
        schedules, missing = select(options)
        question = f"This would {name} {count_text(len(schedules), 'schedule')}"
        done: list[dict[str, Any]] = []
        refused: list[tuple[Schedule, str]] = []
        if not options["dry_run"]:
            if schedules and (name == "delete" or not options["schedules"]):
                make_sure(question, str(len(schedules)), sure=options["yes"])
            for schedule in schedules:
                try:
                    done.append(verb(schedule))
                except Refused as error:
                    refused.append((schedule, str(error)))
                except Schedule.DoesNotExist:
                    missing.append(str(schedule.pk))
        self.show(
            {
                "verb": name,
                "dry_run": options["dry_run"],
                "results": [ScheduleOut.write(row) for row in schedules] if options["dry_run"] else done,
                "refused": [{"id": str(row.id), "name": row.name, "why": reason} for row, reason in refused],
                "missing": missing,
            },
            [
                *([f"{question}. Nothing was done."] if options["dry_run"] else []),
                *(output.rows(schedules) if options["dry_run"] and schedules else []),
                *(result_line(name, result) for result in done),
                *(f"{row.id}  {row.name}  refused: {reason}" for row, reason in refused),
                *(f"{word}  there is no such schedule" for word in missing),
            ]
            or ["No schedule matches."],
        )
        return DONE if schedules and not (refused or missing) else NOT_ALL


def result_line(name: str, result: dict[str, Any]) -> str:
    verb = {"run": "runs", "pause": "paused", "resume": "resumed", "delete": "deleted"}[name]
    more = {
        "run": f" as Execution {result.get('execution_id')}",
        "resume": f", next at {result.get('next_run_at') or 'no time: it has ended'}",
    }.get(name, "")
    return f"{result['id']}  {result['name']}  {verb}{more}"


def select(options: dict[str, Any]) -> tuple[list[Schedule], list[str]]:
    filtered = are_given(options, output.FILTERS)
    if options["schedules"]:
        if filtered or options["all"]:
            raise Complaint("Name schedules or use filters, not both.")
        return output.by_name(options["schedules"])
    if not filtered and not options["all"]:
        raise Complaint("Name schedules or use a filter; --all means every schedule.")
    return list(output.matching_schedules(options).order_by("pk")), []
