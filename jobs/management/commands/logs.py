"""Prints what a run has logged and printed, and follows it."""

from argparse import ArgumentParser
from functools import partial
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from jobs import pubsub
from jobs.cli.command import INTERRUPTED
from jobs.models import Execution, Job
from jobs.run_logs import reading
from jobs.run_logs.lines import LEVELS, level_number
from jobs.run_logs.reading import Entry, Selection
from jobs.states import EXECUTION_ENDED
from jobs.texts import on_one_line

WAIT_SECONDS = 60.0


class Command(BaseCommand):
    help = "Prints the log of a run: of an Execution, or of a job's latest one."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", type=UUID, metavar="ID", help="an Execution or a job")
        parser.add_argument("-f", "--follow", action="store_true", help="go on until the run has ended")
        parser.add_argument("--attempt", type=int, metavar="N", help="only the lines of this attempt")
        parser.add_argument(
            "--level", type=str.upper, choices=list(LEVELS), help="only lines of this level and above"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run = find_run(options["id"])
        only = Selection(options["attempt"], level_number(options["level"]))
        for attempt, count in reading.cut_lines(run, only).items():
            self.stdout.write(reading.cut_note(attempt, count), ending="")
        try:
            self.print_lines(run, only, follow=options["follow"])
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None

    def print_lines(self, run: Execution, only: Selection, *, follow: bool) -> None:
        last = 0
        while True:
            # Known before the lines are read: none follows the end.
            is_ended = has_ended(run)
            for entry in reading.entries(run.pk, only, after=last):
                self.stdout.write(terminal_text(entry))
                last = entry.seq
            self.stdout.flush()
            if is_ended or not follow:
                return
            channel = pubsub.RUN_LOG_CHANNEL.format(run.pk)
            pubsub.wait_for(channel, partial(news, run, only, last), WAIT_SECONDS)


def find_run(run_id: UUID) -> Execution:
    run = Execution.objects.filter(pk=run_id).first()
    if run is not None:
        return run
    job = Job.objects.filter(pk=run_id).first()
    if job is None:
        raise CommandError(f"There is no Execution and no job {run_id}.")
    run = reading.latest_run(job)
    if run is None:
        raise CommandError("The job has not run yet.")
    return run


def has_ended(run: Execution) -> bool:
    return not Execution.objects.filter(pk=run.pk).exclude(status__in=EXECUTION_ENDED).exists()


def news(run: Execution, only: Selection, last: int) -> bool | None:
    return has_ended(run) or any(reading.lines_after(run.pk, last, 1, only)) or None


def terminal_text(entry: Entry) -> str:
    """A message of several lines is indented; what a run printed must not reach the terminal as a command."""
    first, *others = reading.text_of(entry).rstrip("\n").split("\n")
    return "\n    ".join(map(on_one_line, [first, *others]))
