"""`dure schedules`."""

import argparse
from datetime import datetime
from typing import Any

from dure.cli.arguments import Options, Parsers, add_task, command, group, positive
from dure.cli.named import NamedCommands
from dure.cli.output import write_record, write_text
from dure.client import Client
from dure.schedule_records import Schedule

COLUMNS = ["id", "name", "task_id", "enabled", "next_run_at"]
# The kind of the rule that each option gives.
KINDS = {"cron": "cron", "every_seconds": "interval", "at": "once"}


def add(parsers: Parsers) -> None:
    of_schedules = group(parsers, "schedules", "list, create, pause, resume and delete schedules")
    named = NamedCommands(
        of_schedules, "schedule", read, COLUMNS, example="dure schedules {} 'nightly report'"
    )
    named.add_list()
    _add_create(of_schedules)
    named.add_show()
    named.add("next", show_next, "show when a schedule is due next")
    named.add_change("pause", Client.pause_schedule, "pause a schedule")
    named.add_change("resume", Client.resume_schedule, "resume a schedule")
    named.add_delete(Client.delete_schedule, "delete a schedule; its history stays visible")


def _add_create(of_schedules: Parsers) -> None:
    example = "dure schedules create 'nightly sum' demo.sum --cron '0 3 * * *' --arg numbers='[1, 2]'"
    create = command(of_schedules, "create", create_schedule, "create a schedule", example=example)
    create.add_argument("name", metavar="NAME")
    add_task(create)
    rule = create.add_mutually_exclusive_group(required=True)
    rule.add_argument("--cron", help="a cron rule, such as '0 9 * * MON-FRI'")
    rule.add_argument("--every", type=positive, dest="every_seconds", metavar="SECONDS", help="an interval")
    rule.add_argument("--at", type=time, metavar="TIME", help="once, such as 2026-12-01T09:00+09:00")
    create.add_argument("--timezone", help="of the cron rule; default: the server's")
    create.add_argument("--paused", action="store_true", help="start nothing until it is resumed")


def time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-12-01T09:00+09:00") from None


def read(_options: Options, client: Client, limit: int) -> list[Schedule]:
    return client.schedules(limit=limit)


def create_schedule(options: Options, client: Client) -> int:
    ((name, value),) = [(name, value) for name in KINDS if (value := getattr(options, name)) is not None]
    values: dict[str, Any] = {name: value, "kind": KINDS[name], "args": dict(options.args)}
    if options.timezone:
        values["timezone"] = options.timezone
    if options.paused:
        values["enabled"] = False
    return write_record(options, client.create_schedule(options.name, options.task, **values))


def show_next(options: Options, client: Client, schedule: Schedule) -> int:
    times = [each.isoformat() for each in client.next_times(schedule)]
    return write_text(options, "\n".join(times), times)
