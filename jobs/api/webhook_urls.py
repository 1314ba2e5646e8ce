"""URLs of an office's webhooks, below /api/."""

from django.urls import path

from jobs.api import webhooks

WEBHOOKS = "offices/<uuid:office_id>/webhooks"
WEBHOOK = f"{WEBHOOKS}/<int:webhook_id>"

urlpatterns = [
    path(WEBHOOKS, webhooks.WebhookListView.as_view(), name="webhooks"),
    path(WEBHOOK, webhooks.WebhookDetailView.as_view(), name="webhook"),
    path(f"{WEBHOOK}/rotate", webhooks.RotateView.as_view(), name="rotate-webhook"),
    path(f"{WEBHOOK}/test", webhooks.TestView.as_view(), name="test-webhook"),
    path(f"{WEBHOOK}/deliveries", webhooks.DeliveryListView.as_view(), name="deliveries"),
    path(
        f"{WEBHOOK}/deliveries/<int:delivery_id>/send-again",
        webhooks.SendAgainView.as_view(),
        name="send-again",
    ),
]
