"""`dure workflows`."""

import argparse
from typing import Any

from dure.cli.arguments import (
    Options,
    Parsers,
    add_limit,
    add_waiting,
    command,
    document,
    group,
    one_of,
)
from dure.cli.output import write_end, write_list, write_record, write_text
from dure.client import Client
from dure.schedule_records import Workflow

COLUMNS = ["id", "name", "status", "next_run_at"]
RUN_FIELDS = ["id", "workflow_id", "status", "batch", "error_message"]


def add(parsers: Parsers) -> None:
    of_workflows = group(parsers, "workflows", "list, create, run, pause, resume and delete workflows")
    add_limit(command(of_workflows, "list", list_workflows, "list workflows"))
    _add_create(of_workflows)
    example = """dure workflows run report --input '{"day": "2026-12-01"}' --wait"""
    run = command(of_workflows, "run", run_workflow, "start a run of a workflow", example=example)
    run.add_argument(
        "--input", type=document, metavar="JSON", help="the input of the run; @FILE reads a file"
    )
    add_waiting(run)
    runs = command(of_workflows, "runs", list_runs, "list the newest runs of a workflow")
    add_limit(runs)
    show = command(of_workflows, "show", show_workflow, "show a workflow")
    pause = command(of_workflows, "pause", pause_workflow, "let the schedule of a workflow start nothing")
    resume = command(of_workflows, "resume", resume_workflow, "let the schedule of a workflow start runs")
    delete = command(of_workflows, "delete", delete_workflow, "delete a workflow with its runs")
    for parser in (run, runs, show, pause, resume, delete):
        parser.add_argument("workflow", metavar="WORKFLOW", help="its id or name")


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


def list_workflows(options: Options, client: Client) -> int:
    workflows = client.workflows(office=options.office, limit=options.limit)
    return write_list(options, workflows, COLUMNS)


def create_workflow(options: Options, client: Client) -> int:
    workflow = client.create_workflow(
        options.name,
        options.steps,
        schedule_config=options.schedule,
        input_schema=options.input_schema,
        status="active" if options.active else "draft",
    )
    return write_record(options, workflow)


def run_workflow(options: Options, client: Client) -> int:
    run = client.execute(_find(options, client), options.input)
    return write_end(options, client, run, RUN_FIELDS)


def list_runs(options: Options, client: Client) -> int:
    columns = ["id", "status", "scheduled_time", "ended_at", "retry_count"]
    runs = client.workflow_runs(_find(options, client), limit=options.limit)
    return write_list(options, runs, columns)


def show_workflow(options: Options, client: Client) -> int:
    return write_record(options, _find(options, client))


def pause_workflow(options: Options, client: Client) -> int:
    return write_record(options, client.pause_workflow(_find(options, client)), COLUMNS)


def resume_workflow(options: Options, client: Client) -> int:
    return write_record(options, client.resume_workflow(_find(options, client)), COLUMNS)


def delete_workflow(options: Options, client: Client) -> int:
    workflow = _find(options, client)
    client.delete_workflow(workflow)
    return write_text(options, f"{workflow.id} is deleted.", {"id": workflow.id})


def _find(options: Options, client: Client) -> Workflow:
    return one_of(client.workflows(office=options.office, limit=10_000), options.workflow)
