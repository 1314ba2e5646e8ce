"""The message that a webhook of Discord takes: one embed, and no mentions whatever the texts say."""

from typing import Any

from jobs.notifications.chat.escaping import fit
from jobs.notifications.texts import Summary

MARKUP = {sign: f"\\{sign}" for sign in "\\`*_~|>#[]()<@:-"}
# A fence within the error would end the block.
FENCE = {"`": "`\u200b"}
MAX_TITLE, MAX_LINES, MAX_ERROR, MAX_FOOTER = 256, 2_000, 2_000, 1_000
COLORS = {"bad": 0xC62F36, "good": 0x1F7A4D}


def payload(summary: Summary) -> dict[str, Any]:
    parts = [fit(line, MAX_LINES // max(len(summary.lines), 1), MARKUP) for line in summary.lines]
    if summary.error:
        parts.append(f"```\n{fit(summary.error, MAX_ERROR, FENCE)}\n```")
    embed: dict[str, Any] = {
        "title": fit(summary.title, MAX_TITLE, MARKUP),
        "url": summary.link,
        "footer": {"text": fit(summary.context, MAX_FOOTER)},
    }
    if parts:
        embed["description"] = "\n".join(parts)
    if summary.tone:
        embed["color"] = COLORS[summary.tone]
    return {"embeds": [embed], "allowed_mentions": {"parse": []}}
