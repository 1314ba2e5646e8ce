"""A run whose submission may not be on the disk yet: its message says so, and the claim waits."""

import pytest
from django.utils import timezone

from jobs import publish
from jobs.models import Execution
from jobs.sql import call
from tests.factories import START
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)

NOTE_CLAIMS = """
CREATE TABLE claims (execution uuid, synchronous_commit text);
CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO claims VALUES (NEW.id, current_setting('synchronous_commit')); RETURN NULL;
END $$;
CREATE TRIGGER note_claim AFTER UPDATE ON job_executions FOR EACH ROW
    WHEN (OLD.status = 'PENDING' AND NEW.status = 'RUNNING') EXECUTE FUNCTION note_claim();
"""


@pytest.fixture
def claims(worker):
    call.change(NOTE_CLAIMS)
    yield lambda run: call.rows("SELECT synchronous_commit FROM claims WHERE execution = %s", [run.id])
    call.change("DROP FUNCTION note_claim() CASCADE; DROP TABLE claims")


@pytest.mark.parametrize(("early", "waits"), [(False, "off"), (True, "on")])
def test_a_worker_tells_the_claim_that_its_message_is_early(claims, early, waits):
    run = Execution.objects.create(**START, dispatched_at=timezone.now(), sent_count=1, due_at=None)
    assert publish.send_messages([publish.Send(str(run.id), 1, run.role, run.task_id, 0, 0)], early)
    eventually(lambda: Execution.objects.get(pk=run.pk).status == "SUCCESS", what="the end of the run")
    assert claims(run) == [(waits,)]
