"""Executions of all triggers, for operators: listed, looked at, cancelled."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.utils import timezone

from jobs.cli.bulk import add_consent, make_sure
from jobs.cli.command import DONE, LIST, NOT_ALL, Complaint, Console, add_author, add_limit
from jobs.cli.filters import are_given
from jobs.cli.format import counted
from jobs.models import Execution
from jobs.states import EXECUTION_LIVE
from scheduler.api import shapes
from scheduler.cli import executions


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        listing = self.part(LIST, self.show_list, "Executions, the newest first; done when no word is given")
        executions.add_filters(listing)
        add_limit(listing)
        one = self.part("show", self.show_one, "one Execution, with its attempts")
        one.add_argument("id", type=UUID, metavar="ID")
        ending = self.part(
            "cancel",
            self.cancel,
            "cancel Executions; what runs is told to stop. One that a job owns is cancelled with its job, "
            "whose event keeps the actor and the reason; the others have no events",
        )
        ending.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="these, or all that match:")
        executions.add_filters(ending)
        add_consent(ending, "Executions")
        add_author(ending)

    def show_list(self, options: dict[str, Any]) -> int:
        # Ids grow with time.
        chosen = executions.matching(options).order_by("-pk").prefetch_related("attempts")
        found = list(chosen[: options["limit"] + 1])
        more, found = len(found) > options["limit"], found[: options["limit"]]
        document = {"results": [shapes.execution(one) for one in found], "more": more}
        self.show_rows(document, executions.rows(found, timezone.now()), "Execution")
        return DONE if found else NOT_ALL

    def show_one(self, options: dict[str, Any]) -> int:
        run = Execution.objects.prefetch_related("attempts").filter(pk=options["id"]).first()
        if run is None:
            raise Complaint(f"There is no Execution {options['id']}.", NOT_ALL)
        self.show(shapes.execution(run), executions.page(run, timezone.now()))
        return DONE

    def cancel(self, options: dict[str, Any]) -> int:
        chosen, missing = chosen_by(options)
        live = [run for run in chosen if run.status in EXECUTION_LIVE]
        skipped = [run for run in chosen if run.status not in EXECUTION_LIVE]
        question = f"This would cancel {counted(len(live), 'Execution')}"
        changed = len(live)
        if not options["dry_run"]:
            if live and not options["ids"]:
                make_sure(question, str(len(live)), sure=options["yes"])
            changed = executions.cancel(live, actor=options["actor"], reason=options["reason"])
        refused = len(live) - changed
        self.show(
            {
                "verb": "cancel",
                "dry_run": options["dry_run"],
                "changed": changed,
                "refused": refused,
                "skipped": len(skipped),
                "skipped_by_state": dict(Counter(run.status for run in skipped)),
                "missing": [str(one) for one in missing],
            },
            [
                f"{question}. Nothing was done."
                if options["dry_run"]
                else f"{counted(changed, 'Execution')}: cancelled, or told to stop.",
                *([f"{counted(refused, 'Execution')}: ended meanwhile."] if refused else []),
                *(f"{run.id}  skipped: it is {run.status}" for run in skipped),
                *(f"{one}  there is no such Execution" for one in missing),
            ],
        )
        return DONE if changed and not (refused or skipped or missing) else NOT_ALL


def chosen_by(options: dict[str, Any]) -> tuple[list[Execution], list[UUID]]:
    """Those that are meant, ended ones only where they are named, and the ids for which there are none."""
    filtered = are_given(options, executions.FILTERS)
    if options["ids"]:
        if filtered or options["all"]:
            raise Complaint("Name Executions, or say which match; not both.")
        found = Execution.objects.in_bulk(options["ids"])
        return list(found.values()), [one for one in dict.fromkeys(options["ids"]) if one not in found]
    if not filtered and not options["all"]:
        raise Complaint("Name Executions, or give a filter; --all means every one that has not ended.")
    live = executions.matching(options).filter(status__in=EXECUTION_LIVE)
    return list(live.only("id", "status", "office_id").order_by("pk")), []
