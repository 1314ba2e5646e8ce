"""Schedules and workflows of certain minutes in the real system: fired by its beat, run by its workers.

They were made when the system started, so that what is waited for here has mostly passed.
"""

from datetime import datetime, timedelta

import pytest

from tests.acceptance.timetable import executions, runs
from tests.unit.process_tools import eventually


@pytest.mark.timeout(360)
def test_a_cron_schedule_and_an_edited_workflow_run_in_their_minutes_only(stack, timetable):
    alice = stack.client("alice")
    schedule, workflow = timetable.schedule, timetable.workflow
    assert eventually(lambda: executions(alice, schedule, "&status=SUCCESS"), 150), executions(
        alice, schedule
    )
    (execution,) = executions(alice, schedule)
    started = datetime.fromisoformat(execution["started_at"])
    assert datetime.fromisoformat(execution["scheduled_for"]) == timetable.minute
    assert started >= timetable.minute
    assert (execution["result"], execution["trigger"]) == (42, "SCHEDULE")

    assert eventually(lambda: runs(alice, workflow, "completed"), 150), alice.get(
        "/api/scheduler/monitor"
    ).body
    (run,) = runs(alice, workflow, "completed")
    assert datetime.fromisoformat(run["scheduled_time"]) == timetable.later
    assert [start["status"] for start in run["history"]] == ["completed"]
    (following,) = runs(alice, workflow, "pending")
    assert datetime.fromisoformat(following["scheduled_time"]) == timetable.later + timedelta(days=1)
    assert len(executions(alice, schedule)) == 1
