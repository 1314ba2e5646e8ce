"""Run a job, or a run without a job, once more with edited arguments."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from jobs.access import offices_of, require_access
from jobs.models import Execution, Job
from jobs.pages.edit_form import EditForm
from jobs.pages.permissions import current_user
from jobs.states import MemberRole
from scheduler.access import executions_of, own_executions
from scheduler.manual_runs import run_task
from scheduler.pages.forms import JSONTextField, json_text
from scheduler.pages.task_arguments import help_for
from scheduler.runs import again


class ArgumentsForm(EditForm):
    args = JSONTextField(label=gettext_lazy("Arguments (JSON)"), rows=10, empty="{}")

    def __init__(self, data: Any, before: dict[str, Any]) -> None:
        super().__init__(data, initial={"args": json_text(before)})
        self.fields["args"].before = before  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
def run_again(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the arguments, then start the copy. The id is that of a job or of an Execution without one."""
    user = current_user(request)
    job = Job.objects.filter(pk=run_id, office__in=offices_of(user)).select_related("office").first()
    if job is not None:
        require_access(user, job.office_id, MemberRole.OPERATOR)
    original: Job | Execution = job or _execution(request, run_id)
    form = ArgumentsForm(request.POST if request.method == "POST" else None, original.args)
    if address := form.save(lambda: _start(original, form.cleaned_data["args"], user)):
        messages.success(request, _("Run started."))
        return redirect(address)
    context = {
        "section": "runs",
        "name": str(original) if isinstance(original, Job) else original.task_id,
        "back": _page_of(original),
        "form": form,
        "help": help_for(original.task_id),
    }
    return render(request, "scheduler/run_again.html", context, status=400 if form.errors else 200)


def _execution(request: HttpRequest, run_id: UUID) -> Execution:
    """404 for a run that the user may not see, and for one that something else repeats."""
    user = current_user(request)
    repeatable = own_executions(user).filter(job__isnull=True, trigger__in=again.REPEATABLE)
    return get_object_or_404(repeatable, pk__in=executions_of(user).filter(pk=run_id).values("pk"))


def _start(original: Job | Execution, args: dict[str, Any], user: User) -> str:
    """Start the copy, and return the address of its page."""
    if isinstance(original, Job):
        return reverse("pages:job", args=[original.office_id, again.submit_copy(original, args)])
    return reverse("scheduler:execution", args=[run_task(original.task_id, args, owner_id=user.pk)])


def _page_of(original: Job | Execution) -> str:
    if isinstance(original, Job):
        return reverse("pages:job", args=[original.office_id, original.pk])
    return reverse("scheduler:execution", args=[original.pk])
