"""What operators and authors see of the limits of a Task."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import catalogue, lifecycle
from jobs.insight.explain import explain
from jobs.models import TaskLimit
from jobs.pages.reason_texts import sentence
from jobs.sql import call
from jobs.sql.catalogue import DIFFERENT_LIMITS
from scheduler.diagnostics.workers import check_limits
from tests.factories import a_user, an_office, fresh, heartbeat, running
from tests.integration.rest_support import client_of
from tests.limited_tasks import TASK, packs, register

pytestmark = pytest.mark.django_db(transaction=True)


def reason_of(job):
    heartbeat("w@test", "default")
    (reason,) = explain(job.office, fresh(job), timezone.now()).reasons
    return reason


def test_explain_names_the_run_that_an_exclusive_job_waits_for():
    register(exclusive=True)
    first, second = packs(an_office(), {"ref": "first"}, {})
    run = running(first)
    reason = reason_of(second)
    assert reason.code == "exclusive_running"
    assert [each["id"] for each in reason.facts["jobs"]] == [str(first.id)]
    assert reason.facts["execution_id"] == run.execution
    assert reason.facts["since"] == fresh(first).execution.attempt_started_at
    assert "first" in sentence(reason)


def test_explain_says_until_when_the_rate_is_reached():
    register(rate_limit="1/m")
    first, second = packs(an_office(), {}, {})
    running(first)
    lifecycle.advance_office(second.office_id)
    reason = reason_of(second)
    assert (reason.code, reason.facts["limit"], reason.facts["seconds"]) == ("rate_limited", 1, 60)
    started = fresh(first).execution.attempt_started_at
    assert reason.facts["until"] - started == timedelta(seconds=60)
    assert "60" in sentence(reason)


def test_different_limits_of_workers_are_shown():
    register(exclusive=True, rate_limit="10/m")
    for name in ("w@test", "b@test"):
        heartbeat(name, "default")
    client = client_of(a_user("alice"))
    task = client.get(f"/api/tasks/{TASK}").json()
    assert (task["exclusive"], task["rate_limit"], task["limits_differ"]) == (True, "10/m", False)
    register(worker="b@test", rate_limit="10/m")
    assert client.get(f"/api/tasks/{TASK}").json()["limits_differ"]
    different = call.rows(DIFFERENT_LIMITS, {"kind": catalogue.TASK, "lease": 60})
    (message,) = check_limits([name for (name,) in different])
    assert TASK in message.msg
    assert TaskLimit.objects.get().exclusive is False
