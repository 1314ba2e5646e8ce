"""The pages of dead letters: for staff only, hostile messages shown harmless, and the API's two verbs."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from exports import deadletters
from exports.deadletters import DeadLetterIn
from exports.messages import DEADLETTER, PROGRESS, RESULTS
from exports.models import DeadLetter, StreamOutbox
from tests.integration import export_tools as tools
from tests.integration.pages.readers import signed_in, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def steve():
    return tools.user("steve", is_staff=True)


@pytest.fixture
def page(steve):
    return signed_in(steve)


def buried(
    number: int = 1, stream: str = PROGRESS, raw: Any = None, reason: str = "no such job"
) -> DeadLetter:
    deadletters.dead_letter(
        [DeadLetterIn(stream, f"{number}-0", raw or {b"jobId": b"7", b"progress": b"5"}, reason)],
        timezone.now(),
    )
    StreamOutbox.objects.filter(stream=DEADLETTER).delete()
    return DeadLetter.objects.latest("pk")


def test_for_others_than_staff_there_are_none():
    letter = buried()
    minji = Client()
    minji.force_login(tools.user())
    paths = ["/deadletters", f"/deadletters/{letter.pk}"]
    acts = [f"/deadletters/{letter.pk}/{verb}" for verb in ("republish", "discard")]
    for path in paths:
        assert minji.get(path).status_code == 404
        assert Client().get(path)["Location"].startswith("/login?next=/")
    for path in acts:
        assert minji.post(path, {"sure": "yes"}).status_code == 404
        assert Client().post(path, {"sure": "yes"})["Location"].startswith("/login")
    letter.refresh_from_db()
    assert letter.state == DeadLetter.State.OPEN
    assert "/deadletters" not in minji.get("/").content.decode()


def test_the_menu_leads_staff_there(page):
    assert '<a href="/deadletters">Dead letters</a>' in text(page, "/")


def test_the_list_shows_what_is_open_and_the_rest_for_who_asks(page, steve):
    first, second, third = buried(1), buried(2, RESULTS, reason="bad checksum"), buried(3)
    deadletters.discard(first.pk, steve, timezone.now())

    def shown(query: str) -> list[int]:
        return [one.pk for one in page.get(f"/deadletters{query}").context["page"].rows]

    assert shown("") == [third.pk, second.pk]
    assert shown("?state=any") == [third.pk, second.pk, first.pk]
    assert shown("?state=discarded") == [first.pk]
    assert shown("?stream=job.results") == [second.pk]
    assert shown("?state=odd") == []
    assert "bad checksum" in text(page, "/deadletters")


def test_the_list_has_pages_that_keep_the_filter(page):
    made = [buried(number, RESULTS).pk for number in range(60)]
    first = page.get("/deadletters?stream=job.results")
    second = page.get("/deadletters" + first.context["older"])
    assert "stream=job.results" in first.context["older"]
    assert [one.pk for answer in (first, second) for one in answer.context["page"].rows] == made[::-1]


def test_a_hostile_message_is_only_text(page):
    letter = buried(
        raw={
            b"<script>alert(1)</script>": b"<img src=x onerror=alert(1)>",
            b"jobId": "7\u202e\u200b\x00".encode() + b"\xff{{ 7|add:7 }}",
            b"huge": b"A" * 1_000_000,
        },
        reason="<b>told</b>",
    )
    shown = text(page, f"/deadletters/{letter.pk}")
    assert "<script>alert" not in shown
    assert "<img src=x" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown
    assert "\u202e" not in shown
    assert "\u200b" not in shown
    assert "\\u202e\\u200b" in shown
    assert "{{ 7|add:7 }}" in shown
    assert "&lt;b&gt;told&lt;/b&gt;" in shown
    assert len(shown) < 30_000
    assert "cannot be sent again" in shown
    assert "/republish" not in shown
    assert "<b>told" not in text(page, "/deadletters")


def test_rows_that_somebody_else_wrote_are_bounded_too(page):
    letter = buried()
    letter.fields = {f"{number}" * 200: "B" * 50_000 for number in range(100, 400)}
    letter.save()
    assert len(text(page, f"/deadletters/{letter.pk}")) < 100_000


def test_a_message_is_sent_again_as_it_was_after_a_question(page, steve):
    letter = buried()
    path = f"/deadletters/{letter.pk}/republish"
    asked = page.post(path)
    assert "Send the message to job.progress again" in asked.content.decode()
    letter.refresh_from_db()
    assert letter.state == DeadLetter.State.OPEN
    assert not StreamOutbox.objects.exists()
    answer = page.post(path, {"sure": "yes"}, follow=True)
    assert "The message is being sent again." in answer.content.decode()
    letter.refresh_from_db()
    assert (letter.state, letter.handled_by) == (DeadLetter.State.REPUBLISHED, steve)
    sent = StreamOutbox.objects.get()
    assert (sent.stream, sent.fields) == (PROGRESS, {"jobId": "7", "progress": "5"})


def test_a_message_is_discarded_after_a_question_and_only_once(page, steve):
    letter = buried()
    path = f"/deadletters/{letter.pk}/discard"
    assert "Discard the message of job.progress" in page.post(path).content.decode()
    assert "The message was discarded." in page.post(path, {"sure": "yes"}, follow=True).content.decode()
    letter.refresh_from_db()
    assert (letter.state, letter.handled_by) == (DeadLetter.State.DISCARDED, steve)
    for verb in ("republish", "discard"):
        again = page.post(f"/deadletters/{letter.pk}/{verb}", {"sure": "yes"}, follow=True)
        assert "already sent again or discarded" in again.content.decode()
    assert not StreamOutbox.objects.exists()


def test_a_message_that_was_cut_is_not_sent_again(page):
    letter = buried(raw={b"jobId": b"7", b"huge": b"A" * 100_000})
    answer = page.post(f"/deadletters/{letter.pk}/republish", {"sure": "yes"}, follow=True)
    assert "it cannot be sent again" in answer.content.decode()
    letter.refresh_from_db()
    assert letter.state == DeadLetter.State.OPEN


def test_while_redis_is_away_the_page_says_that_it_waits_to_be_sent(page):
    letter = buried()
    page.post(f"/deadletters/{letter.pk}/republish", {"sure": "yes"})
    assert "Waiting to be sent" in text(page, f"/deadletters/{letter.pk}")
    assert page.get("/deadletters").context["stuck_since"] is None
    StreamOutbox.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert "Messages wait to be sent: Redis or the listener is down." in text(page, "/deadletters")
    StreamOutbox.objects.all().delete()
    assert "Waiting to be sent" not in text(page, f"/deadletters/{letter.pk}")
    assert page.get("/deadletters").context["stuck_since"] is None


def test_there_is_no_other_verb_and_a_change_needs_a_post(page, steve):
    letter = buried()
    assert page.post(f"/deadletters/{letter.pk}/explode", {"sure": "yes"}).status_code == 404
    assert page.get(f"/deadletters/{letter.pk}/discard").status_code == 405
    assert page.get("/deadletters/99999999999999999999").status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(steve)
    assert strict.post(f"/deadletters/{letter.pk}/discard", {"sure": "yes"}).status_code == 403
