"""`dure submit`, `dure run`, `dure jobs` and `dure logs`."""

from typing import cast

from dure.cli.arguments import (
    DONE,
    Options,
    Parsers,
    add_limit,
    add_task,
    add_waiting,
    command,
    group,
    positive,
)
from dure.cli.output import printable, write_end, write_list, write_log, write_record, write_text
from dure.client import Client
from dure.errors import APIError
from dure.job_records import Job, JobOptions
from dure.records import Execution

FIELDS = [
    "id",
    "task_id",
    "status",
    "batch",
    "args",
    "result",
    "failure_type",
    "error_message",
    "retry_count",
]
EXECUTION_FIELDS = [
    "execution_id",
    "task_id",
    "status",
    "args",
    "result",
    "error",
    "started_at",
    "finished_at",
]
STATUSES = ["pending", "ready", "processing", "done", "failed", "cancelled", "timeout"]
LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
ID = "0199c0de-0000-7000-8000-000000000004"


def add(parsers: Parsers) -> None:
    _add_starts(parsers)
    of_jobs = group(parsers, "jobs", "list jobs, and act on one")
    listing = command(
        of_jobs, "list", list_jobs, "list the newest jobs", example="dure jobs list --status failed"
    )
    listing.add_argument("--status", action="append", choices=STATUSES, help="only these; repeat it for more")
    listing.add_argument("--task", help="only jobs of this Task")
    listing.add_argument("--batch", help="only jobs of the batch with this id")
    add_limit(listing)
    verbs = {
        "show": (show_job, "show a job"),
        "cancel": (cancel_job, "cancel a job"),
        "retry": (retry_job, "run a failed or cancelled job again, from the start"),
        "explain": (explain_job, "say why a job is not running"),
    }
    for name, (run, text) in verbs.items():
        verb = command(of_jobs, name, run, text, example=f"dure jobs {name} {ID}")
        verb.add_argument("id", metavar="ID", help="the id of the job")
        if name in ("cancel", "retry"):
            verb.add_argument("--reason", default="", help="stored with the change")
    logs = command(
        parsers, "logs", show_log, "print the log of a job or Execution", example=f"dure logs {ID} -f"
    )
    logs.add_argument("id", metavar="ID", help="the id of the job or Execution")
    logs.add_argument("-f", "--follow", action="store_true", help="continue until the job has ended")
    logs.add_argument("--level", choices=LEVELS, help="only this level and above")


def _add_starts(parsers: Parsers) -> None:
    example = "dure submit demo.sum --arg numbers='[1, 2, 3]' --wait"
    submission = command(parsers, "submit", submit, "submit a job to an office", example=example)
    add_task(submission)
    submission.add_argument("--priority", type=int, help="lower runs earlier")
    submission.add_argument(
        "--urgent", action="store_true", default=None, help="before all that are not urgent"
    )
    submission.add_argument(
        "--depends-on", action="append", metavar="ID", help="start after this job; may be repeated"
    )
    submission.add_argument("--max-retries", type=int, help="how often a failed run is tried again")
    submission.add_argument("--timeout-ms", type=positive, help="the longest run of the body")
    submission.add_argument("--unique-key", help="refused while an unfinished job has the same key")
    start = command(
        parsers,
        "run",
        run_task,
        "run a Task at once, without an office",
        example=example.replace("submit", "run"),
    )
    add_task(start)
    for parser in (submission, start):
        parser.add_argument("--follow", action="store_true", help="print its log until its end")
        add_waiting(parser)


def submit(options: Options, client: Client) -> int:
    values = {name: getattr(options, name, None) for name in JobOptions.__annotations__}
    fields = cast(JobOptions, {name: value for name, value in values.items() if value is not None})
    job = client.submit(options.task, dict(options.args), **fields)
    return write_end(options, client, job, FIELDS)


def run_task(options: Options, client: Client) -> int:
    return write_end(options, client, client.run_task(options.task, dict(options.args)), EXECUTION_FIELDS)


def list_jobs(options: Options, client: Client) -> int:
    jobs = client.jobs(status=options.status, task_id=options.task, batch=options.batch, limit=options.limit)
    return write_list(options, jobs, ["id", "task_id", "status", "created_at"])


def show_job(options: Options, client: Client) -> int:
    return write_record(options, client.job(options.id))


def cancel_job(options: Options, client: Client) -> int:
    return write_record(options, client.cancel(options.id, reason=options.reason), ["id", "status"])


def retry_job(options: Options, client: Client) -> int:
    return write_record(options, client.retry(options.id, reason=options.reason), ["id", "status"])


def explain_job(options: Options, client: Client) -> int:
    explanation = client.explain(options.id)
    reasons = [f"  {printable(reason.message)} ({reason.code})" for reason in explanation.reasons]
    return write_text(options, "\n".join([explanation.state, *reasons]), explanation.raw)


def show_log(options: Options, client: Client) -> int:
    read = client.follow if options.follow else client.log
    write_log(options, read(_job_or_execution(client, options.id), level=options.level))
    return DONE


def _job_or_execution(client: Client, work_id: str) -> Job | Execution:
    try:
        return client.execution(work_id)
    except APIError as error:
        if error.status != 404:
            raise
    return client.job(work_id)
