"""`dure workflows`."""

import argparse
from typing import Any

from dure.cli.arguments import Options, Parsers, add_limit, add_waiting, command, document, group
from dure.cli.named import NamedCommands
from dure.cli.output import write_end, write_list, write_record
from dure.client import Client
from dure.schedule_records import Workflow

COLUMNS = ["id", "name", "status", "next_run_at"]
RUN_FIELDS = ["id", "workflow_id", "status", "batch", "error_message"]


def add(parsers: Parsers) -> None:
    of_workflows = group(parsers, "workflows", "list, create, run, pause, resume and delete workflows")
    named = NamedCommands(of_workflows, "workflow", read, COLUMNS)
    named.add_list()
    _add_create(of_workflows)
    example = """dure workflows run report --input '{"day": "2026-12-01"}' --wait"""
    run = named.add("run", run_workflow, "start a run of a workflow", example=example)
    run.add_argument(
        "--input", type=document, metavar="JSON", help="the input of the run; @FILE reads a file"
    )
    add_waiting(run)
    add_limit(named.add("runs", list_runs, "list the newest runs of a workflow"))
    named.add_show()
    named.add_change("pause", Client.pause_workflow, "let the schedule of a workflow start nothing")
    named.add_change("resume", Client.resume_workflow, "let the schedule of a workflow start runs")
    named.add_delete(Client.delete_workflow, "delete a workflow with its runs")


def _add_create(of_workflows: Parsers) -> None:
    example = "dure workflows create report @steps.json --schedule @schedule.json --active"
    create = command(of_workflows, "create", create_workflow, "create a workflow", example=example)
    create.add_argument("name", metavar="NAME")
    create.add_argument(
        "steps", type=list_of_jobs, metavar="STEPS", help="a list of jobs, as JSON; @FILE reads a file"
    )
    create.add_argument(
        "--schedule", type=document, metavar="JSON", help="its schedule_config; default: it runs by hand only"
    )
    create.add_argument("--input-schema", type=document, metavar="JSON", help="the JSON Schema of its input")
    create.add_argument("--active", action="store_true", help="start its schedule; default: a draft")


def list_of_jobs(text: str) -> list[dict[str, Any]]:
    value = document(text)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of jobs")
    return value


def read(options: Options, client: Client, limit: int) -> list[Workflow]:
    return client.workflows(office=options.office, limit=limit)


def create_workflow(options: Options, client: Client) -> int:
    workflow = client.create_workflow(
        options.name,
        options.steps,
        schedule_config=options.schedule,
        input_schema=options.input_schema,
        status="active" if options.active else "draft",
    )
    return write_record(options, workflow)


def run_workflow(options: Options, client: Client, workflow: Workflow) -> int:
    run = client.execute(workflow, options.input)
    return write_end(options, client, run, RUN_FIELDS)


def list_runs(options: Options, client: Client, workflow: Workflow) -> int:
    columns = ["id", "status", "scheduled_time", "ended_at", "retry_count"]
    return write_list(options, client.workflow_runs(workflow, limit=options.limit), columns)
