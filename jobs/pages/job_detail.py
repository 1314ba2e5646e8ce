"""The page of one job: what happened to it, why it is where it is, and what can be done about it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs import bulk, queries
from jobs.flower import link_for
from jobs.insight import retries
from jobs.insight.explain import explain
from jobs.insight.progress import Node
from jobs.insight.stats import run_times
from jobs.models import Dependency, Job, Office, Worker
from jobs.pages.confirmation import add_result_message
from jobs.pages.forms import ActionForm
from jobs.pages.graph_drawing import Drawing, draw
from jobs.pages.permissions import actor_of, current_user, office_access, office_context
from jobs.pages.reason_texts import LIMITS, sentence, start_worker
from jobs.pages.run_logs import job_log_context
from jobs.states import JobStatus, MemberRole

# Neighbours on each side of the drawing; the lists beside it have more.
MOST_DRAWN = 6


@require_safe
def job(request: HttpRequest, office_id: UUID, job_id: UUID, *, template: str = "job.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    access = office_access(request, office_id)
    newest = queries.newest_event(access.office)
    job, now, user = _job(access.office, job_id), timezone.now(), current_user(request)
    context = {
        **office_context(access),
        "newest_event": newest,
        "verbs": [verb for verb, states in bulk.APPLIES_TO.items() if job.status in states],
        "action_form": ActionForm(verb=bulk.REPRIORITISE, initial={"priority": job.priority}),
        "runs": [
            {"run": row.run, "attempts": row.attempts, "flower": link_for(user, row.run)}
            for row in queries.runs_of(job, now)
        ],
        **job_context(access.office, job, now),
    }
    if template == "job.html":
        context |= job_log_context(request, job)
    return render(request, f"jobs/{template}", context)


@require_POST
def act(request: HttpRequest, office_id: UUID, job_id: UUID, verb: str) -> HttpResponse:
    access = office_access(request, office_id, MemberRole.OPERATOR)
    if verb not in bulk.APPLIES_TO:
        raise Http404
    job = _job(access.office, job_id)
    form = ActionForm(request.POST, verb=verb)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, " ".join(map(str, errors)))
    else:
        action = form.action(actor_of(request))
        result = bulk.apply(Job.objects.filter(pk=job.pk), action)
        if result.changed:
            add_result_message(request, verb, result)
        elif verb == bulk.RETRY and retries.retry_first(job):
            messages.warning(request, str(retries.refusal(job).text))
        else:
            messages.warning(request, _("Nothing was changed: the job's state does not allow it."))
    return redirect("pages:job", office_id=office_id, job_id=job_id)


def _job(office: Office, job_id: UUID) -> Job:
    return get_object_or_404(office.jobs.select_related("execution", "batch"), pk=job_id)


def job_context(office: Office, job: Job, now: datetime) -> dict[str, Any]:
    explanation = explain(office, job, now)
    parents, children = queries.parents_of(job), queries.children_of(job)
    run = job.execution
    return {
        "now": now,
        "job": job,
        "explained": explanation,
        "reasons": [sentence(reason) for reason in explanation.reasons],
        "is_limited": any(reason.code in LIMITS for reason in explanation.reasons),
        "start_worker": start_worker(explanation.reasons),
        "current": run if job.status == JobStatus.PROCESSING else None,
        "usual": run_times(office.id).get(job.task_id) if job.status == JobStatus.PROCESSING else None,
        "worker": Worker.objects.filter(name=run.worker).first() if run and run.worker else None,
        "parents": parents,
        "children": children,
        "drawing": neighbour_graph(job, parents, children),
        "left_out": max(0, len(parents) - MOST_DRAWN) + max(0, len(children) - MOST_DRAWN),
        "output": queries.output_of(run.result) if run else None,
        "events": queries.events_of(job),
    }


def neighbour_graph(job: Job, parents: Sequence[Job], children: Sequence[Job]) -> Drawing | None:
    """The job between its nearest neighbours, drawn like the graph of a batch; None if it has none."""
    if not parents and not children:
        return None
    nodes = [_node(other) for other in (*parents[:MOST_DRAWN], job, *children[:MOST_DRAWN])]
    edges: dict[str, list[str]] = {node.id: [] for node in nodes}
    dependencies = Dependency.objects.filter(job__in=list(edges), parent__in=list(edges)).order_by("position")
    for child, parent in dependencies.values_list("job_id", "parent_id"):
        edges[str(child)].append(str(parent))
    return draw(nodes, edges, [str(job.id)])


def _node(job: Job) -> Node:
    return Node(
        id=str(job.id),
        ref=job.ref,
        task_id=job.task_id,
        role=job.role,
        status=job.status,
        started_at=job.started_at,
        completed_at=job.completed_at,
        failure_type=job.failure_type,
        error=job.error_message,
        claimed=job.is_claimed,
        attempts=job.execution.attempt if job.execution else 0,
    )
