"""The message that an incoming webhook of Slack takes: blocks, and a text for notifications.

The texts of jobs are in plain text, in which Slack finds no mentions, channels or links; the only markup is
our own link. `&`, `<` and `>` are escaped everywhere.
"""

from typing import Any

from jobs.notifications.chat.escaping import fit
from jobs.notifications.texts import Summary

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
MAX_HEADER, MAX_SECTION = 150, 3_000
SIGNS = {"bad": "✕ ", "good": "✓ "}


def payload(summary: Summary) -> dict[str, Any]:
    title = SIGNS.get(summary.tone, "") + summary.title
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(title, MAX_HEADER)}]
    if text := "\n".join(filter(None, (*summary.lines, summary.error))):
        blocks.append({"type": "section", "text": _plain(text, MAX_SECTION)})
    link = f"<{fit(summary.link, MAX_SECTION, ENTITIES)}|{fit(summary.link_text, MAX_HEADER, ENTITIES)}>"
    elements = [_plain(summary.context, MAX_SECTION), {"type": "mrkdwn", "text": link}]
    blocks.append({"type": "context", "elements": elements})
    return {"text": fit(title, MAX_SECTION, ENTITIES), "blocks": blocks}


def _plain(text: str, limit: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": fit(text, limit, ENTITIES), "emoji": False}
