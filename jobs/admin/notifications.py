"""Admin of events, webhooks and notifications."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs.admin import columns
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import LargeTableAdmin, ReadOnlyAdmin
from jobs.admin.changelist import newest
from jobs.admin.filters import boolean_filter, choice
from jobs.admin.forms import add_refusals, secret_page
from jobs.admin.links import Link, rows_of
from jobs.ids import parse_uuid
from jobs.models import Batch, Event, EventCursor, Job, Notification, Office, Webhook
from jobs.notifications import creation, webhooks
from jobs.states import EventType

OF_OFFICE = columns.row_of(Office, "office_id", _("office"))
OF_JOB = columns.row_of(Job, "job_id", _("job"))
OF_BATCH = columns.row_of(Batch, "batch_id", _("batch"))
PUBLIC_URL = columns.column("public_url", _("address"), str)


@columns.display(_("by"))
def actor(event: Event) -> str:
    return str(event.details.get("actor", "")) or "–"


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", "at", "type", OF_OFFICE, OF_JOB, OF_BATCH, actor)
    list_filter = (choice("type", _("event type"), dict(EventType.choices), indexed=False),)
    ids = ("office_id",)
    fields = ("id", "at", "type", OF_OFFICE, OF_JOB, OF_BATCH, columns.json("details", _("details")))

    def search(self, rows: QuerySet[Event], term: str) -> QuerySet[Event]:
        """A job's id finds its events among the newest: events have no index by job."""
        job_id = parse_uuid(term)
        job = Job.objects.filter(pk=job_id).first() if job_id else None
        if job is not None:
            return newest(rows.filter(office_id=job.office_id, job_id=job.pk))
        return super().search(rows, term)


class WebhookForm(forms.ModelForm):  # type: ignore[type-arg]
    # The verb checks the address: see clean().
    url = forms.CharField(label=_("Address"), max_length=2000, widget=forms.TextInput(attrs={"size": 80}))
    event_types = forms.MultipleChoiceField(
        label=_("Events"),
        choices=EventType.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[event.value for event in creation.DEFAULT_TYPES],
    )

    class Meta:
        model = Webhook
        fields = ("office", "format", "url", "event_types", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and self.instance.is_chat:
            # Its URL is a credential.
            self.initial["url"], self.fields["url"].required = "", False
            self.fields["url"].help_text = _(
                "Leave it empty to keep the URL: it is a credential, and is not displayed."
            )

    def clean_url(self) -> str:
        return str(self.cleaned_data["url"] or self.instance.url)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if "url" in data:
            add_refusals(self, lambda: webhooks.check_url(data["url"]))
        return data


def disable(webhook: Webhook, operator: Operator) -> None:
    webhooks.disable(webhook, operator.reason or f"Disabled by {operator.actor}.")


@admin.register(Webhook)
class WebhookAdmin(LargeTableAdmin):
    """Its secret is shown once, when the webhook is created."""

    form = WebhookForm
    list_display = (
        *(PUBLIC_URL, "format", columns.OFFICE, "enabled", "disabled_reason"),
        "paused_until",
        "created_at",
    )
    list_filter = (boolean_filter("enabled", _("enabled")),)
    list_select_related = ("office",)
    ids = ("office",)
    beginnings = ("url",)
    autocomplete_fields = ("office",)
    readonly_fields = ("disabled_reason", "paused_until", "created_at")
    row_actions = (
        RowAction(
            "enable",
            _("Enable…"),
            lambda n: ngettext("Enable %d webhook", "Enable %d webhooks", n) % n,
            do=lambda webhook, operator: webhooks.change(webhook, enabled=True),
            refusal=lambda webhook: _("enabled already") if webhook.enabled else "",
            note=_("Events from the meantime are not sent."),
        ),
        RowAction(
            "disable",
            _("Disable…"),
            lambda n: ngettext("Disable %d webhook", "Disable %d webhooks", n) % n,
            do=disable,
            refusal=lambda webhook: "" if webhook.enabled else _("disabled already"),
            note=_("Its pending notifications are dropped."),
        ),
    )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("office", "format", "url", "event_types", "enabled", *(self.readonly_fields if obj else ()))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("office", "format", *self.readonly_fields) if obj else self.readonly_fields

    def links(self, request: HttpRequest, row: Webhook) -> list[Link]:
        return [rows_of(Notification, _("Notifications"), webhook=row.pk)]

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        data = form.cleaned_data
        if change:
            webhooks.change(obj, **{name: data[name] for name in form.changed_data})
        else:
            webhook = webhooks.add(
                data["office"],
                data["url"],
                data["event_types"],
                format=data["format"],
                enabled=data["enabled"],
            )
            obj.pk, obj.secret, obj._state.adding = webhook.pk, webhook.secret, False

    def delete_model(self, request: HttpRequest, obj: Webhook) -> None:
        webhooks.remove(obj)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        if obj.is_chat:
            return super().response_add(request, obj, post_url_continue)
        return secret_page(self, request, _("Signing secret"), obj.secret)


NOTIFICATION_STATES = {
    "waiting": (Q(next_at__isnull=False), _("pending delivery")),
    "sent": (Q(sent_at__isnull=False), _("delivered")),
    "given_up": (Q(gave_up_at__isnull=False), _("delivery failed")),
}


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", columns.OFFICE, columns.link("webhook", _("webhook")), "address"),
        *("event_id", "attempts", "created_at", "next_at", "sent_at", "gave_up_at"),
    )
    list_filter = (
        choice(
            "state",
            _("state"),
            {name: words for name, (_condition, words) in NOTIFICATION_STATES.items()},
            lambda value: NOTIFICATION_STATES[value][0],
            indexed=False,
        ),
    )
    list_select_related = ("office", "webhook")
    ids = ("office", "webhook", "event_id")
    fields = (
        *("office", "webhook", "address", columns.row_of(Event, "event_id", _("event"))),
        *("created_at", "attempts", "next_at", "sent_at", "gave_up_at", "answer"),
        columns.json("parsed_body", _("message")),
    )
    row_actions = (
        RowAction(
            "send_again",
            _("Send again…"),
            lambda n: ngettext("Send %d notification again", "Send %d notifications again", n) % n,
            do=lambda notification, operator: webhooks.send_again(notification),
            refusal=lambda notification: _("pending delivery") if notification.next_at else "",
        ),
    )


@admin.register(EventCursor)
class EventCursorAdmin(ReadOnlyAdmin):
    list_display = (columns.OFFICE, "event_id")
    list_select_related = ("office",)
    fields = ("office", "event_id")
