"""The pages of a worker and of a role's queue: what they show to whom, and who may act."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Worker
from jobs.sql import call
from jobs.states import Act, JobStatus
from jobs.worker import catalogue
from scheduler.sql import reports
from tests.factories import (
    a_run_by_hand,
    a_user,
    an_office,
    fresh,
    running,
    serve_roles,
    submitted,
    unserve_roles,
)
from tests.integration.pages.clients import at, page_text, sign_in, text_of

pytestmark = pytest.mark.django_db

NAME = "studio/1@host"


@pytest.fixture
def steve():
    return sign_in("steve", is_staff=True)


@pytest.fixture
def worker():
    now = timezone.now()
    values = {"roles": ["FE"], "slots": 4, "running": 1, "started_at": now, "seen_at": now}
    return Worker.objects.create(name=NAME, **values)


def test_a_workers_page_shows_what_it_runs_has_run_and_offers(office, alice, steve, worker):
    failed, succeeded, busy = submitted(
        office, {"ref": "broke", "max_retries": 0}, {"ref": "went well"}, {"ref": "busy"}, name="x"
    )
    running(failed, worker=NAME).fail(error="The disk is full.", failure_type="permission_error")
    running(succeeded, worker=NAME).finish()
    running(busy, worker=NAME)
    catalogue.write(NAME, catalogue.own_rows(["FE"]))
    (of_bob,) = submitted(an_office(a_user("bob"), name="Bob's"), {"ref": "of bob"})
    running(of_bob, worker=NAME)
    page = alice.get(f"/workers/{NAME}")
    assert [run.job.ref for run in page.context["running"]] == ["busy"]
    assert [run.name for run in page.context["rows"]] == ["went well", "broke"]
    assert [group.last.job.ref for group in page.context["failures"]] == ["broke"]
    for_staff = ("1/4", '<dd><a href="/queues/FE">FE</a>', 'href="/tasks/http.request"', 'id="drain"')
    text = text_of(page)
    for expected in ("?worker=studio%2F1%40host", "Online"):
        assert expected in text, expected
    for unexpected in ("of bob", *for_staff):
        assert unexpected not in text, unexpected
    text = page_text(steve, f"/workers/{NAME}")
    for expected in for_staff:
        assert expected in text, expected
    assert {run.job.ref for run in steve.get(f"/workers/{NAME}").context["running"]} == {"busy", "of bob"}
    assert "busy" in text_of(alice.get(page.context["live_at"]))
    assert "마지막 실행" in page_text(sign_in(language="ko"), f"/workers/{NAME}")


def test_a_worker_that_ran_nothing_of_a_members_has_no_page_for_them(office, alice, steve, worker):
    (of_bob,) = submitted(an_office(a_user("bob"), name="Bob's"), {"ref": "of bob"})
    running(of_bob, worker=NAME)
    for path in (f"/workers/{NAME}", f"/workers/{NAME}/live", "/workers/nobody@host"):
        assert alice.get(path).status_code == 404, path
    assert steve.get(f"/workers/{NAME}").status_code == 200
    assert "of bob" in page_text(sign_in("bob"), f"/workers/{NAME}")


def test_a_worker_that_has_stopped_has_a_page_with_what_it_ran(office, alice):
    (job,) = submitted(office, {"ref": "before"})
    running(job, worker="gone@host").finish()
    page = alice.get("/workers/gone@host")
    assert [run.name for run in page.context["rows"]] == ["before"]
    assert "it has stopped" in text_of(page)


@pytest.mark.parametrize("verb", ["drain", "resume"])
def test_only_staff_may_drain_and_resume(alice, steve, worker, verb):
    assert alice.post(f"/workers/{NAME}/{verb}").status_code == 403
    assert steve.post(f"/workers/nobody@host/{verb}").status_code == 404
    assert steve.post(f"/workers/%00/{verb}").status_code == 404


def test_a_worker_that_does_not_answer_is_said_so_and_nothing_is_recorded(steve, worker):
    answer = steve.post(f"/workers/{NAME}/drain", follow=True)
    assert f"The worker {NAME} did not answer" in text_of(answer)
    assert 'id="drain"' in text_of(answer)
    assert not a_user("steve").activity.exists()


def test_every_place_that_names_a_worker_links_it(office, alice, steve, worker):
    (first,) = submitted(office, {"ref": "busy"})
    running(first, worker=NAME)
    link = f'<a href="/workers/{NAME}">{NAME}</a>'
    for client, path in (
        (alice, "/"),
        (steve, "/"),
        (alice, "/runs"),
        (alice, at(office, f"/jobs/{first.id}")),
        (steve, "/queues/FE"),
    ):
        assert link in page_text(client, path), path


# --- queues ----------------------------------------------------------------------------------------


def test_a_queues_page_shows_its_length_its_workers_and_who_waits(office, alice, steve, worker):
    serve_roles("FE")
    submitted(office, *({"role": "FE", "ref": f"a{number}"} for number in range(3)))
    submitted(an_office(a_user("bob"), name="Bob's"), {"role": "FE"}, {"role": "BE"})
    page = steve.get("/queues/FE")
    assert (page.context["queue"].ready, page.context["queue"].processing) == (4, 0)
    assert [(row.name, row.queued) for row in page.context["waiting"]] == [("Alice's", 3), ("Bob's", 1)]
    assert [row["worker"].name for row in page.context["workers"]] == [NAME]
    own = alice.get("/queues/FE").context
    assert [(row.name, row.queued) for row in own["waiting"]] == [("Alice's", 3)]
    assert (own["queue"].ready, own["queue"].processing, own["workers"]) == (3, 0, None)
    # The counts lead to what they count.
    text = text_of(page)
    for address, number in (
        (f"?role=FE&amp;state=queued&amp;office={office.id}", 3),
        ("?role=FE&amp;state=queued", 4),
    ):
        assert f'href="/runs{address}"' in text
        assert len(steve.get("/runs" + address.replace("&amp;", "&")).context["rows"]) == number
    assert 'href="/queues/FE"' in page_text(steve, "/")
    assert "No worker serves the role" not in text
    unserve_roles("FE")
    assert "No worker serves the role FE now" in text_of(steve.get(page.context["live_at"]))


def test_members_see_their_own_work_in_a_queue_alone(office, alice, steve, worker):
    serve_roles("FE")
    mine, *_rest = submitted(office, {"role": "FE", "ref": "mine"}, {"role": "FE"}, {"role": "FE"}, name="x")
    theirs, _second = submitted(
        an_office(a_user("bob"), name="Bob's"), {"role": "FE", "ref": "theirs"}, {"role": "FE"}
    )
    running(mine, worker=NAME)
    running(theirs, worker=NAME)
    a_run_by_hand("alice", role="FE")
    for client, queued, processing, waiting in (
        (alice, 3, 1, {"Alice's": 2, None: 1}),
        (sign_in("bob"), 1, 1, {"Bob's": 1}),
        (sign_in("carol"), 0, 0, {}),
        (steve, 4, 2, {"Alice's": 2, "Bob's": 1, None: 1}),
    ):
        context = client.get("/queues/FE").context
        assert (context["queue"].ready, context["queue"].processing) == (queued, processing)
        assert {row.name: row.queued for row in context["waiting"]} == waiting
    text = page_text(alice, "/queues/FE")
    for unexpected in ("theirs", "Bob", "1/4", "Since the last probe"):
        assert unexpected not in text, unexpected
    unserved = submitted(an_office(a_user("bob"), name="Bob's other"), {"role": "gpu-of-bob"})
    assert unserved and alice.get("/queues/gpu-of-bob").status_code == 404
    assert sign_in("bob").get("/queues/gpu-of-bob").status_code == 200


def test_staff_pause_and_resume_a_queue_on_its_page(office, alice, steve):
    serve_roles("FE")
    assert alice.post("/queues/FE/pause").status_code == 403
    assert steve.post("/queues/no-such-role/pause").status_code == 404
    paused = steve.post("/queues/FE/pause", {"reason": "the disk is full"}, follow=True)
    assert "by steve: nothing of this role starts" in text_of(paused)
    assert "the disk is full" in text_of(paused)
    (job,) = submitted(office, {"role": "FE"})
    assert fresh(job).status == JobStatus.READY
    assert "(paused)" in page_text(steve, "/")
    assert 'id="pause-queue"' not in page_text(alice, "/queues/FE")
    again = steve.post("/queues/FE/pause", follow=True)
    assert "Nothing was changed" in text_of(again)
    assert "Queue resumed." in text_of(steve.post("/queues/FE/resume", follow=True))
    assert 'id="pause-queue"' in page_text(steve, "/queues/FE")
    acts = a_user("steve").activity.order_by("id").values_list("act", flat=True)
    assert list(acts) == [Act.QUEUE_PAUSED, Act.QUEUE_RESUMED]


@pytest.mark.parametrize("role", ["no-such-role", "%00", "FE/x"])
def test_a_role_that_nobody_knows_has_no_page(steve, role):
    assert steve.get(f"/queues/{role}").status_code == 404


def test_the_charts_of_a_role_count_its_runs_alone(office, alice, steve):
    jobs = submitted(office, {"role": "FE"}, {"role": "BE"}, name="x")
    now = timezone.now()
    for job in jobs:
        running(job).finish()
    ended = now - timedelta(minutes=5)
    call.change("UPDATE job_executions SET finished_at = %s, attempt_started_at = %s", [ended, ended])
    call.change("UPDATE job_queue SET completed_at = %s WHERE status = 'done'", [ended])
    call.change(reports.ROLL_UP_MINUTES, {"now": now})
    for client in (alice, steve):
        for role, number in (("FE", 1), ("QA", 0)):
            page = client.get(f"/monitor/charts?role={role}&range=24h")
            assert page.context["done"] == number, role
        assert client.get("/monitor/charts?role=%00").context["done"] == 2
    assert "role=FE" in text_of(steve.get("/monitor/charts?role=FE"))
