"""`dure schedules`."""

from dure.cli.arguments import Options, Parsers, add_limit, command, connect, group, one_of
from dure.cli.output import write_list, write_record
from dure.client import Client

COLUMNS = ["id", "name", "task_id", "enabled", "next_run_at"]


def add(parsers: Parsers) -> None:
    of_schedules = group(parsers, "schedules", "list, pause and resume schedules")
    add_limit(command(of_schedules, "list", list_schedules, "list schedules"))
    for name, run in {"pause": pause, "resume": resume}.items():
        example = f"dure schedules {name} 'nightly report'"
        verb = command(of_schedules, name, run, f"{name} a schedule", example=example)
        verb.add_argument("schedule", metavar="SCHEDULE", help="its id or name")


def list_schedules(options: Options) -> int:
    with connect(options) as client:
        return write_list(options, client.schedules(limit=options.limit), COLUMNS)


def pause(options: Options) -> int:
    with connect(options) as client:
        return write_record(options, client.pause_schedule(_id(client, options.schedule)), COLUMNS)


def resume(options: Options) -> int:
    with connect(options) as client:
        return write_record(options, client.resume_schedule(_id(client, options.schedule)), COLUMNS)


def _id(client: Client, name_or_id: str) -> str:
    return one_of(client.schedules(limit=10_000), name_or_id).id
