"""The message that the Teams trigger "When a Teams webhook request is received" takes: an Adaptive Card.

The texts are runs of rich text, in which Teams reads no Markdown.
"""

from typing import Any

from jobs.notifications.chat.escaping import fit
from jobs.notifications.texts import Summary

CARD = "application/vnd.microsoft.card.adaptive"
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
VERSION = "1.4"
# A message may have 28 KiB.
MAX_TITLE, MAX_LINE, MAX_ERROR = 500, 1_000, 2_000
COLORS = {"bad": "Attention", "good": "Good"}


def payload(summary: Summary) -> dict[str, Any]:
    color = COLORS.get(summary.tone, "Default")
    body = [_text(summary.title, MAX_TITLE, size="Large", weight="Bolder", color=color)]
    body += [_text(line, MAX_LINE) for line in summary.lines]
    if summary.error:
        body.append(_text(summary.error, MAX_ERROR, fontType="Monospace"))
    body.append(_text(summary.context, MAX_LINE, isSubtle=True, size="Small"))
    content = {
        "$schema": SCHEMA,
        "type": "AdaptiveCard",
        "version": VERSION,
        "body": body,
        "actions": [{"type": "Action.OpenUrl", "title": summary.link_text, "url": summary.link}],
        "msteams": {"width": "Full"},
    }
    return {
        "type": "message",
        "attachments": [{"contentType": CARD, "contentUrl": None, "content": content}],
    }


def _text(text: str, limit: int, **style: object) -> dict[str, Any]:
    run = {"type": "TextRun", "text": fit(text, limit), **style}
    return {"type": "RichTextBlock", "inlines": [run]}
