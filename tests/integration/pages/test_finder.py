"""The search of every page, and the theme and the time zone that a browser keeps."""

import pytest

from tests.factories import a_user, an_office, submitted
from tests.integration.pages.clients import sign_in, text_of
from tests.schedule_factories import a_schedule, a_workflow
from tests.step_factories import a_job as a_step
from tests.step_factories import a_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def objects():
    office = an_office(a_user("alice"), name="Nightly office")
    (job,) = submitted(office, {"ref": "nightly job"}, name="Nightly batch")
    queue = a_queue(a_step(), owner=a_user("alice"), name="nightly queue")
    return {
        f"/offices/{office.id}/jobs/{job.id}": "nightly job",
        f"/offices/{office.id}/batches/{job.batch_id}": "Nightly batch",
        f"/schedules/{a_schedule(owner=a_user('alice'), name='nightly schedule').id}": "nightly schedule",
        f"/workflows/{a_workflow(office, name='nightly workflow').id}": "nightly workflow",
        f"/step-queues/{queue.queue_id}": "nightly queue",
        f"/offices/{office.id}/jobs": "Nightly office",
    }


def test_everything_with_the_name_is_listed_and_linked_for_who_may_see_it(alice, objects):
    text = text_of(alice.get("/search?q=NIGHTLY"))
    for address, name in objects.items():
        assert f'href="{address}"' in text, name
        assert name in text
    assert "ightly" not in text_of(sign_in("mallory").get("/search?q=nightl"))
    assert (
        text_of(sign_in("steve", is_staff=True).get("/search?q=nightly")).count("href=") == len(objects) + 1
    )


def test_an_id_finds_its_object_alone(alice, objects):
    for address in objects:
        identity = address.removesuffix("/jobs").rpartition("/")[2]
        if len(identity) > 30:
            assert f'href="{address}"' in text_of(alice.get(f"/search?q={identity}")), address


@pytest.mark.parametrize("query", ["", "a", "%00", "%25%27--", "x" * 500, "9" * 40, "no such thing"])
def test_any_text_is_answered(alice, objects, query):
    answer = alice.get(f"/search?q={query}")
    assert answer.status_code == 200
    assert "href" not in text_of(answer)


def test_the_theme_and_the_zone_are_kept_in_cookies_and_used(alice, objects):
    alice.post("/preferences", {"theme": "dark", "zone": "America/New_York", "next": "/runs"})
    page = text_of(alice.get("/runs"))
    assert 'data-theme="dark"' in page
    assert "(America/New_York)" in page
    assert alice.get("/api/schema").status_code == 200
    answer = alice.post("/preferences", {"theme": "", "zone": "", "next": "https://evil.example/"})
    assert answer["Location"] == "/"
    page = text_of(alice.get("/runs"))
    assert "data-theme" not in page
    assert "(Asia/Seoul)" in page


@pytest.mark.parametrize(("theme", "zone"), [('"><script>', "Mars/Base"), ("blue", "../../etc/passwd")])
def test_invalid_preferences_change_nothing(alice, objects, theme, zone):
    alice.post("/preferences", {"theme": theme, "zone": zone})
    alice.cookies["theme"], alice.cookies["zone"] = theme, zone
    page = text_of(alice.get("/runs"))
    assert "data-theme" not in page
    assert "(Asia/Seoul)" in page
