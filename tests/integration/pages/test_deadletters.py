"""The pages of dead letters: staff only, escaped messages, republish and discard."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from exports import deadletters
from exports.deadletters import DeadLetterIn
from exports.messages import DEADLETTER, PROGRESS, RESULTS
from exports.models import DeadLetter, StreamOutbox
from exports.streams import Entry
from tests.integration import export_tools as tools
from tests.integration.pages.clients import page_text, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_send_limit")]


@pytest.fixture
def steve():
    return tools.user("steve", is_staff=True)


@pytest.fixture
def page(steve):
    return signed_in(steve)


def dead_letter(
    number: int = 1, stream: str = PROGRESS, raw: Any = None, reason: str = "no such job"
) -> DeadLetter:
    deadletters.dead_letter(
        [DeadLetterIn(Entry(stream, f"{number}-0", raw or {b"jobId": b"7", b"progress": b"5"}), reason)],
        timezone.now(),
    )
    StreamOutbox.objects.filter(stream=DEADLETTER).delete()
    return DeadLetter.objects.latest("pk")


def test_other_users_than_staff_get_404_and_no_link(page):
    letter, minji = dead_letter(), signed_in(tools.user())
    for path in ("/deadletters", f"/deadletters/{letter.pk}"):
        assert minji.get(path).status_code == 404
    for verb in ("republish", "discard"):
        assert minji.post(f"/deadletters/{letter.pk}/{verb}", {"sure": "yes"}).status_code == 404
    letter.refresh_from_db()
    assert letter.state == DeadLetter.State.OPEN
    assert "/deadletters" not in page_text(minji, "/")
    assert '<a href="/deadletters">Dead letters</a>' in page_text(page, "/")


def test_the_list_shows_open_dead_letters_unless_filtered(page, steve):
    first, second, third = dead_letter(1), dead_letter(2, RESULTS, reason="bad checksum"), dead_letter(3)
    deadletters.discard(first.pk, steve, timezone.now())

    def listed(query: str) -> list[int]:
        return [row.pk for row in page.get(f"/deadletters{query}").context["page"].rows]

    assert listed("") == [third.pk, second.pk]
    assert listed("?state=any") == [third.pk, second.pk, first.pk]
    assert listed("?state=discarded") == [first.pk]
    assert listed("?stream=job.results") == [second.pk]
    assert listed("?state=odd") == []
    assert "bad checksum" in page_text(page, "/deadletters")


def test_pages_keep_the_filter(page):
    made = [dead_letter(number, RESULTS).pk for number in range(60)]
    first = page.get("/deadletters?stream=job.results")
    second = page.get("/deadletters" + first.context["older"])
    assert "stream=job.results" in first.context["older"]
    assert [row.pk for answer in (first, second) for row in answer.context["page"].rows] == made[::-1]


def test_a_hostile_message_is_shown_as_text(page):
    letter = dead_letter(
        raw={
            b"<script>alert(1)</script>": b"<img src=x onerror=alert(1)>",
            b"jobId": "7\u202e\u200b\x00".encode() + b"\xff{{ 7|add:7 }}",
            b"huge": b"A" * 1_000_000,
        },
        reason="<b>told</b>",
    )
    html = page_text(page, f"/deadletters/{letter.pk}")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "\u202e" not in html
    assert "\u200b" not in html
    assert "\\u202e\\u200b" in html
    assert "{{ 7|add:7 }}" in html
    assert "&lt;b&gt;told&lt;/b&gt;" in html
    assert len(html) < 30_000
    assert "cannot be sent again" in html
    assert "/republish" not in html
    assert "<b>told" not in page_text(page, "/deadletters")


def test_huge_rows_are_truncated(page):
    letter = dead_letter()
    letter.fields = {f"{number}" * 200: "B" * 50_000 for number in range(100, 400)}
    letter.save()
    assert len(page_text(page, f"/deadletters/{letter.pk}")) < 100_000


def test_a_message_is_republished_unchanged_after_a_confirmation(page, steve):
    letter = dead_letter()
    path = f"/deadletters/{letter.pk}/republish"
    confirmation = page.post(path)
    assert "Send the message to job.progress again" in confirmation.content.decode()
    letter.refresh_from_db()
    assert letter.state == DeadLetter.State.OPEN
    assert not StreamOutbox.objects.exists()
    answer = page.post(path, {"sure": "yes"}, follow=True)
    assert "The message is being sent again." in answer.content.decode()
    letter.refresh_from_db()
    assert (letter.state, letter.handled_by) == (DeadLetter.State.REPUBLISHED, steve)
    sent = StreamOutbox.objects.get()
    assert (sent.stream, sent.fields) == (PROGRESS, {"jobId": "7", "progress": "5"})


def test_a_message_is_discarded_once_after_a_confirmation(page, steve):
    letter = dead_letter()
    path = f"/deadletters/{letter.pk}/discard"
    assert "Discard the message of job.progress" in page.post(path).content.decode()
    assert "The message was discarded." in page.post(path, {"sure": "yes"}, follow=True).content.decode()
    letter.refresh_from_db()
    assert (letter.state, letter.handled_by) == (DeadLetter.State.DISCARDED, steve)
    for verb in ("republish", "discard"):
        again = page.post(f"/deadletters/{letter.pk}/{verb}", {"sure": "yes"}, follow=True)
        assert "already sent again or discarded" in again.content.decode()
    assert not StreamOutbox.objects.exists()


def test_the_page_shows_that_a_message_waits_to_be_sent(page):
    letter = dead_letter()
    page.post(f"/deadletters/{letter.pk}/republish", {"sure": "yes"})
    assert "Waiting to be sent" in page_text(page, f"/deadletters/{letter.pk}")
    assert page.get("/deadletters").context["stuck_since"] is None
    StreamOutbox.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert "Messages wait to be sent: Redis or the listener is down." in page_text(page, "/deadletters")
    StreamOutbox.objects.all().delete()
    assert "Waiting to be sent" not in page_text(page, f"/deadletters/{letter.pk}")
    assert page.get("/deadletters").context["stuck_since"] is None


def test_actions_need_a_known_name_and_a_post(page):
    letter = dead_letter()
    assert page.post(f"/deadletters/{letter.pk}/explode", {"sure": "yes"}).status_code == 404
    assert page.get(f"/deadletters/{letter.pk}/discard").status_code == 405
    assert page.get("/deadletters/99999999999999999999").status_code == 404
