"""The webhooks of an office and their deliveries, for its owners."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from jobs.access import Access
from jobs.errors import Refused
from jobs.models import Webhook
from jobs.notifications import creation
from jobs.notifications import webhooks as verbs
from jobs.pages.edit_form import EditForm
from jobs.pages.permissions import current_user, office_access, office_context
from jobs.pages.undo import offer_undo
from jobs.pages.verbs import call_verb
from jobs.states import CLIENT_EVENTS, EventType, MemberRole, WebhookFormat

MOST_DELIVERIES = 100


class WebhookForm(EditForm):
    url = forms.CharField(
        label=gettext_lazy("URL"),
        max_length=2000,
        widget=forms.TextInput({"inputmode": "url", "spellcheck": "false", "autocapitalize": "none"}),
        help_text=gettext_lazy("http:// or https://, at a public address."),
    )
    event_types = forms.MultipleChoiceField(
        label=gettext_lazy("Events"),
        choices=[(event, EventType(event).label) for event in CLIENT_EVENTS],
        widget=forms.CheckboxSelectMultiple,
    )


class NewWebhookForm(WebhookForm):
    format = forms.ChoiceField(
        label=gettext_lazy("Message format"),
        required=False,
        choices=WebhookFormat.choices,
        help_text=gettext_lazy(
            "For a chat, enter the URL of its incoming webhook. The format does not change later."
        ),
    )
    field_order = ("format", "url", "event_types")

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or WebhookFormat.DURE


class ChatWebhookForm(WebhookForm):
    """Of a webhook whose URL is a credential, and is not returned to the page."""

    def __init__(self, data: Any = None, *, initial: dict[str, Any]) -> None:
        super().__init__(data, initial={**initial, "url": ""})
        self.fields["url"].required = False
        self.fields["url"].help_text = _(
            "Leave it empty to keep the URL: it is a credential, and is not displayed."
        )

    def clean_url(self) -> str | None:
        return self.cleaned_data["url"] or None


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def office_webhooks(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """The list; a POST creates a webhook and shows its secret once."""
    access = _access(request, office_id)
    posted = request.POST if request.method == "POST" else None
    form = NewWebhookForm(posted, initial={"event_types": creation.DEFAULT_TYPES})
    if webhook := form.save(lambda: verbs.add(access.office, **form.cleaned_data)):
        secret = "" if webhook.is_chat else webhook.secret
        return _render_one(request, access, webhook, secret=secret)
    context = {"form": form, "webhooks": access.office.webhooks.order_by("id")}
    return _render(request, access, "jobs/webhooks.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def webhook(request: HttpRequest, office_id: UUID, webhook_id: int) -> HttpResponse:
    """A webhook with its deliveries; a POST changes its URL and events."""
    access = _access(request, office_id)
    row = get_object_or_404(access.office.webhooks, pk=webhook_id)
    if request.method != "POST":
        return _render_one(request, access, row)
    form = _form_of(row)(request.POST, initial={})
    if form.save(lambda: verbs.change(row, **form.cleaned_data)) is None:
        return _render_one(request, access, row, form=form)
    messages.success(request, _("Saved."))
    return redirect("pages:webhook", office_id, webhook_id)


@require_POST
@never_cache
def act(request: HttpRequest, office_id: UUID, webhook_id: int, action: str) -> HttpResponse:
    access = _access(request, office_id)
    row = get_object_or_404(access.office.webhooks, pk=webhook_id)
    try:
        match action:
            case "rotate":
                secret = verbs.rotate(row, timezone.now())
                return _render_one(request, access, row, secret=secret)
            case "enable" | "disable":
                verbs.change(row, enabled=action == "enable")
                text = _("Webhook enabled.") if action == "enable" else _("Webhook disabled.")
            case "test":
                verbs.send_test(row)
                text = _("Test message queued. Reload the page to see the response.")
            case _other:
                raise Http404
    except Refused as refused:
        messages.error(request, str(refused.text))
    else:
        messages.success(request, text)
    return redirect("pages:webhook", office_id, webhook_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, office_id: UUID, webhook_id: int) -> HttpResponse:
    access = _access(request, office_id)
    row = get_object_or_404(access.office.webhooks, pk=webhook_id)
    if request.method != "POST":
        back = reverse("pages:webhook", args=[office_id, webhook_id])
        context = {**office_context(access), "row": row, "back": back}
        return render(request, "jobs/webhook_delete.html", context)
    deletion = verbs.remove(row, undo_for=current_user(request))
    offer_undo(request, _("Webhook deleted."), deletion)
    return redirect("pages:webhooks", office_id)


@require_POST
def send_again(request: HttpRequest, office_id: UUID, webhook_id: int, delivery_id: int) -> HttpResponse:
    row = get_object_or_404(_access(request, office_id).office.webhooks, pk=webhook_id)
    delivery = get_object_or_404(row.notifications, pk=delivery_id)
    queued = _("Message queued again. Reload the page to see the response.")
    call_verb(request, lambda: verbs.send_again(delivery), queued)
    return redirect("pages:webhook", office_id, webhook_id)


def _access(request: HttpRequest, office_id: UUID) -> Access:
    return office_access(request, office_id, MemberRole.OWNER)


def _form_of(row: Webhook) -> type[WebhookForm]:
    return ChatWebhookForm if row.is_chat else WebhookForm


def _render_one(request: HttpRequest, access: Access, row: Webhook, **more: Any) -> HttpResponse:
    form = more.pop("form", None)
    context = {
        "webhook": row,
        "form": form or _form_of(row)(initial={"url": row.url, "event_types": row.event_types}),
        "deliveries": row.notifications.order_by("-id")[:MOST_DELIVERIES],
        **more,
    }
    return _render(request, access, "jobs/webhook.html", context, status=400 if form else 200)


def _render(
    request: HttpRequest, access: Access, template: str, context: dict[str, Any], status: int
) -> HttpResponse:
    return render(request, template, office_context(access, "webhooks") | context, status=status)
