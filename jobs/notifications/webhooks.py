"""What owners do with their webhooks. Each verb keeps `Office.hooked` true exactly while one is enabled:
only then does the engine ring for every commit.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address

from django.conf import settings
from django.utils import timezone

from jobs.errors import Conflict, Invalid
from jobs.http_client import Allowance, RequestRefused
from jobs.http_client.target import Target, read_url
from jobs.models import Notice, Office, Webhook
from jobs.notifications import from_events, signing
from jobs.sql import call
from jobs.sql import notifications as statements
from jobs.states import TOLD_TO_CLIENTS

MOST_WEBHOOKS = 20
# For so long the secret before the last change still signs too.
OVERLAP = timedelta(hours=24)


def add(
    office: Office, url: str, event_types: Sequence[str] | None = None, *, enabled: bool = True
) -> Webhook:
    """A new webhook, with a secret of its own. It is told what happens from now on."""
    check_url(url)
    types = chosen(from_events.DEFAULT_TYPES if event_types is None else event_types)
    with from_events.settled(office.pk):
        if Webhook.objects.filter(office=office).count() >= MOST_WEBHOOKS:
            raise Conflict(f"An office has at most {MOST_WEBHOOKS} webhooks.", code="too_many_webhooks")
        webhook = Webhook.objects.create(
            office=office, url=url, event_types=types, enabled=enabled, secret=signing.new_secret()
        )
        _keep_hooked(webhook)
    return webhook


def change(
    webhook: Webhook,
    *,
    url: str | None = None,
    event_types: Sequence[str] | None = None,
    enabled: bool | None = None,
) -> None:
    """Counts from now on. Enabled again, it is not told what happened meanwhile."""
    fields: dict[str, object] = {}
    if url is not None:
        check_url(url)
        fields["url"] = url
    if event_types is not None:
        fields["event_types"] = chosen(event_types)
    if enabled is not None:
        fields |= {"enabled": enabled, "disabled_reason": ""}
    with from_events.settled(webhook.office_id):
        _write(webhook, fields)
        if enabled is False:
            _drop_waiting(webhook, "The webhook was disabled.")


def disable(webhook: Webhook, reason: str) -> None:
    """On the receiver's own wish, or for another reason that its owner should read."""
    with from_events.settled(webhook.office_id):
        _write(webhook, {"enabled": False, "disabled_reason": reason[:200]})
        _drop_waiting(webhook, f"The webhook was disabled: {reason}")


def rotate(webhook: Webhook, now: datetime) -> str:
    """A new secret. The one before goes on signing beside it for a day."""
    secret = signing.new_secret()
    with from_events.settled(webhook.office_id):
        current = Webhook.objects.values_list("secret", flat=True).get(pk=webhook.pk)
        _write(webhook, {"secret": secret, "old_secret": current, "old_secret_until": now + OVERLAP})
    return secret


def remove(webhook: Webhook) -> None:
    with from_events.settled(webhook.office_id):
        Webhook.objects.filter(pk=webhook.pk).delete()
        _keep_hooked(webhook)


def send_again(notice: Notice) -> None:
    """Send it as if for the first time, whatever became of it. Its `webhook-id` stays the same."""
    with from_events.settled(notice.office_id):
        if notice.webhook_id and not Webhook.objects.filter(pk=notice.webhook_id, enabled=True).exists():
            raise Conflict("The webhook is disabled: enable it first.", code="webhook_disabled")
        Notice.objects.filter(pk=notice.pk).update(
            attempts=0, next_at=timezone.now(), sent_at=None, gave_up_at=None, answer=""
        )


def secrets_of(webhook: Webhook, now: datetime) -> list[str]:
    """Those that sign now, the newest first."""
    until = webhook.old_secret_until
    old = [webhook.old_secret] if webhook.old_secret and until is not None and until > now else []
    return [webhook.secret, *old]


def check_url(url: str) -> Target:
    """What cannot be a webhook's address. Where a name leads is checked each time that something is sent."""
    try:
        target = read_url(url)
    except RequestRefused as refused:
        raise Invalid(str(refused), errors={"url": [str(refused)]}) from None
    try:
        ip_address(target.host)
    except ValueError:
        return target
    if not Allowance.parse(settings.DURE_HTTP_ALLOW).may_reach(target.host, target.port, target.host):
        sentence = "Only public addresses can be reached, on port 80, 443 or from 1024 on."
        raise Invalid(sentence, errors={"url": [sentence]})
    return target


def chosen(event_types: Sequence[str]) -> list[str]:
    """In the order of the states module, each once."""
    if unknown := [one for one in event_types if one not in TOLD_TO_CLIENTS]:
        sentence = f"There is no event {unknown[0]}; there are: {', '.join(TOLD_TO_CLIENTS)}."
        raise Invalid(sentence, errors={"event_types": [sentence]})
    if not event_types:
        sentence = "Choose at least one event, or disable the webhook."
        raise Invalid(sentence, errors={"event_types": [sentence]})
    return [one for one in TOLD_TO_CLIENTS if one in event_types]


def _write(webhook: Webhook, fields: dict[str, object]) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(**fields)
    webhook.refresh_from_db()
    _keep_hooked(webhook)


def _keep_hooked(webhook: Webhook) -> None:
    call.change(statements.SET_HOOKED, {"office": webhook.office_id})


def _drop_waiting(webhook: Webhook, answer: str) -> None:
    call.change(statements.DROP_WAITING, {"webhook": webhook.pk, "answer": answer[:500]})
