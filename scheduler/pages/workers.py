"""The page of a worker: what it runs and has run; for staff what it offers too, and how to drain it.

For members a worker exists that has run something of theirs: they see whether it is online, and their runs.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs import catalogue, workers
from jobs.models import Worker
from jobs.pages.permissions import current_user, staff_user
from jobs.pages.verbs import call_verb
from scheduler import access, failures
from scheduler.pages.causes import causes_of_rows
from scheduler.pages.running import running_context
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
    failed = failures.recent_groups(visible, now, FAILURES_LIMIT)
    ended = search.search(user, RunFilter(worker=name, states=ENDED), size=ENDED_LIMIT)
    context = {
        "section": "monitor",
        "now": now,
        "of_worker": name,
        "live_at": reverse("scheduler:worker-live", args=[name]),
        "worker": row,
        "online": row is not None and workers.is_online(row, now),
        "may_act": user.is_staff,
        **running_context(visible, now, RUNNING_LIMIT, [group.last for group in failed]),
        "rows": ended.rows,
        "causes": causes_of_rows(ended.rows),
        "searched_to": ended.searched_to,
        "failures": failed,
    }
    if user.is_staff:
        context["offers"] = workers.offers_of(name)
        context["public"] = {task.task_id for task in catalogue.public_tasks()}
    elif not (context["running"] or context["rows"] or context["failures"]):
        raise Http404
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
