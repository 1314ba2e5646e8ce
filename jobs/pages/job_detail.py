"""One job: what became of it, why it is where it is, and what can be done about it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs.insight.explain import explain
from jobs.models import Event, Execution, Job, Office, Worker
from jobs.pages import bulk
from jobs.pages.flower import link_for
from jobs.pages.forms import WishForm
from jobs.pages.graph_drawing import bar
from jobs.pages.job_list import tell
from jobs.pages.permissions import can_operate, current_user, office_access
from jobs.pages.reason_texts import sentence
from jobs.pages.related_graph import DRAWN, neighbourhood
from jobs.pages.run_output import output_of
from jobs.states import ExecutionStatus, JobStatus, MemberRole

NEIGHBOURS = 50
EVENTS = 100
# An office's events have no index by job: only so many of the newest are looked through.
EVENTS_LOOKED_THROUGH = 20_000


@require_safe
@login_required
def job(request: HttpRequest, office_id: UUID, job_id: UUID) -> HttpResponse:
    return _answer(request, office_id, job_id, "jobs/one.html")


@require_safe
@login_required
def job_live(request: HttpRequest, office_id: UUID, job_id: UUID) -> HttpResponse:
    return _answer(request, office_id, job_id, "jobs/one_live.html")


def _answer(request: HttpRequest, office_id: UUID, job_id: UUID, template: str) -> HttpResponse:
    here = office_access(request, office_id)
    found = _job(here.office, job_id)
    context = {
        "section": "offices",
        "office": here.office,
        "can_operate": can_operate(here),
        "verbs": [verb for verb, states in bulk.APPLIES_TO.items() if found.status in states],
        "reason_form": WishForm(verb="cancel"),
        "priority_form": WishForm(verb="reprioritise"),
    }
    read = reading(here.office, found, timezone.now())
    for row in read["runs"]:
        row["flower"] = link_for(current_user(request), row["run"])
    return render(request, template, context | read)


@require_POST
@login_required
def act(request: HttpRequest, office_id: UUID, job_id: UUID, verb: str) -> HttpResponse:
    here = office_access(request, office_id, MemberRole.OPERATOR)
    if verb not in bulk.VERBS:
        raise Http404
    found = _job(here.office, job_id)
    form = WishForm(request.POST, verb=verb)
    if not form.is_valid():
        for why in form.errors.values():
            messages.error(request, " ".join(str(one) for one in why))
    else:
        chosen = Job.objects.filter(pk=found.pk)
        done = bulk.apply(here.office, chosen, form.wish(actor=current_user(request).get_username()))
        if done.changed:
            tell(request, verb, done)
        else:
            messages.warning(request, _("Nothing to do: the job is no longer in a state for that."))
    return redirect("pages:job", office_id=office_id, job_id=job_id)


def _job(office: Office, job_id: UUID) -> Job:
    return get_object_or_404(office.jobs.select_related("execution", "batch"), pk=job_id)


def reading(office: Office, found: Job, now: datetime) -> dict[str, Any]:
    explained = explain(office, found, now)
    parents, children = neighbours(found, "edges_out__job"), neighbours(found, "edges_in__parent")
    run = found.execution
    return {
        "now": now,
        "job": found,
        "explained": explained,
        "reasons": [sentence(reason) for reason in explained.reasons],
        "current": run if found.status == JobStatus.PROCESSING else None,
        "heard": Worker.objects.filter(name=run.worker).first() if run and run.worker else None,
        "runs": runs_of(found, now),
        "parents": parents,
        "children": children,
        "drawing": neighbourhood(found, parents, children),
        "left_out": max(0, len(parents) - DRAWN) + max(0, len(children) - DRAWN),
        "output": output_of(run.result) if run else None,
        "events": events_of(found),
    }


def runs_of(found: Job, now: datetime) -> list[dict[str, Any]]:
    """Its Executions, the newest first, with their attempts on one scale of time."""
    runs = list(found.executions.order_by("created_at", "id").prefetch_related("attempts"))
    last = found.completed_at or now
    return [{"run": run, "attempts": attempts_of(run, found.created_at, last, now)} for run in runs[::-1]]


def attempts_of(run: Execution, first: datetime, last: datetime, now: datetime) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "number": one.number,
            "started_at": one.started_at,
            "ended_at": one.ended_at,
            "outcome": one.outcome,
            "failure_type": one.failure_type,
            "error": one.error,
            "worker": one.worker,
            "bar": bar(one.started_at, one.ended_at, first, last),
        }
        for one in run.attempts.all()
    ]
    if run.status == ExecutionStatus.RUNNING:
        # The row of an attempt is written when it ends.
        rows.append(
            {
                "number": run.attempt,
                "started_at": run.attempt_started_at,
                "worker": run.worker,
                "running": run.status,
                "bar": bar(run.attempt_started_at, now, first, last),
            }
        )
    return rows


def neighbours(found: Job, through: str) -> list[Job]:
    jobs = Job.objects.filter(**{through: found}).defer("args", "error_message")
    return list(jobs.order_by("seq")[:NEIGHBOURS])


def events_of(found: Job) -> list[Event]:
    events = Event.objects.filter(office_id=found.office_id)
    oldest = events.order_by("-id").values_list("id", flat=True)[EVENTS_LOOKED_THROUGH - 1 :][:1]
    since = next(iter(oldest), 0)
    return list(events.filter(id__gte=since, job_id=found.pk).order_by("-id")[:EVENTS])
