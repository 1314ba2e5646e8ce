"""An owner's operations on webhooks.

Each keeps `Office.has_webhooks` true exactly while a webhook is enabled: only then does the engine request
notifications after every commit.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Min
from django.utils import timezone

from jobs import activity, deletions
from jobs.api_model import iso_time
from jobs.errors import Conflict, ErrorText, Invalid
from jobs.http_client import Allowance, RequestRefused
from jobs.http_client.target import read_url
from jobs.models import Deletion, Notification, Office, Webhook
from jobs.notifications import signing
from jobs.notifications.creation import DEFAULT_TYPES, database_time, events_drained
from jobs.notifications.texts import TEST_TYPE
from jobs.sql import call
from jobs.sql import notifications as statements
from jobs.states import CLIENT_EVENTS, Act, DeletedKind, WebhookFormat

MAX_WEBHOOKS = 20
# After a rotation the previous secret also signs for this long.
SECRET_OVERLAP = timedelta(hours=24)


def add(
    office: Office,
    url: str,
    event_types: Sequence[str] | None = None,
    *,
    format: str = WebhookFormat.DURE,
    enabled: bool = True,
) -> Webhook:
    """Create a webhook with a secret of its own. It receives events from now on, in a format that stays."""
    check_url(url)
    types = check_event_types(DEFAULT_TYPES if event_types is None else event_types)
    with events_drained(office.pk):
        _check_count(office.pk)
        webhook = Webhook.objects.create(
            office=office,
            url=url,
            format=format,
            event_types=types,
            enabled=enabled,
            secret=signing.new_secret(),
        )
        _update_has_webhooks(webhook)
        _record(Act.WEBHOOK_CREATED, webhook, format=format, event_types=types)
    return webhook


def change(
    webhook: Webhook,
    *,
    url: str | None = None,
    event_types: Sequence[str] | None = None,
    enabled: bool | None = None,
) -> Webhook:
    """Change a webhook for future events. If it is enabled again, it does not receive earlier events."""
    fields: dict[str, Any] = {}
    if url is not None:
        check_url(url)
        fields["url"] = url
    if event_types is not None:
        fields["event_types"] = check_event_types(event_types)
    if enabled is not None:
        fields |= {"enabled": enabled, "disabled_reason": ""}
    with events_drained(webhook.office_id):
        _update(webhook, fields)
        if enabled is False:
            _drop_waiting(webhook, "The webhook was disabled.")
        # A URL may contain a secret.
        changes = {name: value for name, value in fields.items() if name in ("event_types", "enabled")}
        _record(Act.WEBHOOK_CHANGED, webhook, **changes)
    return webhook


def disable(webhook: Webhook, reason: str) -> None:
    """Disable it for a reason that its owner should read."""
    with events_drained(webhook.office_id):
        _update(webhook, {"enabled": False, "disabled_reason": reason[:200]})
        _drop_waiting(webhook, f"The webhook was disabled: {reason}")
        _record(Act.WEBHOOK_CHANGED, webhook, actor="", enabled=False, reason=reason)


def rotate(webhook: Webhook, now: datetime) -> str:
    """Return a new secret. The previous one also signs for a day."""
    if webhook.is_chat:
        raise Conflict("webhook_not_signed")
    secret = signing.new_secret()
    with events_drained(webhook.office_id):
        current = Webhook.objects.values_list("secret", flat=True).get(pk=webhook.pk)
        _update(webhook, {"secret": secret, "old_secret": current, "old_secret_until": now + SECRET_OVERLAP})
        _record(Act.WEBHOOK_ROTATED, webhook)
    return secret


def remove(webhook: Webhook, *, undo_for: User | None = None, now: datetime | None = None) -> Deletion | None:
    """Delete a webhook with its notifications. Of several deletions at once only the first has an effect.

    `undo_for` may restore it.
    """
    with events_drained(webhook.office_id):
        now = database_time(now)
        if not Webhook.objects.filter(pk=webhook.pk).update(deleted_at=now):
            return None
        call.change(statements.HOLD_BACK_WAITING, {"webhook": webhook.pk, "now": now})
        _update_has_webhooks(webhook)
        _record(Act.WEBHOOK_DELETED, webhook)
        if undo_for is None:
            return None
        return deletions.record(DeletedKind.WEBHOOK, webhook, undo_for, now, is_marked=True)


def restore(deletion: Deletion, *, now: datetime | None = None) -> Webhook:
    """Undo a deletion. Events of the meantime are not sent; raises Conflict."""
    webhook = Webhook.with_deleted.filter(pk=deletion.row["id"]).first()
    if webhook is None:
        raise Conflict("cannot_undo")
    with events_drained(webhook.office_id):
        now = database_time(now)
        with deletions.claim(deletion, now):
            _check_count(webhook.office_id)
            deleted = Webhook.with_deleted.filter(pk=webhook.pk, deleted_at=deletion.deleted_at)
            if not deleted.update(deleted_at=None):
                raise Conflict("cannot_undo")
            values = {"webhook": webhook.pk, "deleted_at": deletion.deleted_at, "now": now}
            call.change(statements.RELEASE_HELD_BACK, values)
            _update_has_webhooks(webhook)
            _record(Act.WEBHOOK_RESTORED, webhook)
    return webhook


def send_again(notification: Notification) -> None:
    """Send a notification in any state as if for the first time. Its `webhook-id` stays the same."""
    with events_drained(notification.office_id):
        webhook = notification.webhook_id
        if webhook and not Webhook.objects.filter(pk=webhook, enabled=True).exists():
            raise Conflict("webhook_disabled")
        Notification.objects.filter(pk=notification.pk).update(
            attempts=0, next_at=timezone.now(), sent_at=None, gave_up_at=None, answer=""
        )


def send_test(webhook: Webhook) -> Notification:
    """Send a message of the type `test`, by the same way as every other. Its event ids are negative."""
    with events_drained(webhook.office_id):
        if not Webhook.objects.filter(pk=webhook.pk, enabled=True).exists():
            raise Conflict("webhook_disabled")
        now = timezone.now()
        least = Notification.objects.filter(webhook=webhook).aggregate(least=Min("event_id"))["least"]
        data = {"office_id": str(webhook.office_id), "webhook_id": webhook.pk}
        body = {"type": TEST_TYPE, "timestamp": iso_time(now), "data": data}
        return Notification.objects.create(
            office_id=webhook.office_id,
            webhook=webhook,
            event_id=min(0, least or 0) - 1,
            body=call.as_json(body),
            created_at=now,
            next_at=now,
        )


def valid_secrets(webhook: Webhook, now: datetime) -> list[str]:
    """The secrets that sign now, the newest first."""
    until = webhook.old_secret_until
    old = [webhook.old_secret] if webhook.old_secret and until is not None and until > now else []
    return [webhook.secret, *old]


def check_url(url: str) -> None:
    """Refuse what cannot be a webhook's address. What a name resolves to is checked at each request."""
    try:
        target = read_url(url)
    except RequestRefused as refused:
        raise Invalid(errors={"url": [refused.text]}) from None
    try:
        ip_address(target.host)
    except ValueError:
        return
    if not Allowance.parse(settings.DURE_HTTP_ALLOW).may_reach(target.host, target.port, target.host):
        raise Invalid(errors={"url": [ErrorText("url_not_public")]})


def check_event_types(event_types: Sequence[str]) -> list[str]:
    """The types without duplicates, in the order of the states module."""
    if unknown := [event_type for event_type in event_types if event_type not in CLIENT_EVENTS]:
        text = ErrorText("unknown_event", event=unknown[0], allowed=", ".join(CLIENT_EVENTS))
        raise Invalid(errors={"event_types": [text]})
    if not event_types:
        raise Invalid(errors={"event_types": [ErrorText("no_event")]})
    return [event_type for event_type in CLIENT_EVENTS if event_type in event_types]


def _record(act: Act, webhook: Webhook, **details: Any) -> None:
    activity.record(act, office=webhook.office_id, webhook=webhook.pk, **details)


def _check_count(office_id: UUID) -> None:
    if Webhook.objects.filter(office=office_id).count() >= MAX_WEBHOOKS:
        raise Conflict("too_many_webhooks", limit=MAX_WEBHOOKS)


def _update(webhook: Webhook, fields: dict[str, object]) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(**fields)
    webhook.refresh_from_db()
    _update_has_webhooks(webhook)


def _update_has_webhooks(webhook: Webhook) -> None:
    call.change(statements.UPDATE_HAS_WEBHOOKS, {"office": webhook.office_id})


def _drop_waiting(webhook: Webhook, answer: str) -> None:
    call.change(statements.DROP_WAITING, {"webhook": webhook.pk, "answer": answer[:500]})
