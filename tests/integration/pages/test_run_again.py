"""Running something once more: with edited arguments, from a batch, and from a workflow's run."""

import json

import pytest

from jobs.models import Execution, Job
from jobs.states import JobStatus, Trigger
from tests.factories import a_member, a_run_by_hand, done, fresh, running, submitted
from tests.integration.pages.clients import at, field_error, sign_in, text_of
from tests.schedule_factories import claim

pytestmark = pytest.mark.django_db


def test_a_job_is_submitted_again_with_edited_arguments_and_its_policy(office, alice):
    (job,) = submitted(office, {"ref": "sum", "priority": 7, "max_retries": 1}, name="x")
    done(job)
    address = f"/runs/{job.id}/again"
    assert f'href="{address}"' in text_of(alice.get(at(office, f"/jobs/{job.id}")))
    assert "&quot;numbers&quot;: [1]" in text_of(alice.get(address))
    answer = alice.post(address, {"args": '{"numbers": [4, 5]}'})
    copy = Job.objects.exclude(pk=job.pk).get()
    assert answer["Location"] == at(office, f"/jobs/{copy.id}")
    assert (copy.ref, copy.args, copy.priority, copy.max_retries) == ("sum", {"numbers": [4, 5]}, 7, 1)
    assert fresh(job).status == JobStatus.DONE


@pytest.mark.parametrize("text", ["{", '{"numbers": "no"}', "[]", '{"unknown": 1}'])
def test_wrong_arguments_are_explained_and_start_nothing(office, alice, text):
    (job,) = submitted(office, {}, name="x")
    answer = alice.post(f"/runs/{job.id}/again", {"args": text})
    assert answer.status_code == 400
    assert any(answer.context["form"].errors.values())
    assert field_error(answer, "args") or 'role="alert"' in text_of(answer)
    assert Job.objects.count() == 1


def test_a_hidden_secret_keeps_its_value(office, alice):
    args = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "Bearer abc"}}
    (job,) = submitted(office, {"task_id": "http.request", "args": args}, name="x")
    page = alice.get(f"/runs/{job.id}/again")
    assert "Bearer abc" not in text_of(page)
    edited = json.loads(page.context["form"]["args"].value()) | {"method": "POST"}
    alice.post(f"/runs/{job.id}/again", {"args": json.dumps(edited)})
    copy = Job.objects.exclude(pk=job.pk).get()
    assert copy.args == args | {"method": "POST"}


def test_a_run_by_hand_is_repeated_once_at_a_time(alice):
    run = a_run_by_hand()
    claim(run).fail()
    assert f'href="/runs/{run.id}/again"' in text_of(alice.get(f"/executions/{run.id}"))
    answer = alice.post(f"/runs/{run.id}/again", {"args": '{"numbers": [2]}'})
    copy = Execution.objects.exclude(pk=run.pk).get()
    assert answer["Location"] == f"/executions/{copy.id}"
    assert (copy.trigger, copy.args) == (Trigger.MANUAL, {"numbers": [2]})
    assert alice.post(f"/runs/{run.id}/again", {"args": '{"numbers": [3]}'}).status_code == 400
    assert Execution.objects.count() == 2


def test_only_who_may_act_runs_again(office):
    (job,) = submitted(office, {}, name="x")
    mine = a_run_by_hand().id
    a_member(office, "vera")
    for client in (sign_in("vera"), sign_in("steve", is_staff=True)):
        for method in (client.get, client.post):
            assert method(f"/runs/{job.id}/again").status_code == 403
            assert method(f"/runs/{mine}/again").status_code == 404
    assert "/again" not in text_of(sign_in("vera").get(at(office, f"/jobs/{job.id}")))


def test_failed_jobs_of_a_batch_are_retried_and_a_batch_is_cancelled_from_its_page(office, alice):
    bad, waiting = submitted(office, {"ref": "bad", "max_retries": 0}, {"ref": "waiting"}, name="x")
    running(bad).fail()
    text = text_of(alice.get(at(office, f"/batches/{bad.batch_id}")))
    assert 'id="retry-failed"' in text
    assert 'id="cancel-batch"' in text
    form = {"scope": "matching", "batch": str(bad.batch_id), "sure": "yes"}
    alice.post(at(office, "/jobs/act"), {**form, "verb": "retry", "status": "failed"})
    assert fresh(bad).status in (JobStatus.READY, JobStatus.PROCESSING)
    alice.post(at(office, "/jobs/act"), {**form, "verb": "cancel"})
    assert fresh(waiting).status == JobStatus.CANCELLED
    a_member(office, "vera")
    assert "cancel-batch" not in text_of(sign_in("vera").get(at(office, f"/batches/{bad.batch_id}")))
