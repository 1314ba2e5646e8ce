"""List, show and cancel Executions of all triggers."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.utils import timezone

from jobs import bulk
from jobs.cli.bulk import add_consent, make_sure
from jobs.cli.command import DONE, LIST, NOT_ALL, Complaint, Console, add_author, add_limit
from jobs.cli.filters import are_given
from jobs.cli.format import count_text
from jobs.models import Execution
from jobs.states import EXECUTION_LIVE
from scheduler.api import shapes
from scheduler.cli import executions


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        listing = self.part(LIST, self.show_list, "list Executions, newest first (the default)")
        executions.add_filters(listing)
        add_limit(listing)
        show = self.part("show", self.show_one, "show an Execution with its attempts")
        show.add_argument("id", type=UUID, metavar="ID")
        ending = self.part(
            "cancel",
            self.cancel,
            "cancel Executions; running ones get a cancellation request. A job's Execution is cancelled with "
            "its job, whose event has the actor and the reason; the others have no events",
        )
        ending.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="these, or all that match:")
        executions.add_filters(ending)
        add_consent(ending, "Executions")
        add_author(ending)

    def show_list(self, options: dict[str, Any]) -> int:
        # Ids grow with time.
        matching = (
            executions.matching_executions(options)
            .order_by("-pk")
            .prefetch_related(shapes.attempts_of_lists())
        )
        page = list(matching[: options["limit"] + 1])
        more, page = len(page) > options["limit"], page[: options["limit"]]
        document = {"results": shapes.executions_json(page), "more": more}
        self.show_rows(document, executions.rows(page, timezone.now()), "Execution")
        return DONE if page else NOT_ALL

    def show_one(self, options: dict[str, Any]) -> int:
        run = Execution.objects.prefetch_related("attempts").filter(pk=options["id"]).first()
        if run is None:
            raise Complaint(f"There is no Execution {options['id']}.", NOT_ALL)
        self.show(shapes.execution_json(run), executions.page(run, timezone.now()))
        return DONE

    def cancel(self, options: dict[str, Any]) -> int:
        runs, missing = select(options)
        live = [run for run in runs if run.status in EXECUTION_LIVE]
        skipped = [run for run in runs if run.status not in EXECUTION_LIVE]
        question = f"This would cancel {count_text(len(live), 'Execution')}"
        changed = len(live)
        if not options["dry_run"]:
            if live and not options["ids"]:
                make_sure(question, str(len(live)), sure=options["yes"])
            changed = bulk.cancel_executions(live, actor=options["actor"], reason=options["reason"])
        refused = len(live) - changed
        self.show(
            {
                "verb": "cancel",
                "dry_run": options["dry_run"],
                "changed": changed,
                "refused": refused,
                "skipped": len(skipped),
                "skipped_by_state": dict(Counter(run.status for run in skipped)),
                "missing": [str(execution_id) for execution_id in missing],
            },
            [
                f"{question}. Nothing was done."
                if options["dry_run"]
                else f"{count_text(changed, 'Execution')}: cancelled, or cancellation requested.",
                *([f"{count_text(refused, 'Execution')}: ended meanwhile."] if refused else []),
                *(f"{run.id}  skipped: it is {run.status}" for run in skipped),
                *(f"{execution_id}  there is no such Execution" for execution_id in missing),
            ],
        )
        return DONE if changed and not (refused or skipped or missing) else NOT_ALL


def select(options: dict[str, Any]) -> tuple[list[Execution], list[UUID]]:
    """The selected Executions, ended ones only if they are named, and the ids without an Execution."""
    filtered = are_given(options, executions.FILTERS)
    if options["ids"]:
        if filtered or options["all"]:
            raise Complaint("Name Executions or use filters, not both.")
        runs = Execution.objects.in_bulk(options["ids"])
        return list(runs.values()), [key for key in dict.fromkeys(options["ids"]) if key not in runs]
    if not filtered and not options["all"]:
        raise Complaint("Name Executions or use a filter; --all means every live Execution.")
    live = executions.matching_executions(options).filter(status__in=EXECUTION_LIVE)
    return list(live.only("id", "status", "office_id").order_by("pk")), []
