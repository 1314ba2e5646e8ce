"""The pages of step queues: access, the list, and the actions."""

import re

import pytest

from scheduler.steps import lifecycle
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages import labels
from scheduler.steps.pages.operation_status import OperationStatus
from scheduler.steps.states import Direction, QueueState
from tests.factories import a_member, a_user, serve_roles
from tests.integration.pages.clients import at_queue as at
from tests.integration.pages.clients import sign_in, signed_in
from tests.integration.pages.clients import text_of as text
from tests.step_factories import a_job, a_queue, completed, fresh, run_to_end

pytestmark = pytest.mark.django_db


def pages_of(queue: StepQueue) -> list[str]:
    return ["/step-queues", at(queue), at(queue, "/live")]


def actions_of(queue: StepQueue) -> list[str]:
    step = Step.objects.filter(queue=queue).first()
    assert step is not None
    acts = ("/run", "/cancel", "/resume", "/check", f"/jobs/{step.job_id}/rerun", "/delete")
    return [at(queue, act) for act in acts]


# --- access --------------------------------------------------------------------------------


def test_a_queue_of_another_office_does_not_exist(office):
    queue, mallory = a_queue(a_job(), office=office, name="secret"), sign_in("mallory")
    assert {mallory.get(path).status_code for path in pages_of(queue)[1:]} == {404}
    assert {mallory.post(path).status_code for path in actions_of(queue)} == {404}
    assert fresh(queue).state == QueueState.READY
    assert "secret" not in text(mallory.get("/step-queues"))
    assert sign_in().get(f"/step-queues/{10**30}").status_code == 404


def test_a_viewer_sees_everything_and_has_no_actions(office):
    queue = completed(a_queue(a_job(backward="fail"), a_job(forward="fail"), office=office))
    vera = signed_in(a_member(office, "vera"))
    for path in pages_of(queue):
        page = vera.get(path)
        assert page.status_code == 200, path
        assert b"<button id=" not in page.content
        assert b"/delete" not in page.content
    assert {vera.post(path).status_code for path in actions_of(queue)} == {403}
    assert vera.get(at(queue, "/delete")).status_code == 403
    assert fresh(queue).run == 1


def test_staff_have_read_only_access_to_other_users_queues():
    queue = a_queue(a_job())
    steve = sign_in("steve", is_staff=True)
    assert {steve.get(path).status_code for path in pages_of(queue)} == {200}
    assert steve.post(at(queue, "/run")).status_code == 403


def test_a_job_of_another_queue_cannot_be_rerun_through_an_own_queue(alice):
    mine = a_queue(a_job())
    other = completed(a_queue(a_job(backward="fail", forward="fail"), owner=a_user("bob")))
    step = Step.objects.get(queue=other)
    assert alice.post(at(mine, f"/jobs/{step.job_id}/rerun")).status_code == 404
    assert fresh(other).state == QueueState.READY


# --- the list --------------------------------------------------------------------------------------


def names(page) -> list[str]:
    return [str(row["queue"]) for row in page.context["rows"]]


def test_the_filter_of_the_list_is_in_its_address(alice):
    a_queue(name="new")
    a_queue(a_job(), name="made")
    lifecycle.run(a_queue(a_job(), name="runs").queue_id)
    completed(a_queue(a_job(forward="fail", backward="fail"), name="stuck", queue_library="testing"))
    assert names(alice.get("/step-queues")) == ["stuck", "runs", "made", "new"]
    assert names(alice.get("/step-queues?state=EMPTY&state=RUNNING")) == ["runs", "new"]
    assert names(alice.get("/step-queues?undo_failed=on")) == ["stuck"]
    assert names(alice.get("/step-queues?name=MA")) == ["made"]
    assert names(alice.get("/step-queues?queue_library=other")) == []
    wrong = alice.get("/step-queues?state=odd")
    assert (wrong.status_code, names(wrong)) == (200, [])
    assert b'role="alert"' in wrong.content


def test_list_pages_have_no_gap_or_overlap_while_queues_are_created(alice):
    for number in range(60):
        a_queue(name=f"q{number}")
    first = alice.get("/step-queues?state=EMPTY")
    a_queue(name="late")
    second = alice.get("/step-queues" + first.context["older"])
    assert names(first) + names(second) == [f"q{number}" for number in range(59, -1, -1)]
    assert "state=EMPTY" in first.context["older"]
    assert names(alice.get("/step-queues" + second.context["newer"]))[-1] == "q10"


def test_a_queues_label_says_what_it_does_or_how_it_ended(alice):
    queues = {
        "empty": a_queue(),
        "ready": a_queue(a_job()),
        "succeeded": completed(a_queue(a_job())),
        "rolled back": completed(a_queue(a_job(), a_job(forward="fail"))),
        "rollback incomplete": completed(a_queue(a_job(backward="fail"), a_job(forward="fail"))),
        "running": a_queue(a_job(), a_job()),
    }
    lifecycle.run(queues["running"].queue_id)
    rows = alice.get("/step-queues").context["rows"]
    labels_by_queue = {row["queue"].queue_id: str(row["label"].name) for row in rows}
    assert labels_by_queue == {queue.queue_id: label for label, queue in queues.items()}


# --- acting ----------------------------------------------------------------------------------------


def buttons(page) -> set[str]:
    return set(re.findall(r'id="(do-\w+|again-\d+)"', text(page)))


def test_a_queues_page_runs_cancels_reruns_and_deletes_it(alice):
    queue = a_queue(a_job("one", backward="fail"), a_job("two"))
    idle = {"do-run", "do-add", "do-copy", "do-check", "do-delete"}
    assert buttons(alice.get(at(queue))) == idle
    assert "Queue started." in text(alice.post(at(queue, "/run"), follow=True))
    assert buttons(alice.get(at(queue))) == {"do-cancel", "do-copy", "do-check"}
    answer = alice.post(at(queue, "/cancel"), follow=True)
    assert "Rollback requested." in text(answer)
    assert fresh(queue).cancel_requested_at is not None
    run_to_end(queue)
    assert buttons(alice.get(at(queue))) == {*idle, "do-resume", "again-1"}
    first = Step.objects.get(queue=queue, number=1)
    assert "Rollback retried." in text(alice.post(at(queue, f"/jobs/{first.job_id}/rerun"), follow=True))
    assert fresh(queue).operation_direction == Direction.BACKWARD
    run_to_end(queue)
    assert "Run resumed." in text(alice.post(at(queue, "/resume"), follow=True))
    run_to_end(queue)
    assert "with its 2 jobs" in text(alice.get(at(queue, "/delete")))
    assert alice.post(at(queue, "/delete"))["Location"] == "/step-queues"
    assert not StepQueue.objects.filter(pk=queue.pk).exists()


def test_an_action_that_is_not_possible_is_refused_with_a_reason(alice):
    empty, queue = a_queue(), a_queue(a_job())
    step = Step.objects.get(queue=queue)

    def message_after(queue: StepQueue, rest: str) -> str:
        return text(alice.post(at(queue, rest), follow=True))

    assert "The queue has no jobs." in message_after(empty, "/run")
    assert "nothing to cancel" in message_after(queue, "/cancel")
    assert "rollback of this job has not failed" in message_after(queue, f"/jobs/{step.job_id}/rerun")
    lifecycle.run(queue.queue_id)
    for rest in ("/run", "/delete", f"/jobs/{step.job_id}/rerun"):
        assert "The queue is running" in message_after(queue, rest)
    assert fresh(queue).run == 1


def test_a_queues_page_checks_its_jobs(alice):
    queue = a_queue(a_job("one"), a_job("two"))
    check = at(queue, "/check")
    assert "No online worker serves the role default." in text(alice.post(check, follow=True))
    serve_roles("default")
    assert "Every job can run." in text(alice.post(check, follow=True))
    Step.objects.filter(queue=queue, number=2).update(forward_operation="gone")
    page = text(alice.post(check, follow=True))
    assert "Job 2: No operation &#x27;gone&#x27; is registered" in page
    assert "Every job can run." not in page
    assert fresh(queue).run == 0


def test_every_operation_status_has_a_label():
    assert set(labels.OPERATION_LABELS) == set(OperationStatus)
