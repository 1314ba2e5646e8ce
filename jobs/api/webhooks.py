"""The API of an office's webhooks and their deliveries, for its owners."""

from typing import Annotated
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api import examples
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.pagination import RoughPagination
from jobs.api.framework.reading import read, read_changes
from jobs.api.views import OWNER, OfficeView, accepted_response, created_response, get_or_404
from jobs.api_model import JSON, AnyOf, ApiIn, ApiOut, Omittable, OneOf, TextOrNone, Time
from jobs.models import Notification, Webhook
from jobs.notifications import creation, webhooks
from jobs.states import CLIENT_EVENTS, WebhookFormat


class WebhookIn(ApiIn):
    url: Annotated[str, Field(min_length=1, max_length=2000)] = Field(
        description="http:// or https://, at a public address."
    )
    event_types: Omittable[list[Annotated[str, OneOf(CLIENT_EVENTS)]]] = Field(
        None, description=f"The events to send; by default {', '.join(creation.DEFAULT_TYPES)}."
    )
    enabled: Omittable[bool] = Field(None, description="A disabled webhook receives nothing.")


class NewWebhookIn(WebhookIn):
    format: Omittable[Annotated[str, OneOf(WebhookFormat.values)]] = Field(
        None,
        description="What it sends: signed events (`dure`, the default), or the messages that an incoming "
        "webhook of Slack, Discord or Microsoft Teams takes. It does not change later.",
    )


@extend_schema_serializer(examples=[in_response("failures and ends of batches", examples.WEBHOOK)])
class WebhookOut(ApiOut):
    id: int
    url: str = Field(
        validation_alias="public_url",
        description="The URL of a chat is a credential: only its server is returned, followed by `/…`.",
    )
    format: Annotated[str, AnyOf(WebhookFormat.values)]
    event_types: list[Annotated[str, AnyOf(CLIENT_EVENTS)]]
    enabled: bool
    disabled_reason: TextOrNone = Field(description="Set when the system disabled it, not an owner.")
    created_at: Time
    old_secret_until: Time | None = Field(
        description="Until then messages are also signed with the previous secret."
    )


@extend_schema_serializer(examples=[in_response("a new one", examples.WEBHOOK_WITH_SECRET)])
class WebhookWithSecretOut(WebhookOut):
    secret: str | None = Field(
        description="Shown only in this response. Null for a chat, whose messages are not signed."
    )


@extend_schema_serializer(examples=[in_response("it is tried again soon", examples.DELIVERY)])
class DeliveryOut(ApiOut):
    id: int
    webhook_id: str = Field(
        validation_alias="message_id", description="The `webhook-id` header, the same for all attempts."
    )
    event_id: int
    body: JSON = Field(validation_alias="parsed_body", description="The event: type, timestamp and data.")
    attempts: int
    created_at: Time
    next_at: Time | None = Field(description="The time of the next attempt.")
    sent_at: Time | None = Field(description="The time at which the receiver accepted it.")
    gave_up_at: Time | None = Field(description="The time of the last attempt, if all failed.")
    answer: TextOrNone = Field(description="The receiver's response to the last attempt.")


class WebhookListView(OfficeView, ListView[Webhook]):
    @extend_schema(operation_id="list_webhooks", responses=list[WebhookOut])
    def get(self, request: Request, office_id: UUID) -> Response:
        """List an office's webhooks. Owners only."""
        return self.list_response(self.office(OWNER).webhooks.order_by("id"), WebhookOut.write)

    @extend_schema(
        operation_id="create_webhook",
        request=NewWebhookIn,
        responses={201: WebhookWithSecretOut},
        examples=[
            in_request("failures and ends of batches", examples.NEW_WEBHOOK),
            in_request("failures in a channel of Slack", examples.NEW_CHAT_WEBHOOK),
        ],
        extensions=problems("too_many_webhooks"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        """Create a webhook.

        Owners only. The webhook receives later events, as messages of the Standard Webhooks specification or
        of a chat. The response shows the secret that signs them; it is not shown again.
        """
        office = self.office(OWNER)
        webhook = webhooks.add(office, **read(NewWebhookIn, request.data).values())
        location = request.build_absolute_uri(f"{request.path}/{webhook.pk}")
        return created_response(with_secret(webhook, webhook.secret), location)


class WebhookView(OfficeView):
    """A view of one webhook."""

    def webhook(self) -> Webhook:
        office = self.office(OWNER)
        return get_or_404(office.webhooks.all(), self.kwargs["webhook_id"], "webhook in this office")

    def accepted_response(self, notification: Notification) -> Response:
        address = "/api/offices/{office_id}/webhooks/{webhook_id}/deliveries".format(**self.kwargs)
        return accepted_response(DeliveryOut.write(notification), self.request.build_absolute_uri(address))


class WebhookDetailView(WebhookView):
    @extend_schema(operation_id="get_webhook", responses=WebhookOut)
    def get(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        """Get a webhook. Owners only."""
        return Response(WebhookOut.write(self.webhook()))

    @extend_schema(
        operation_id="change_webhook",
        request=WebhookIn,
        responses=WebhookOut,
        examples=[in_request("disable", {"enabled": False})],
    )
    def patch(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        """Change a webhook.

        Owners only. A webhook that is enabled again does not receive the events it missed. Disabling a
        webhook gives up the deliveries that wait for it.
        """
        webhook = self.webhook()
        data = read_changes(WebhookIn, request.data)
        webhooks.change(webhook, **data)
        return Response(WebhookOut.write(webhook))

    @extend_schema(operation_id="delete_webhook", responses={204: None})
    def delete(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        """Delete a webhook and its deliveries. Owners only."""
        webhooks.remove(self.webhook())
        return Response(status=204)


class RotateView(WebhookView):
    @extend_schema(
        operation_id="rotate_webhook_secret",
        responses=WebhookWithSecretOut,
        examples=[in_response("for a day both are valid", examples.ROTATED)],
        extensions=problems("webhook_not_signed"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        """Rotate a webhook's secret.

        Owners only. For a day messages carry two signatures, of the new and of the previous secret. The new
        secret is shown only in this response.
        """
        webhook = self.webhook()
        secret = webhooks.rotate(webhook, timezone.now())
        return Response(with_secret(webhook, secret))


class TestView(WebhookView):
    @extend_schema(
        operation_id="send_test_message",
        responses={202: DeliveryOut},
        extensions=problems("webhook_disabled"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        """Send a test message.

        Owners only. The message has the type `test` and is sent like every other; its delivery, with a
        negative `event_id`, shows the response.
        """
        return self.accepted_response(webhooks.send_test(self.webhook()))


class DeliveryListView(WebhookView, ListView[Notification]):
    pagination_class = RoughPagination

    @extend_schema(operation_id="list_deliveries", responses=list[DeliveryOut])
    def get(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        """List a webhook's deliveries, newest first. Owners only."""
        return self.list_response(self.webhook().notifications.order_by("-id"), DeliveryOut.write)


class SendAgainView(WebhookView):
    @extend_schema(
        operation_id="send_delivery_again",
        responses={202: DeliveryOut},
        extensions=problems("webhook_disabled"),
    )
    def post(self, request: Request, office_id: UUID, webhook_id: int, delivery_id: int) -> Response:
        """Send a delivery again. Owners only. Its `webhook-id` stays the same."""
        deliveries = self.webhook().notifications.all()
        notification = get_or_404(deliveries, delivery_id, "delivery of this webhook")
        webhooks.send_again(notification)
        notification.refresh_from_db()
        return self.accepted_response(notification)


def with_secret(webhook: Webhook, secret: str) -> JSON:
    return WebhookWithSecretOut.write(webhook, secret=None if webhook.is_chat else secret)
