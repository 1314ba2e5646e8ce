"""`dure workflows`."""

from dure.cli.arguments import (
    Options,
    Parsers,
    add_limit,
    add_waiting,
    command,
    connect,
    document,
    group,
    one_of,
)
from dure.cli.output import write_end, write_list


def add(parsers: Parsers) -> None:
    of_workflows = group(parsers, "workflows", "list and run workflows")
    add_limit(command(of_workflows, "list", list_workflows, "list workflows"))
    example = """dure workflows run report --input '{"day": "2026-12-01"}' --wait"""
    run = command(of_workflows, "run", run_workflow, "start a run of a workflow", example=example)
    run.add_argument("workflow", metavar="WORKFLOW", help="its id or name")
    run.add_argument(
        "--input", type=document, metavar="JSON", help="the input of the run; @FILE reads a file"
    )
    add_waiting(run)


def list_workflows(options: Options) -> int:
    with connect(options) as client:
        workflows = client.workflows(office=options.office, limit=options.limit)
    return write_list(options, workflows, ["id", "name", "status", "next_run_at"])


def run_workflow(options: Options) -> int:
    with connect(options) as client:
        workflow = one_of(client.workflows(office=options.office, limit=10_000), options.workflow)
        run = client.execute(workflow, options.input)
        return write_end(options, client, run, ["id", "workflow_id", "status", "batch", "error_message"])
