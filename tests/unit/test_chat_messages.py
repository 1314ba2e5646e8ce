"""The messages for chats: their shape, their limits, and texts of jobs that try to be markup."""

import json
import re
from typing import Any

import pytest
from django.conf import settings as live_settings

from jobs.notifications.chat import PAYLOADS, discord, slack, teams
from jobs.notifications.chat.escaping import fit
from jobs.notifications.texts import Summary, summarize
from jobs.states import CLIENT_EVENTS, WebhookFormat

HOSTILE = "<!channel> & <@U1> @everyone *bold* `code` ``` [here](https://evil.example) <at>all</at>"
OFFICE = "0193d3a8-0000-7000-8000-000000000001"
JOB = "0193d3a8-0000-7000-8000-000000000002"


def event(kind: str, **data: Any) -> dict[str, Any]:
    details = data.pop("details", {})
    return {
        "type": kind,
        "timestamp": "2026-12-01T09:00:00+09:00",
        "data": {"office_id": OFFICE, "job_id": JOB, "details": details, **data},
    }


FAILED = event(
    "job_failed",
    ref="build",
    task_id="demo.sum",
    details={"failure_type": "git_conflict", "error": "No space left.\nAsk.", "attempt": 2},
)
SCHEDULE = {"schedule": "nightly", "task_id": "demo.sum", "schedule_id": "5", "failures": 3, "missed": 1}
RUN = {"workflow": "release", "workflow_id": "7", "run_id": "8", "error": "Step a failed.", "retry_count": 0}
EVENTS = [
    *(event(kind, ref="build", task_id="demo.sum") for kind in CLIENT_EVENTS if kind.startswith("job_")),
    event("batch_completed", batch_id=JOB, batch_name="release", details={"done": 3, "failed": 1}),
    event("schedule_failing", details=SCHEDULE),
    event("schedule_recovered", details=SCHEDULE),
    event("workflow_run_failed", details=RUN),
    {**event("test"), "data": {"office_id": OFFICE, "webhook_id": 7}},
]


def hostile(length: int = 1) -> Summary:
    text = HOSTILE * length
    return Summary(
        text, (text, text), text[:500] * length, "https://dure.example/a", "Open in Dure", text, "bad"
    )


def test_every_event_has_a_title_and_a_link(settings) -> None:
    settings.BASE_URL = "https://dure.example"
    settings.LANGUAGE_CODE = "en"
    assert {body["type"] for body in EVENTS} == {*CLIENT_EVENTS, "test"}
    summaries = {body["type"]: summarize(body, "Ours") for body in EVENTS}
    for summary in summaries.values():
        assert summary.title and summary.context.startswith("Ours · ")
    links = {kind: summary.link.removeprefix("https://dure.example") for kind, summary in summaries.items()}
    assert links["job_failed"] == links["job_ready"] == f"/offices/{OFFICE}/jobs/{JOB}"
    assert links["batch_completed"] == f"/offices/{OFFICE}/batches/{JOB}"
    assert links["schedule_failing"] == links["schedule_recovered"] == "/schedules/5"
    assert links["workflow_run_failed"] == "/workflows/7/runs/8"
    assert links["test"] == f"/offices/{OFFICE}/webhooks/7"
    assert summaries["batch_completed"].lines == ("Succeeded 3 · Failed 1",)
    unnamed = event("batch_completed", batch_id=JOB, batch_name=None, details={"done": 3, "failed": 1})
    assert summarize(unnamed, "Ours").title == "Batch completed: 4 jobs"
    assert summaries["workflow_run_failed"].error == "Step a failed."


@pytest.mark.parametrize(
    ("language", "title", "line"),
    [
        ("en", "Job build (demo.sum) has failed", "Your intervention is needed"),
        ("ko", "build (demo.sum) 작업이 실패했습니다", "충돌"),
    ],
)
def test_the_words_are_in_the_language_of_the_installation(settings, language, title, line) -> None:
    settings.LANGUAGE_CODE = language
    summary = summarize(FAILED, "Ours")
    assert summary.title == title
    assert any(line in each for each in summary.lines)
    assert summary.error == "No space left.\nAsk."


def test_slack_gets_blocks_with_escaped_plain_text() -> None:
    message = slack.payload(summarize(FAILED, "R&D"))
    assert message["text"].endswith("(demo.sum) has failed") or live_settings.LANGUAGE_CODE != "en"
    header, section, context = message["blocks"]
    assert [block["type"] for block in message["blocks"]] == ["header", "section", "context"]
    assert header["text"]["type"] == section["text"]["type"] == "plain_text"
    assert section["text"]["text"].endswith("No space left.\nAsk.")
    assert context["elements"][0]["text"].startswith("R&amp;D · ")
    assert context["elements"][1]["text"].startswith(f"<{live_settings.BASE_URL}/offices/")


def test_slack_finds_no_mention_in_a_text() -> None:
    message = json.dumps(slack.payload(hostile()))
    assert "<!channel>" not in message and "<@U1>" not in message
    assert "&lt;!channel&gt; &amp; &lt;@U1&gt;" in message
    assert message.count("<http") == 1  # our own link


def test_slacks_limits_hold() -> None:
    message = slack.payload(hostile(200))
    header, section, context = message["blocks"]
    assert len(header["text"]["text"]) <= 150 and header["text"]["text"].endswith("…")
    assert len(section["text"]["text"]) <= 3_000
    assert all(len(element["text"]) <= 3_000 for element in context["elements"])


def test_discord_gets_one_embed_that_mentions_nobody() -> None:
    message = discord.payload(summarize(FAILED, "Ours"))
    (embed,) = message["embeds"]
    assert message["allowed_mentions"] == {"parse": []}
    assert embed["url"].endswith(f"/jobs/{JOB}")
    assert embed["description"].endswith("```\nNo space left.\nAsk.\n```")
    assert embed["color"] == discord.COLORS["bad"]


def test_discord_reads_no_markup_in_a_text() -> None:
    (embed,) = discord.payload(hostile())["embeds"]
    lines, _, error = embed["description"].partition("\n```\n")
    for text in (lines, embed["title"]):
        assert not set(re.sub(r"\\.", "", text)) & set("\\`*_~|>#[]()<@")
    assert "```" not in error.removesuffix("\n```")


def test_discords_limits_hold() -> None:
    (embed,) = discord.payload(hostile(200))["embeds"]
    assert len(embed["title"]) <= 256
    assert len(embed["description"]) <= 4_096
    assert len(embed["footer"]["text"]) <= 2_048
    total = len(embed["title"]) + len(embed["description"]) + len(embed["footer"]["text"])
    assert total <= 6_000


def test_teams_gets_an_adaptive_card_without_markdown() -> None:
    message = teams.payload(hostile())
    (attachment,) = message["attachments"]
    assert message["type"] == "message"
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    assert card["actions"][0] == {
        "type": "Action.OpenUrl",
        "title": "Open in Dure",
        "url": "https://dure.example/a",
    }
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}  # a TextBlock reads Markdown
    assert "entities" not in json.dumps(card)  # without them <at> mentions nobody


def test_a_message_for_teams_is_small() -> None:
    assert len(json.dumps(teams.payload(hostile(200))).encode()) < 28 * 1024


@pytest.mark.parametrize("chat", [value for value in WebhookFormat if value != WebhookFormat.DURE])
@pytest.mark.parametrize("body", EVENTS, ids=lambda body: body["type"])
def test_every_event_has_a_message_in_every_chat(chat: str, body: dict[str, Any]) -> None:
    assert json.loads(json.dumps(PAYLOADS[chat](summarize(body, "Ours"))))


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("a&b", 6, "a…"), ("a&b", 7, "a&amp;b")],
)
def test_a_text_is_cut_between_signs_and_never_within_an_entity(text, limit, expected) -> None:
    assert fit(text, limit, slack.ENTITIES) == expected
