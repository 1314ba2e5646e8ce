"""The pages of step queues: whose they are, how a walk is shown, and that looking is not acting."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.models import Membership
from jobs.states import MemberRole
from scheduler.step_queues import lifecycle
from scheduler.step_queues.models import Step, StepQueue
from scheduler.step_queues.pages import labels
from scheduler.step_queues.pages.marks import Mark
from scheduler.step_queues.states import NO_OPERATION, Direction, QueueState
from tests.factories import a_user, an_office
from tests.step_factories import (
    a_job,
    a_queue,
    carry_out_all,
    carry_out_one,
    claimed,
    execution,
    fresh,
    ran,
)

pytestmark = pytest.mark.django_db


def reader(name: str = "alice", **more) -> Client:
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(a_user(name, **more))
    return client


@pytest.fixture
def alice():
    return reader()


@pytest.fixture
def office():
    return an_office(a_user("alice"), name="Alice's")


def at(queue: StepQueue, rest: str = "") -> str:
    return f"/step-queues/{queue.queue_id}{rest}"


def pages_of(queue: StepQueue) -> list[str]:
    return ["/step-queues", at(queue), at(queue, "/live")]


def verbs_of(queue: StepQueue) -> list[str]:
    step = Step.objects.filter(queue=queue).first()
    assert step is not None
    return [
        at(queue, "/run"),
        at(queue, "/cancel"),
        at(queue, f"/jobs/{step.job_id}/rerun"),
        at(queue, "/delete"),
    ]


def marks(page) -> list[tuple[Mark, Mark]]:
    return [tuple(half.operation.mark for half in row.halves) for row in page.context["rows"]]


def text(page) -> str:
    return str(page.content.decode())


# --- whose they are --------------------------------------------------------------------------------


def test_who_is_not_signed_in_is_asked_to():
    queue = a_queue(a_job())
    for path in pages_of(queue):
        assert Client().get(path)["Location"].startswith("/login?next="), path
    for path in verbs_of(queue):
        assert Client().post(path)["Location"].startswith("/login?next="), path


def test_somebody_elses_queue_does_not_exist(office):
    own, of_office = a_queue(a_job(), name="secret"), a_queue(a_job(), office=office, name="secret too")
    mallory = reader("mallory")
    for queue in (own, of_office):
        assert {mallory.get(path).status_code for path in pages_of(queue)[1:]} == {404}
        assert {mallory.post(path).status_code for path in verbs_of(queue)} == {404}
        assert fresh(queue).state == QueueState.READY
    assert "secret" not in text(mallory.get("/step-queues"))
    assert reader().get(f"/step-queues/{10**30}").status_code == 404


def test_a_viewer_sees_everything_and_can_do_nothing(office):
    queue = ran(a_queue(a_job(backward="fail"), a_job(forward="fail"), office=office))
    Membership.objects.create(office=office, user=a_user("vera"), role=MemberRole.VIEWER)
    vera = reader("vera")
    for path in pages_of(queue):
        page = vera.get(path)
        assert page.status_code == 200, path
        assert b"<button id=" not in page.content
        assert b"/delete" not in page.content
    assert {vera.post(path).status_code for path in verbs_of(queue)} == {403}
    assert vera.get(at(queue, "/delete")).status_code == 403
    assert fresh(queue).run == 1


def test_staff_look_at_somebodys_queue_and_nothing_else():
    queue = a_queue(a_job())
    steve = reader("steve", is_staff=True)
    assert {steve.get(path).status_code for path in pages_of(queue)} == {200}
    assert steve.post(at(queue, "/run")).status_code == 403


def test_a_job_of_another_queue_is_not_run_again_through_ones_own(alice):
    mine, other = a_queue(a_job()), ran(a_queue(a_job(backward="fail", forward="fail"), owner=a_user("bob")))
    step = Step.objects.get(queue=other)
    assert alice.post(at(mine, f"/jobs/{step.job_id}/rerun")).status_code == 404
    assert fresh(other).state == QueueState.READY


def test_a_change_needs_a_post_with_its_csrf_token():
    queue = a_queue(a_job())
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_user("alice"))
    assert strict.get(at(queue, "/run")).status_code == 405
    assert strict.post(at(queue, "/run")).status_code == 403
    assert strict.post(at(queue, "/delete")).status_code == 403
    assert fresh(queue).state == QueueState.READY


# --- the list --------------------------------------------------------------------------------------


def names(page) -> list[str]:
    return [str(row["queue"]) for row in page.context["rows"]]


def test_the_filter_is_in_the_address(alice):
    a_queue(name="new")
    a_queue(a_job(), name="made")
    lifecycle.run(a_queue(a_job(), name="walks").queue_id)
    ran(a_queue(a_job(forward="fail", backward="fail"), name="stuck", queue_library="testing"))
    assert names(alice.get("/step-queues")) == ["stuck", "walks", "made", "new"]
    assert names(alice.get("/step-queues?state=EMPTY&state=RUNNING")) == ["walks", "new"]
    assert names(alice.get("/step-queues?undo_failed=on")) == ["stuck"]
    assert names(alice.get("/step-queues?name=MA")) == ["made"]
    assert names(alice.get("/step-queues?queue_library=other")) == []
    wrong = alice.get("/step-queues?state=odd")
    assert (wrong.status_code, names(wrong)) == (200, [])
    assert b'role="alert"' in wrong.content


def test_pages_follow_each_other_without_gap_or_overlap_while_queues_are_made(alice):
    for number in range(60):
        a_queue(name=f"q{number}")
    first = alice.get("/step-queues?state=EMPTY")
    a_queue(name="late")
    second = alice.get("/step-queues" + first.context["older"])
    assert names(first) + names(second) == [f"q{number}" for number in range(59, -1, -1)]
    assert "state=EMPTY" in first.context["older"]
    assert names(alice.get("/step-queues" + second.context["newer"]))[-1] == "q10"


def test_one_word_says_how_each_queue_stands(alice):
    told = {
        "new": a_queue(),
        "made": a_queue(a_job()),
        "fine": ran(a_queue(a_job())),
        "undone": ran(a_queue(a_job(), a_job(forward="fail"))),
        "stuck": ran(a_queue(a_job(backward="fail"), a_job(forward="fail"))),
        "walks": a_queue(a_job(), a_job()),
    }
    lifecycle.run(told["walks"].queue_id)
    rows = alice.get("/step-queues").context["rows"]
    words = {row["queue"].queue_id: str(row["label"].name) for row in rows}
    assert {name: words[queue.queue_id] for name, queue in told.items()} == {
        "new": "empty",
        "made": "ready",
        "fine": "done",
        "undone": "turned back, all undone",
        "stuck": "turned back, not all undone",
        "walks": "running",
    }


# --- one queue -------------------------------------------------------------------------------------


def test_a_walk_is_shown_as_far_as_it_came(alice):
    queue = a_queue(a_job("one"), a_job("two"), a_job("three"))
    assert marks(alice.get(at(queue))) == [(Mark.NOT_YET, Mark.NOT_NEEDED)] * 3
    lifecycle.run(queue.queue_id)
    carry_out_one(queue)
    page = alice.get(at(queue))
    assert [forward for forward, _ in marks(page)] == [Mark.DONE, Mark.RUNNING, Mark.NOT_YET]
    assert "one did" in text(page)
    assert page.context["current"]["run"].id == execution(queue).id
    walked = [line for line in page.context["drawing"].lines if line.walked]
    assert len(walked) == 1


def test_what_failed_and_why_and_what_is_being_undone_is_shown(alice):
    queue = a_queue(a_job("one"), a_job("two", forward="fail"), a_job("three"))
    lifecycle.run(queue.queue_id)
    carry_out_one(queue)
    carry_out_one(queue)
    page = alice.get(at(queue))
    assert marks(page) == [
        (Mark.DONE, Mark.AHEAD),
        (Mark.FAILED, Mark.UNDOING),
        (Mark.NOT_YET, Mark.NOT_NEEDED),
    ]
    assert "error: two fails as asked" in text(page)
    assert str(page.context["label"].name) == "turning back"
    carry_out_all(queue)
    assert marks(alice.get(at(queue)))[:2] == [(Mark.DONE, Mark.UNDONE), (Mark.FAILED, Mark.UNDONE)]


def test_retries_and_the_worker_are_shown(alice):
    job = {
        "forward_operation": "do",
        "backward_operation": "undo_stubbornly",
        "arguments": {"tag": "x", "forward": "fail", "failures": 1},
    }
    queue = a_queue(job)
    lifecycle.run(queue.queue_id)
    carry_out_one(queue)
    carry_out_one(queue)
    page = text(alice.get(at(queue)))
    assert "Next attempt" in page
    assert "(1 of 2 retries, 0 lost workers)" in page
    assert "will be tried again" in page
    carry_out_all(queue)
    again = a_queue(a_job())
    lifecycle.run(again.queue_id)
    claimed(again)
    page = text(alice.get(at(again)))
    assert "played@test" in page
    assert "Lease until" in page


def test_only_what_happened_in_this_run_is_told_of_an_operation(alice):
    queue = ran(a_queue(a_job("one"), a_job("two")))

    def runs(page) -> list[bool]:
        return [row.halves[0].run is not None for row in page.context["rows"]]

    assert runs(alice.get(at(queue))) == [True, True]
    assert text(alice.get(at(queue))).count("played@test") == 2
    lifecycle.run(queue.queue_id)
    page = alice.get(at(queue))
    assert runs(page) == [True, False]
    assert page.context["rows"][0].halves[0].run.id == execution(queue).id


def test_what_is_long_or_secret_in_the_context_is_not_shown_whole(alice):
    queue = a_queue({"forward_operation": "put", "arguments": {"size": 100_000}})
    ran(queue)
    StepQueue.objects.filter(pk=queue.pk).update(
        context={"api_key": "hush", "html": "<script>1</script>", "value": "x" * 100_000}
    )
    page = alice.get(at(queue))
    assert len(page.content) < 80_000
    assert "hush" not in text(page)
    assert "<script>1" not in text(page)
    assert "characters more" in text(page)


def test_a_job_without_operations_or_library_is_shown_as_such(alice):
    queue = a_queue(
        {"forward_operation": "nothing"}, {"forward_operation": NO_OPERATION}, {"operation_library": "UNINIT"}
    )
    assert marks(alice.get(at(queue)))[1] == (Mark.NOT_YET, Mark.NOT_NEEDED)
    ran(queue)
    assert marks(alice.get(at(queue)))[1][0] is Mark.NOTHING


def test_a_long_queue_is_shown_around_where_it_stands(alice):
    queue = a_queue(*({"forward_operation": NO_OPERATION} for _ in range(149)), a_job("last"))
    lifecycle.run(queue.queue_id)
    page = alice.get(at(queue))
    shown = [row.step.number for row in page.context["rows"]]
    assert (shown[0], shown[-1], len(shown)) == (91, 150, 60)
    assert "jobs 91 to 150 of 150" in text(page)
    assert page.context["strip"]
    earlier = alice.get(at(queue, "?from=31"))
    assert earlier.context["rows"][0].step.number == 31
    assert f"{at(queue, '/live')}?from=31" in text(earlier)


def test_the_page_listens_to_the_queues_own_socket(alice):
    queue = a_queue(a_job())
    assert f'data-events="/ws/queues/{queue.queue_id}"' in text(alice.get(at(queue)))


def test_it_needs_no_more_queries_for_many_jobs_than_for_one(alice):
    def queries(jobs: int) -> int:
        queue = ran(a_queue(*(a_job(str(number)) for number in range(jobs))))
        with CaptureQueriesContext(connection) as asked:
            alice.get(at(queue))
        return len(asked)

    assert queries(30) == queries(1)


# --- acting ----------------------------------------------------------------------------------------


def buttons(page) -> set[str]:
    return set(re.findall(r'id="(do-\w+|again-\d+)"', text(page)))


def test_a_queue_is_run_turned_back_undone_again_and_deleted_by_its_page(alice):
    queue = a_queue(a_job("one", backward="fail"), a_job("two"))
    assert buttons(alice.get(at(queue))) == {"do-run", "do-delete"}
    assert "The queue runs." in text(alice.post(at(queue, "/run"), follow=True))
    assert buttons(alice.get(at(queue))) == {"do-cancel"}
    answer = alice.post(at(queue, "/cancel"), follow=True)
    assert "told to turn back" in text(answer)
    assert fresh(queue).cancel_requested_at is not None
    carry_out_all(queue)
    assert buttons(alice.get(at(queue))) == {"do-run", "do-delete", "again-1"}
    first = Step.objects.get(queue=queue, number=1)
    assert "runs again" in text(alice.post(at(queue, f"/jobs/{first.job_id}/rerun"), follow=True))
    assert fresh(queue).operation_direction == Direction.BACKWARD
    carry_out_all(queue)
    assert "Its 2 jobs" in text(alice.get(at(queue, "/delete")))
    assert alice.post(at(queue, "/delete"))["Location"] == "/step-queues"
    assert not StepQueue.objects.filter(pk=queue.pk).exists()


def test_what_cannot_be_done_now_is_refused_with_the_reason_and_changes_nothing(alice):
    empty, queue = a_queue(), a_queue(a_job())
    step = Step.objects.get(queue=queue)

    def said(queue: StepQueue, rest: str) -> str:
        return text(alice.post(at(queue, rest), follow=True))

    assert "no jobs that could be run" in said(empty, "/run")
    assert "nothing to turn back" in said(queue, "/cancel")
    assert "Nothing of this job failed" in said(queue, f"/jobs/{step.job_id}/rerun")
    lifecycle.run(queue.queue_id)
    for rest in ("/run", "/delete", f"/jobs/{step.job_id}/rerun"):
        assert "The queue is running" in said(queue, rest)
    assert fresh(queue).run == 1


def test_every_refusal_that_a_verb_knows_has_its_words():
    assert all(str(words) for words in labels.REFUSALS.values())
    assert set(labels.MARKS) == set(Mark)
