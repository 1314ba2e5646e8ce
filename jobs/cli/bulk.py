"""An action on many jobs, as a command previews, confirms and reports it."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from jobs import bulk
from jobs.bulk import Action, Preview, Result
from jobs.cli.command import NOT_ALL, Complaint
from jobs.cli.format import count_text
from jobs.models import Job, Office
from jobs.texts import on_one_line

REFUSALS = "changed meanwhile, unique_key taken, or to be retried after its dependencies"
# So many of the skipped jobs are named; the others are counted.
NAMED_SKIPPED = 100
DONE_TEXTS = {
    bulk.CANCEL: "cancelled, or asked to stop",
    bulk.RETRY: "will run again",
    bulk.REPRIORITISE: "priority changed",
}


def add_consent(parser: CommandParser, things: str) -> None:
    parser.add_argument("--all", action="store_true", help=f"all {things}, if no filter is given")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be changed and skipped; change nothing"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for a confirmation")


def make_sure(question: str, word: str, *, sure: bool) -> None:
    """End the command unless `--yes` was given, or the user types the word on a terminal."""
    if sure:
        return
    if not sys.stdin.isatty():
        raise Complaint(f"{question}: say --yes to do it, or --dry-run to see more.")
    # Ask on stderr, so that the output of the command can go into a file.
    sys.stderr.write(f"{on_one_line(question)}.\nType {word} to continue: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != word:
        raise Complaint("Nothing was changed.", NOT_ALL)


@dataclass(frozen=True)
class Report:
    """The result of an action; without `result`, a preview of it."""

    verb: str
    preview: Preview
    skipped: list[Job]
    missing: Sequence[UUID]
    result: Result | None = None

    @property
    def changed(self) -> int:
        return self.preview.changed if self.result is None else self.result.changed

    @property
    def refused(self) -> int:
        return 0 if self.result is None else self.result.refused

    def question(self) -> str:
        offices = self.preview.offices
        where = f" of {len(offices)} offices" if len(offices) > 1 else ""
        if len(offices) == 1:
            where = f" of {Office.objects.get(pk=offices[0]).name}"
        skipped = f", and skip {self.preview.skipped:,} ({self.states()})" if self.preview.skipped else ""
        return f"This would {self.verb} {count_text(self.preview.changed, 'job')}{where}{skipped}"

    def states(self) -> str:
        return ", ".join(
            f"{number:,} {state}" for state, number in sorted(self.preview.skipped_by_state.items())
        )

    def document(self) -> dict[str, Any]:
        return {
            "verb": self.verb,
            "dry_run": self.result is None,
            "changed": self.changed,
            "refused": self.refused,
            "skipped": self.preview.skipped,
            "skipped_by_state": self.preview.skipped_by_state,
            "skipped_jobs": [{"id": str(job.id), "status": job.status} for job in self.skipped],
            "missing": [str(job) for job in self.missing],
        }

    def lines(self, *, by_name: bool) -> Iterator[str]:
        """`by_name`: each job was named, so each that is skipped is named in turn."""
        if self.result is None:
            yield f"{self.question()}. Nothing was changed."
        else:
            yield f"{count_text(self.changed, 'job')}: {DONE_TEXTS[self.verb]}."
            if self.refused:
                yield f"{count_text(self.refused, 'job')}: refused ({REFUSALS})."
        if by_name or self.result is None:
            yield from (f"{job.id}  skipped: it is {job.status}" for job in self.skipped)
            if (unnamed := self.preview.skipped - len(self.skipped)) > 0:
                yield f"and {unnamed:,} more are skipped"
        elif self.preview.skipped:
            yield f"{count_text(self.preview.skipped, 'job')}: skipped, {self.states()}."
        yield from (f"{job}  does not exist" for job in self.missing)


def preview(jobs: QuerySet[Job], verb: str, missing: Sequence[UUID]) -> Report:
    counts = bulk.preview(jobs, verb, most=None)
    named = bulk.skipped_jobs(jobs, verb).order_by("-pk").only("id", "status")[:NAMED_SKIPPED]
    return Report(verb, counts, list(named) if counts.skipped else [], missing)


def apply(jobs: QuerySet[Job], action: Action) -> Result:
    return bulk.apply(jobs, action, most=None)
