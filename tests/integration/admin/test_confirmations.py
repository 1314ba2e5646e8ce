"""Actions of the admin are confirmed first, and keep actor and reason."""

import pytest
from django.utils import timezone

from jobs.models import ApiToken, Event, Execution, Job
from jobs.states import EventType, ExecutionStatus, JobStatus
from tests.factories import a_start, a_user, an_office, claimed, done, fresh, submitted
from tests.integration.admin.action_form import act, address

pytestmark = pytest.mark.django_db


def test_an_action_is_confirmed_first_and_keeps_its_actor_and_reason(root, jobs):
    page = act(root, Job, "cancel", *jobs)
    assert page.context["title"] == "Cancel 2 jobs"
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()
    answer = act(root, Job, "cancel", *jobs, sure="yes", reason="wrong release")
    assert "Applied to 2." in answer.content.decode()
    # Nobody has claimed the run that was sent, so both end at once.
    assert {fresh(job).status for job in jobs} == {JobStatus.CANCELLED}
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).last()
    assert event is not None
    assert (event.details["actor"], event.details["reason"]) == ("root", "wrong release")
    act(root, Job, "retry", jobs[0], sure="yes")
    assert fresh(jobs[0]).status == JobStatus.PROCESSING


def test_a_confirmation_counts_what_would_be_skipped(root, jobs):
    finished = done(jobs[0])
    page = act(root, Job, "cancel", *jobs)
    assert page.context["title"] == "Cancel 1 job"
    assert page.context["preview"].skipped == {"Succeeded": "1"}
    act(root, Job, "cancel", *jobs, sure="yes")
    assert fresh(finished).status == JobStatus.DONE


def test_an_action_on_all_matching_jobs_covers_every_office(root, jobs):
    others = submitted(an_office(name="other"), {}, {})
    answer = act(root, Job, "reprioritise", jobs[0], select_across="1", sure="yes", priority="9")
    assert "Applied to 4." in answer.content.decode()
    assert {fresh(job).priority for job in (*jobs, *others)} == {9}


def test_a_changed_priority_keeps_its_actor_and_reason(root, jobs):
    act(root, Job, "reprioritise", *jobs, sure="yes", priority="9", reason="release first")
    events = Event.objects.filter(type=EventType.JOB_REPRIORITISED)
    whys = {(event.details["actor"], event.details["reason"]) for event in events}
    assert whys == {("root", "release first")}
    assert {event.job_id for event in events} == {job.pk for job in jobs}


def test_a_form_without_a_change_is_shown_again(root, jobs):
    page = act(root, Job, "reprioritise", *jobs, sure="yes")
    assert "Nothing to change." in page.content.decode()


def test_an_action_on_a_rows_page_leads_back_to_it(root, jobs):
    page = address(Job, "change", jobs[0].pk)
    answer = act(root, Job, "cancel", jobs[0], sure="yes", back=page)
    assert answer.redirect_chain == [(page, 302)]
    elsewhere = act(root, Job, "retry", jobs[0], sure="yes", back="https://evil.example/")
    assert elsewhere.redirect_chain == [(address(Job), 302)]


def test_a_run_is_cancelled_with_its_job_or_alone(root, jobs):
    run = claimed(jobs[0])
    assert run is not None
    alone = Execution.objects.get(pk=a_start())
    selected = (Execution.objects.get(pk=run.execution), alone)
    assert act(root, Execution, "cancel", *selected).context["title"] == "Cancel 2 runs"
    answer = act(root, Execution, "cancel", *selected, sure="yes", reason="enough")
    assert "Applied to 2." in answer.content.decode()
    assert fresh(jobs[0]).cancelled_at is not None
    alone.refresh_from_db()
    assert alone.status == ExecutionStatus.CANCELLED
    # A run without a job has no events; the admin's log has the action.
    history = root.get(address(Execution, "history", alone.pk)).content.decode()
    assert "cancel: enough" in history
    assert "root" in history


def test_an_earlier_run_of_a_job_is_not_cancelled(root, jobs):
    run = claimed(jobs[0])
    assert run is not None
    old = Execution.objects.get(pk=run.execution)
    run.fail(failure_type="invalid_args")
    act(root, Job, "retry", jobs[0], sure="yes")
    page = act(root, Execution, "cancel", old, sure="yes")
    assert "Applied to 0." in page.content.decode()
    assert fresh(jobs[0]).cancelled_at is None


def test_a_token_is_revoked(root):
    token, _ = ApiToken.issue(a_user("alice"), "t", timezone.now())
    assert "cannot be undone" in act(root, ApiToken, "revoke", token).content.decode()
    act(root, ApiToken, "revoke", token, sure="yes")
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert root.post(address(ApiToken, "change", token.pk), {}).status_code == 403
