"""Posts an event to the incoming webhook of a chat, in the shape that the chat takes.

The URL holds the credential, so nothing is signed, and no error names more of it than the server.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from jobs import http_client
from jobs.notifications.chat import discord, slack, teams
from jobs.notifications.texts import Summary
from jobs.states import WebhookFormat

PAYLOADS: Final[dict[str, Callable[[Summary], dict[str, Any]]]] = {
    WebhookFormat.SLACK: slack.payload,
    WebhookFormat.DISCORD: discord.payload,
    WebhookFormat.TEAMS: teams.payload,
}


def post(url: str, chat: str, summary: Summary, *, seconds: float = 10.0) -> http_client.Response:
    """Raises what http_client.request raises."""
    return http_client.request(
        "POST",
        url,
        headers={"Content-Type": "application/json"},
        body=json.dumps(PAYLOADS[chat](summary)).encode(),
        seconds=seconds,
        limit=4_096,
        secret_path=True,
    )
