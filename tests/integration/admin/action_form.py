"""Addresses of the admin, and its action form."""

from typing import Any

from django.test import Client
from django.urls import reverse


def address(model: Any, page: str = "changelist", *of: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=of)


def act(client: Client, model: Any, action: str, *rows: Any, **more: str) -> Any:
    form = {"action": action, "_selected_action": [str(row.pk) for row in rows], "index": "0", **more}
    return client.post(address(model), form, follow=True)
