"""The API of an office's webhooks and their deliveries, for its owners."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import serialize
from jobs.api import examples
from jobs.api.framework.filtering import FilterBackend
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.pagination import PagePagination, RoughPagination
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.serializers import StrictSerializer, validated
from jobs.api.views import CONFIGURES, OfficeView
from jobs.models import Notification, Webhook
from jobs.notifications import batches, creation, webhooks
from jobs.states import CLIENT_EVENTS, WebhookFormat


class WebhookSerializer(StrictSerializer):
    url = serializers.CharField(max_length=2000, help_text="http:// or https://, at a public address.")
    event_types = serializers.ListField(
        child=serializers.ChoiceField(CLIENT_EVENTS),
        required=False,
        help_text=f"The events to send; by default {', '.join(creation.DEFAULT_TYPES)}.",
    )
    enabled = serializers.BooleanField(required=False, help_text="A disabled webhook receives nothing.")


class NewWebhookSerializer(WebhookSerializer):
    format = serializers.ChoiceField(
        WebhookFormat.values,
        required=False,
        help_text="What it sends: signed events (`dure`, the default), or the messages that an incoming "
        "webhook of Slack, Discord or Microsoft Teams takes. It does not change later.",
    )


@extend_schema_serializer(
    component_name="Webhook", examples=[in_response("failures and ends of batches", examples.WEBHOOK)]
)
class WebhookDocument(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.CharField(
        help_text="The URL of a chat is a credential: only its server is returned, followed by `/…`."
    )
    format = serializers.ChoiceField(WebhookFormat.values)
    event_types = serializers.ListField(child=serializers.ChoiceField(CLIENT_EVENTS))
    enabled = serializers.BooleanField()
    disabled_reason = serializers.CharField(
        allow_null=True, help_text="Set when the system disabled it, not an owner."
    )
    created_at = serializers.DateTimeField()
    old_secret_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then messages are also signed with the previous secret."
    )


@extend_schema_serializer(
    component_name="WebhookWithSecret", examples=[in_response("a new one", examples.WEBHOOK_WITH_SECRET)]
)
class WebhookWithSecretDocument(WebhookDocument):
    secret = serializers.CharField(
        allow_null=True,
        help_text="Shown only in this response. Null for a chat, whose messages are not signed.",
    )


@extend_schema_serializer(
    component_name="Delivery", examples=[in_response("it is tried again soon", examples.DELIVERY)]
)
class DeliveryDocument(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    webhook_id = serializers.CharField(help_text="The `webhook-id` header, the same for all attempts.")
    event_id = serializers.IntegerField()
    body = serializers.DictField(help_text="The event: type, timestamp and data.")
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    next_at = serializers.DateTimeField(allow_null=True, help_text="The time of the next attempt.")
    sent_at = serializers.DateTimeField(
        allow_null=True, help_text="The time at which the receiver accepted it."
    )
    gave_up_at = serializers.DateTimeField(
        allow_null=True, help_text="The time of the last attempt, if all failed."
    )
    answer = serializers.CharField(allow_null=True, help_text="The receiver's response to the last attempt.")


class WebhookListView(OfficeView):
    """The office's webhooks."""

    queryset = Webhook.objects.none()
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)

    @extend_schema(
        operation_id="list_webhooks",
        tags=["webhooks"],
        summary="List an office's webhooks",
        description="Owners only.",
        responses=WebhookDocument(many=True),
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        rows = self.office(CONFIGURES).webhooks.order_by("id")
        page = self.paginate_queryset(self.filter_queryset(rows)) or []
        return self.get_paginated_response([webhook_json(webhook) for webhook in page])

    @extend_schema(
        operation_id="create_webhook",
        tags=["webhooks"],
        summary="Create a webhook",
        description="Owners only. The webhook receives later events, as messages of the Standard Webhooks "
        "specification or of a chat. The response shows the secret that signs them; it is not shown again.",
        request=NewWebhookSerializer,
        responses={201: WebhookWithSecretDocument},
        examples=[
            in_request("failures and ends of batches", examples.NEW_WEBHOOK),
            in_request("failures in a channel of Slack", examples.NEW_CHAT_WEBHOOK),
        ],
        extensions=problems("too_many_webhooks"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        office = self.office(CONFIGURES)
        webhook = webhooks.add(
            office, **validated(NewWebhookSerializer(data=request.data)), actor=self.actor()
        )
        location = request.build_absolute_uri(f"{request.path}/{webhook.pk}")
        return Response(with_secret(webhook, webhook.secret), status=201, headers={"Location": location})


class WebhookView(OfficeView):
    """A view of one webhook."""

    def webhook(self) -> Webhook:
        webhook = self.office(CONFIGURES).webhooks.filter(pk=self.kwargs["webhook_id"]).first()
        if webhook is None:
            raise Problem(404, "not_found", "There is no such webhook in this office.")
        return webhook


class WebhookDetailView(WebhookView):
    """One webhook."""

    @extend_schema(
        operation_id="get_webhook",
        tags=["webhooks"],
        summary="Get a webhook",
        description="Owners only.",
        responses=WebhookDocument,
    )
    def get(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        return Response(webhook_json(self.webhook()))

    @extend_schema(
        operation_id="change_webhook",
        tags=["webhooks"],
        summary="Change a webhook",
        description="Owners only. A webhook that is enabled again does not receive the events it missed. "
        "Disabling a webhook gives up the deliveries that wait for it.",
        request=WebhookSerializer(partial=True),
        responses=WebhookDocument,
        examples=[in_request("disable", {"enabled": False})],
    )
    def patch(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        webhook = self.webhook()
        data = validated(WebhookSerializer(data=request.data, partial=True))
        webhooks.change(webhook, **data, actor=self.actor())
        return Response(webhook_json(webhook))

    @extend_schema(
        operation_id="delete_webhook",
        tags=["webhooks"],
        summary="Delete a webhook and its deliveries",
        description="Owners only.",
        responses={204: None},
    )
    def delete(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        webhooks.remove(self.webhook(), actor=self.actor())
        return Response(status=204)


class RotateView(WebhookView):
    """A new secret for a webhook."""

    @extend_schema(
        operation_id="rotate_webhook_secret",
        tags=["webhooks"],
        summary="Rotate a webhook's secret",
        description="Owners only. For a day messages carry two signatures, of the new and of the previous "
        "secret. The new secret is shown only in this response.",
        request=None,
        responses=WebhookWithSecretDocument,
        examples=[in_response("for a day both are valid", examples.ROTATED)],
        extensions=problems("webhook_not_signed"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        webhook = self.webhook()
        secret = webhooks.rotate(webhook, timezone.now(), actor=self.actor())
        return Response(with_secret(webhook, secret))


class TestView(WebhookView):
    """A message that shows whether the receiver works."""

    @extend_schema(
        operation_id="send_test_message",
        tags=["webhooks"],
        summary="Send a test message",
        description="Owners only. The message has the type `test` and is sent like every "
        "other; its delivery, with a negative `event_id`, shows the response.",
        request=None,
        responses={202: DeliveryDocument},
        extensions=problems("webhook_disabled"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        notification = webhooks.send_test(self.webhook())
        location = request.build_absolute_uri(f"/api/offices/{office_id}/webhooks/{webhook_id}/deliveries")
        return Response(delivery_json(notification), status=202, headers={"Location": location})


class DeliveryListView(WebhookView):
    """The deliveries of a webhook."""

    queryset = Notification.objects.none()
    pagination_class = RoughPagination
    filter_backends = (FilterBackend,)

    @extend_schema(
        operation_id="list_deliveries",
        tags=["webhooks"],
        summary="List a webhook's deliveries, newest first",
        description="Owners only.",
        responses=DeliveryDocument(many=True),
    )
    def get(self, request: Request, office_id: UUID, webhook_id: int) -> Response:
        deliveries = Notification.objects.filter(webhook=self.webhook()).order_by("-id")
        page = self.paginate_queryset(self.filter_queryset(deliveries)) or []
        return self.get_paginated_response([delivery_json(delivery) for delivery in page])


class SendAgainView(WebhookView):
    """Sends a delivery again, whatever its state."""

    @extend_schema(
        operation_id="send_delivery_again",
        tags=["webhooks"],
        summary="Send a delivery again",
        description="Owners only. Its `webhook-id` stays the same.",
        request=None,
        responses={202: DeliveryDocument},
        extensions=problems("webhook_disabled"),
    )
    def post(self, request: Request, office_id: UUID, webhook_id: int, delivery_id: int) -> Response:
        notification = Notification.objects.filter(webhook=self.webhook(), pk=delivery_id).first()
        if notification is None:
            raise Problem(404, "not_found", "There is no such delivery of this webhook.")
        webhooks.send_again(notification)
        notification.refresh_from_db()
        location = request.build_absolute_uri(f"/api/offices/{office_id}/webhooks/{webhook_id}/deliveries")
        return Response(delivery_json(notification), status=202, headers={"Location": location})


def webhook_json(webhook: Webhook) -> serialize.JSON:
    return {
        "id": webhook.pk,
        "url": webhook.public_url,
        "format": webhook.format,
        "event_types": webhook.event_types,
        "enabled": webhook.enabled,
        "disabled_reason": webhook.disabled_reason or None,
        "created_at": serialize.iso_time(webhook.created_at),
        "old_secret_until": serialize.iso_time(webhook.old_secret_until),
    }


def with_secret(webhook: Webhook, secret: str) -> serialize.JSON:
    return {**webhook_json(webhook), "secret": None if webhook.is_chat else secret}


def delivery_json(notification: Notification) -> serialize.JSON:
    return {
        "id": notification.pk,
        "webhook_id": batches.message_id(notification.pk),
        "event_id": notification.event_id,
        "body": creation.parse_body(notification),
        "attempts": notification.attempts,
        "created_at": serialize.iso_time(notification.created_at),
        "next_at": serialize.iso_time(notification.next_at),
        "sent_at": serialize.iso_time(notification.sent_at),
        "gave_up_at": serialize.iso_time(notification.gave_up_at),
        "answer": notification.answer or None,
    }
