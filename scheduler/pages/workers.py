"""The page of a worker: what it runs and has run; for staff what it offers too, and how to drain it.

For members a worker exists that has run something of theirs: they see whether it is online, and their runs.
"""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs import catalogue, workers
from jobs.insight.stats import usual_times_of_slow
from jobs.models import Execution, Worker
from jobs.pages.permissions import current_user, staff_user
from jobs.pages.verbs import call_verb
from jobs.states import ExecutionStatus
from scheduler import access, failures
from scheduler.pages.causes import causes_of, queues_of_executions
from scheduler.runs import search
from scheduler.runs.filters import ENDED, RunFilter

RUNNING_LIMIT = 50
ENDED_LIMIT = 15
FAILURES_LIMIT = 10
VERBS = {"drain": workers.drain, "resume": workers.resume}


@require_safe
def worker(request: HttpRequest, name: str, *, template: str = "worker.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed.

    A worker that has stopped has no row any more; its page shows what it has run.
    """
    user, now = current_user(request), timezone.now()
    row = Worker.objects.filter(name=name).first()
    visible = access.executions_of(user, access.read_origins(user)).filter(worker=name)
    context = {
        "section": "monitor",
        "now": now,
        "of_worker": name,
        "live_at": reverse("scheduler:worker-live", args=[name]),
        "worker": row,
        "online": row is not None and workers.is_online(row, now),
        "may_act": user.is_staff,
        **_runs(user, name, visible),
        "failures": failures.recent_groups(visible, now, FAILURES_LIMIT),
    }
    if user.is_staff:
        context["offers"] = workers.offers_of(name)
        context["public"] = {task.task_id for task in catalogue.public_tasks()}
    elif not (context["running"] or context["rows"] or context["failures"]):
        raise Http404
    linked = [*context["running"], *(group.last for group in context["failures"])]
    context["step_queues"] = queues_of_executions(linked)
    context["slow"] = usual_times_of_slow(context["running"], now)
    return render(request, f"scheduler/{template}", context)


@require_POST
def act(request: HttpRequest, name: str, verb: str) -> HttpResponse:
    user = staff_user(request)
    if not Worker.objects.filter(name=name).exists():
        raise Http404
    drained = _("The worker takes nothing new, and finishes what runs.")
    done = drained if verb == "drain" else _("The worker takes work again.")
    call_verb(request, lambda: VERBS[verb](name, user=user.pk), done)
    return redirect("scheduler:worker", name)


def _runs(user: User, name: str, visible: QuerySet[Execution]) -> dict[str, Any]:
    """What it runs, and its last runs, as far as the user may see them."""
    live = visible.filter(status=ExecutionStatus.RUNNING)
    ended = search.search(user, RunFilter(worker=name, states=ENDED), size=ENDED_LIMIT)
    return {
        "running": list(live.select_related("job").order_by("attempt_started_at")[:RUNNING_LIMIT]),
        "rows": ended.rows,
        "causes": causes_of([run.execution for run in ended.rows if run.execution and not run.job]),
        "searched_to": ended.searched_to,
    }
