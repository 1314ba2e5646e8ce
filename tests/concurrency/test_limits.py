"""Limits are exact: four concurrent workers never exceed one."""

import random
import threading

import pytest
from django.db import connection

from jobs import lifecycle
from jobs.models import Event, Execution, Job, Office
from jobs.states import ExecutionStatus, JobStatus
from tests.concurrency.threads import PATIENCE, all_at_once, start_thread
from tests.events import T
from tests.factories import an_office, running, running_start, submitted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unsent")]

LIMIT = 3
BY_ROLE = {"FE": 1, "BE": 2}
ROLES = ("FE", "BE", "QA", "default")


def run_worker(office: Office, number: int, patience: int = 4_000) -> int:
    """Dispatches, claims and finishes until nothing is left to do."""
    chance = random.Random(number)
    finished = 0
    for turn in range(patience):
        if chance.random() < 0.3:
            lifecycle.advance_office(office.id)
        sent = Execution.objects.filter(office_id=office.id, status=ExecutionStatus.PENDING)
        execution = sent.order_by("?").values_list("id", "dispatch").first()
        if execution is None:
            if not Job.objects.filter(office=office, status__in=("ready", "processing")).exists():
                break
            lifecycle.advance_office(office.id)
            continue
        row = lifecycle.claim(str(execution[0]), execution[1], token=f"{number}.{turn}", worker=f"w{number}")
        if row is None:
            continue
        outcome = chance.choice(("success", "success", "success", "failure"))
        ended = lifecycle.finish(
            str(execution[0]), row.fence, outcome, trigger="JOB",
            result="1" if outcome == "success" else None,
            failure_type="" if outcome == "success" else "error",
            delay_ms=None if outcome == "success" else 0,
        )  # fmt: skip
        finished += ended is not None
        if chance.random() < 0.2:
            lifecycle.send_due()
    return finished


def too_many(office: Office) -> list[str]:
    """Replays the office's events, which are in the order of its commits."""
    roles = dict(Job.objects.filter(office=office).values_list("id", "role"))
    running: dict[object, str] = {}
    wrong = []
    for event in Event.objects.filter(office_id=office.id, job_id__isnull=False).order_by("id"):
        if event.type == T.JOB_STARTED:
            if event.job_id in running:
                wrong.append(f"{event.job_id} started twice")
            running[event.job_id] = roles[event.job_id]
            if len(running) > LIMIT:
                wrong.append(f"{len(running)} run at event {event.id}")
            for role, limit in BY_ROLE.items():
                if list(running.values()).count(role) > limit:
                    wrong.append(f"too many of {role} at event {event.id}")
        elif event.type != T.JOB_READY:
            running.pop(event.job_id, None)
    return wrong


class Watch:
    """Reads the rows continuously, each time in one snapshot."""

    SLOTS = (
        "SELECT count(*), count(*) FILTER (WHERE role = 'FE'), count(*) FILTER (WHERE role = 'BE') "
        "FROM job_queue WHERE status = 'processing' AND office_id = %s"
    )

    def __init__(self, office: Office) -> None:
        self.office = office
        self.over = threading.Event()

    def look(self) -> tuple[int, list[tuple[int, ...]]]:
        seen, wrong = 0, []
        while not self.over.is_set():
            with connection.cursor() as cursor:
                cursor.execute(self.SLOTS, [self.office.id])
                slots = cursor.fetchone()
            seen += 1
            if slots[0] > LIMIT or slots[1] > BY_ROLE["FE"] or slots[2] > BY_ROLE["BE"]:
                wrong.append(slots)
        return seen, wrong


def test_four_concurrent_workers_never_exceed_a_limit():
    office = an_office(max_concurrent_jobs=LIMIT, max_concurrent_by_role=BY_ROLE)
    submitted(office, *[{"role": ROLES[n % 4], "max_retries": 5} for n in range(120)])
    watch = Watch(office)
    watching = start_thread(watch.look)
    try:
        finished = all_at_once(lambda number: run_worker(office, number), 4)
    finally:
        watch.over.set()
    seen, wrong = watching.result(PATIENCE)
    assert (wrong, too_many(office)) == ([], [])
    assert sum(finished) >= 120
    assert seen > 20
    statuses = set(Job.objects.filter(office=office).values_list("status", flat=True))
    assert statuses <= {JobStatus.DONE, JobStatus.FAILED}


def test_concurrent_passes_promote_and_send_each_job_once():
    office = an_office(max_concurrent_jobs=50, paused=True)
    jobs = submitted(office, *[{}] * 40)
    Office.objects.filter(id=office.id).update(paused=False)
    answers = all_at_once(lambda _: lifecycle.advance_office(office.id).dispatched, 4)
    assert sum(answers) == 40
    assert Execution.objects.filter(job__in=jobs, dispatch=1).count() == 40


def test_concurrent_submissions_share_the_free_slots():
    office = an_office(max_concurrent_jobs=LIMIT)
    all_at_once(lambda _: submitted(office, *[{}] * 5), 4)
    assert Job.objects.filter(office=office, status=JobStatus.PROCESSING).count() == LIMIT
    assert Job.objects.filter(office=office, status=JobStatus.READY).count() == 20 - LIMIT


def test_concurrent_passes_send_a_due_job_once():
    office = an_office(max_concurrent_jobs=50)
    jobs = submitted(office, *[{}] * 10)
    for job in jobs:
        running(job).fail(delay_ms=0)
    for _ in range(10):
        running_start().fail(delay_ms=0)
    assert sum(all_at_once(lambda _: lifecycle.send_due(), 4)) == 20
    assert Execution.objects.filter(dispatch=2, status=ExecutionStatus.PENDING).count() == 20
