"""The forms that create a step queue and enqueue a job, and the copy of a queue."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from jobs.access import operated_offices, require_access
from jobs.pages.edit_form import EditForm
from jobs.pages.permissions import current_user
from jobs.states import MemberRole
from scheduler.pages.forms import JSONTextField
from scheduler.steps import libraries, queues
from scheduler.steps.access import queue_for
from scheduler.steps.models import StepQueue
from scheduler.steps.states import (
    EMPTY_ARGS,
    EXPIRED_TIME,
    MAX_OPERATION_SECONDS,
    MAX_UNDO_RETRIES,
    NO_OPERATION,
    UNINIT,
)

# Between a library and an operation: neither name can contain it.
SEPARATOR = "."


class QueueForm(EditForm):
    name = forms.CharField(label=gettext_lazy("Name"), required=False, max_length=200)
    queue_library = forms.ChoiceField(label=gettext_lazy("Library"))
    office = forms.ChoiceField(label=gettext_lazy("Office"), required=False)

    def __init__(self, data: Any = None, *, user: Any) -> None:
        super().__init__(data, initial={"queue_library": UNINIT})
        names = [(name, name) for name in libraries.names()]
        self.fields["queue_library"].choices = [(UNINIT, _("None")), *names]  # type: ignore[attr-defined]
        offices = [(str(office.id), office.name) for office in operated_offices(user)]
        nobody = ("", _("None: only you see the queue"))
        self.fields["office"].choices = [nobody, *offices]  # type: ignore[attr-defined]


class JobForm(EditForm):
    field_names = {
        "forward_operation": "forward",
        "backward_operation": "backward",
        "operation_library": "forward",
    }

    forward = forms.ChoiceField(label=gettext_lazy("Forward operation"), required=False)
    backward = forms.ChoiceField(label=gettext_lazy("Backward operation"), required=False)
    arguments = JSONTextField(label=gettext_lazy("Arguments (JSON)"), rows=5, empty=f'"{EMPTY_ARGS}"')
    expired_time = forms.FloatField(
        label=gettext_lazy("Time limit (s)"), min_value=0.001, max_value=MAX_OPERATION_SECONDS
    )
    undo_retries = forms.IntegerField(
        label=gettext_lazy("Retries of the rollback (optional)"),
        required=False,
        min_value=0,
        max_value=MAX_UNDO_RETRIES,
    )

    def __init__(self, data: Any = None, *, library: str) -> None:
        super().__init__(data, initial={"expired_time": EXPIRED_TIME})
        # The operations of the queue's library come first.
        names = sorted(libraries.names(), key=lambda name: (name != library, name))
        operations = [
            (name, [(f"{name}{SEPARATOR}{each.name}", each.name) for each in libraries.operations_in(name)])
            for name in names
        ]
        for field in ("forward", "backward"):
            self.fields[field].choices = [("", _("None")), *operations]  # type: ignore[attr-defined]

    def clean(self) -> None:
        forward, backward = (
            (self.cleaned_data.get(name) or "").rpartition(SEPARATOR) for name in ("forward", "backward")
        )
        if forward[0] and backward[0] and forward[0] != backward[0]:
            self.add_error("backward", _("Both operations must be of the same library."))
        self.values = {
            "forward_operation": forward[2] or NO_OPERATION,
            "backward_operation": backward[2] or NO_OPERATION,
            "operation_library": forward[0] or backward[0] or UNINIT,
            **{name: self.cleaned_data.get(name) for name in ("arguments", "expired_time", "undo_retries")},
        }


@require_http_methods(["GET", "HEAD", "POST"])
def new_queue(request: HttpRequest) -> HttpResponse:
    user = current_user(request)
    form = QueueForm(request.POST if request.method == "POST" else None, user=user)
    if queue := form.save(lambda: _create(user, form)):
        messages.success(request, _("The queue was created. Add its first job."))
        return redirect("steps:new-job", queue_id=queue.queue_id)
    return _render(request, "step_queues/queue_form.html", form)


def _create(user: User, form: QueueForm) -> StepQueue:
    values = dict(form.cleaned_data)
    office_id = values.pop("office")
    office = require_access(user, office_id, MemberRole.OPERATOR).office if office_id else None
    return queues.create(values, owner=user, office=office, now=timezone.now())


@require_http_methods(["GET", "HEAD", "POST"])
def new_job(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(current_user(request), queue_id, MemberRole.OPERATOR)
    form = JobForm(request.POST if request.method == "POST" else None, library=queue.queue_library)
    if step := form.save(lambda: queues.enqueue(queue_id, form.values)):
        messages.success(request, _("Job %(number)s was added.") % {"number": step.number})
        page = "steps:new-job" if "another" in request.POST else "steps:queue"
        return redirect(page, queue_id=queue_id)
    return _render(request, "step_queues/job_form.html", form, queue)


@require_POST
def copy(request: HttpRequest, queue_id: int) -> HttpResponse:
    user = current_user(request)
    source = queue_for(user, queue_id, MemberRole.OPERATOR)
    queue = queues.copy(queue_id, owner=user, name=source.name, now=timezone.now())
    messages.success(request, _("This is the copy. None of its jobs has run."))
    return redirect("steps:queue", queue_id=queue.queue_id)


def _render(request: HttpRequest, template: str, form: EditForm, queue: Any = None) -> HttpResponse:
    status = 400 if form.is_bound else 200
    context = {"section": "step-queues", "form": form, "queue": queue}
    return render(request, template, context, status=status)
