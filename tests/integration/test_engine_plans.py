"""The cost of operations does not grow with ended jobs: the rows they read are counted.

PostgreSQL counts, for each table and index, the entries that this transaction's statements read.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from jobs import lifecycle, sweeps
from jobs.models import Job, Office
from jobs.sql import call, statements
from scheduler.runs import search
from scheduler.runs.filters import RunFilter, RunState
from tests.factories import (
    NEXT_CLAIM,
    a_job,
    a_start,
    a_user,
    an_office,
    claimed,
    claimed_start,
    expire_lease,
    released,
    running_start,
    serve_roles,
    submitted,
)

pytestmark = pytest.mark.django_db

ENDED = 6_000
FEW = (80, "")
# A finish that also dispatches looks into the queue of each served role.
FEW_AND_A_DISPATCH = (100, "")
# Statements outside of functions are planned each time, and planning itself reads the ends of indexes.
PLANNED_ANEW = (400, "")
TABLES = ("job_queue", "job_executions", "job_dependencies", "job_attempts", "job_events", "job_batches")

FILL = (
    """
    INSERT INTO job_batches (id, office_id, name, created_at, ended_at)
    SELECT dure_uuid7(now()), %(office)s, '', now(), now() FROM generate_series(1, %(count)s / 20)
    """,
    """
    INSERT INTO job_queue (
        id, office_id, batch_id, ref, task_id, args, role, priority, urgent, status, on_dependency_failure,
        dependency_count, timeout_ms, max_retries, retry_backoff, retry_base_delay_ms, retry_count, on_lost,
        trigger, unique_key, created_at, completed_at, failure_type, error_message, ended_before)
    SELECT dure_uuid7(now()), %(office)s, batches.id, 'ended', 'demo.sum', '{}',
        (ARRAY['FE', 'BE', 'QA', 'default'])[1 + n %% 4], 100, false,
        (ARRAY['done', 'failed', 'cancelled'])[1 + n %% 3],
        'block', 1, 1000, 2, 'linear', 1, 0, 'retry', 'JOB', '', now(), now(), '', '', false
    FROM generate_series(1, %(count)s) AS n
    JOIN (SELECT id, row_number() OVER () AS place FROM job_batches) AS batches
        ON place = 1 + n %% (%(count)s / 20)
    """,
    """
    INSERT INTO job_executions (
        id, task_id, role, trigger, office_id, job_id, source, args, status, dispatch, dispatched_at, sent_at,
        sent_count, fence, token, worker, attempt, retry_count, crash_count, max_retries, retry_backoff,
        retry_base_delay_ms, timeout_ms, on_lost, created_at, finished_at, failure_type, error, session_id)
    SELECT dure_uuid7(now()), task_id, role, 'JOB', office_id, id, '', '{}', 'SUCCESS', 1, now(), now(), 1,
        1, 't', 'w', 1, 0, 0, 2, 'linear', 1, 1000, 'retry', now(), now(), '', '', '' FROM job_queue
    WHERE office_id = %(office)s
    """,
    """
    INSERT INTO job_attempts (
        execution_id, number, started_at, timeout_at, ended_at, outcome, failure_type, error, worker, token)
    SELECT id, 1, now(), now(), now(), 'success', '', '', 'w', 't' FROM job_executions
    """,
    """
    INSERT INTO job_dependencies (job_id, parent_id, position)
    SELECT id, lag(id) OVER (ORDER BY seq), 0 FROM job_queue WHERE office_id = %(office)s
    OFFSET 1
    """,
    """
    INSERT INTO job_events (office_id, job_id, type, details, at)
    SELECT office_id, id, 'job_completed', '{}', now() FROM job_queue WHERE office_id = %(office)s
    """,
)

# Runs that wait without a message, for some seconds already.
COPY_RUN = """
    INSERT INTO job_executions
    SELECT copy.* FROM job_executions e CROSS JOIN generate_series(1, %(count)s) AS n
    CROSS JOIN LATERAL jsonb_populate_record(e, jsonb_build_object(
        'id', lpad(n::text, 32, '0'), 'sent_count', 0, 'sent_at', e.sent_at - interval '5 s'
    )) AS copy
    WHERE e.id = %(run)s
"""


@pytest.fixture(autouse=True)
def no_autoanalyze(db: None) -> None:
    """The server analyzes tables by itself, and all statements that read one are planned anew then: see
    PLANNED_ANEW. So none is analyzed, however little of it they read.
    """
    tables = connection.introspection.django_table_names(only_existing=True)
    call.change(f"LOCK TABLE {', '.join(tables)} IN SHARE UPDATE EXCLUSIVE MODE")


@pytest.fixture
def office() -> Office:
    """An office with many ended jobs."""
    made = an_office(max_concurrent_jobs=4, max_concurrent_by_role={"FE": 1})
    for statement in FILL:
        call.change(statement, {"office": made.id, "count": ENDED})
    for table in TABLES:
        call.change(f"ANALYZE {table}")
    warm_up()
    return made


def warm_up() -> None:
    """Prepares the plans of this connection, because planning itself reads the ends of indexes."""
    office = an_office(name="warm up", max_concurrent_jobs=4)
    for _ in range(2):
        first, second, _ = submitted(
            office, {"ref": "a"}, {"ref": "b", "depends_on": ["a"]}, {"depends_on": ["a", "b"]}
        )
        run = claimed(first)
        assert run is not None
        lifecycle.progress(run.execution, run.fence, 0.5, "")
        call.rows(statements.RENEW, ["w@test", [run.execution], [1], "30 seconds", "10 seconds"])
        run.finish()
        lifecycle.reprioritise(office.id, [second.id], delta=1)
        lifecycle.cancel(office.id, [second.id], actor="me")
        lifecycle.retry(office.id, [second.id], actor="me")
        released(second)
        sweeps.sweep_once()
        lifecycle.cancel_execution(a_start())


def read_so_far() -> dict[str, int]:
    """The entries of each table and its indexes that this transaction has read."""
    return dict(
        call.rows(
            "SELECT c.relname, pg_stat_get_xact_tuples_returned(c.oid) + coalesce("
            "  (SELECT sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) FROM pg_index i"
            "   WHERE i.indrelid = c.oid), 0) "
            "FROM pg_class c WHERE c.relname = ANY (%s)",
            [list(TABLES)],
        )
    )


def most_read(act: Callable[[], Any]) -> tuple[int, str]:
    """The most entries that were read of one table, and its name."""
    before = read_so_far()
    act()
    after = read_so_far()
    return max((int(after[table] - before[table]), table) for table in TABLES)


def read_few(act: Callable[[], Any], most: tuple[int, str] = FEW) -> Any:
    """What the call answers, which may read fewer entries of a table than this."""
    answers: list[Any] = []
    assert most_read(lambda: answers.append(act())) < most
    return answers[0]


def test_a_full_scan_is_noticed(office):
    count = most_read(lambda: call.rows("SELECT count(*) FROM job_queue WHERE error_message = 'none'"))
    assert count >= (ENDED, "job_queue")


def test_the_operations_on_a_job_read_few_rows(office):
    job = read_few(lambda: a_job(office))
    run = read_few(lambda: claimed(job))
    read_few(lambda: lifecycle.progress(run.execution, run.fence, 0.5, ""))
    read_few(lambda: lifecycle.is_cancelled(run.execution, run.fence))
    renew = ["w@test", [run.execution], [1], "30 seconds", "10 seconds"]
    read_few(lambda: call.rows(statements.RENEW, renew))
    read_few(run.finish)


def test_a_queue_of_waiting_jobs_is_not_read_to_start_the_next(office):
    def cost_with(waiting):
        submitted(office, *[{"role": ("FE", "BE", "QA")[n % 3]} for n in range(waiting)])
        pending = call.rows("SELECT job_id FROM job_executions WHERE status = 'PENDING' LIMIT 1")
        return most_read(claimed(Job.objects.get(id=pending[0][0])).finish)

    cost = cost_with(300)
    assert cost < FEW_AND_A_DISPATCH
    # Ten times as many wait: no more is read.
    assert cost_with(2_700)[0] - cost[0] < 10


def test_ended_jobs_and_waiting_ones_of_other_offices_are_not_read(office):
    """The statistics are older than the waiting jobs: a plan must not assume that few jobs wait."""
    other = an_office()
    submitted(other, {"ref": "root"}, *[{"depends_on": ["root"]} for _ in range(3_000)])
    first, second, third = submitted(
        office, {"ref": "a"}, {"ref": "b", "depends_on": ["a"]}, {"depends_on": ["a", "b"]}
    )
    run = claimed(first)
    read_few(run.finish)
    read_few(lambda: released(third))
    read_few(lambda: lifecycle.reprioritise(office.id, [second.id], priority=1))
    read_few(lambda: lifecycle.cancel(office.id, [second.id], actor="me"))
    read_few(lambda: lifecycle.retry(office.id, [second.id], actor="me"))
    read_few(lambda: a_job(office, depends_on=[str(third.id)]), PLANNED_ANEW)


def test_an_execution_that_no_job_owns_reads_its_own_row(office):
    execution = read_few(a_start)
    read_few(lambda: claimed_start(execution))
    read_few(lambda: lifecycle.cancel_execution(execution))


@pytest.mark.parametrize("role", ["default", "QA"])
def test_an_end_reads_few_of_many_runs_that_have_no_message(office, role):
    """Whether it may claim the oldest of them, or its process does not serve their role."""
    serve_roles()
    starts = [running_start() for _ in range(3)]
    jobs = [claimed(job) for job in submitted(office, *[{"role": "default"} for _ in range(4)])]
    call.change(COPY_RUN, {"run": a_start(role=role), "count": ENDED})
    call.change("ANALYZE job_executions")
    next_claim = call.as_json(NEXT_CLAIM.values())

    def end(run):
        values = (run.execution, run.fence, "success", None, "", "", "", None, 3, next_claim)
        return most_read(lambda: call.function("dure_finish", *values))

    assert [end(run) for run in starts][-1] < FEW_AND_A_DISPATCH
    submitted(office, *[{"role": "default"} for _ in range(10)])
    assert [end(run) for run in jobs][-1] < FEW_AND_A_DISPATCH
    assert max(most_read(lifecycle.send_unsent) for _ in range(10)) < FEW_AND_A_DISPATCH


def test_a_sweep_that_finds_nothing_reads_nothing(office):
    """Each pass of the sweep runs every few seconds."""
    sweeps.sweep_once()
    now = timezone.now()
    passes: dict[str, Callable[[], Any]] = {
        "rescue": lifecycle.rescue,
        "send_due": lambda: lifecycle.send_due(now),
        "promote": lambda: sweeps.advance_stuck_offices(now),
        "republish": lifecycle.republish,
        "reseed": lifecycle.reseed,
        "process": lambda: lifecycle.advance_office(office.id, now),
    }
    costs = {name: most_read(sweep) for name, sweep in passes.items()}
    assert {name: cost for name, cost in costs.items() if cost > PLANNED_ANEW} == {}


def test_a_sweep_reads_what_it_repairs(office):
    run = claimed(a_job(office))
    expire_lease(run.execution)
    read_few(lifecycle.rescue, PLANNED_ANEW)
    claimed(a_job(office), token="again").fail(delay_ms=0)
    read_few(lambda: lifecycle.send_due(timezone.now()), PLANNED_ANEW)


def test_a_job_costs_two_round_trips_from_its_claim_to_its_end(office):
    statements: list[str] = []

    def note(execute, sql, params, many, context):
        statements.append(sql)
        return execute(sql, params, many, context)

    first, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"]})
    execution = str(first.execution_id)
    with connection.execute_wrapper(note):
        row = lifecycle.claim(execution, 1, token="t", worker="w")
        lifecycle.finish(execution, row.fence, "success", trigger="JOB", result="1")
    assert len(statements) <= 3, statements
    assert second.dependency_count == 1


def test_plans_from_when_the_tables_were_small_read_few_rows_too():
    """A worker keeps its connection, and so the plans of its first jobs, when the tables have grown."""
    warm_up()
    office = an_office(max_concurrent_jobs=4)
    for statement in FILL:
        call.change(statement, {"office": office.id, "count": ENDED})
    first, second, join = submitted(
        office, {"ref": "a"}, {"ref": "b", "depends_on": ["a"]}, {"depends_on": ["a", "b"]}
    )
    for job in (first, second):
        run = read_few(partial(claimed, job))
        read_few(run.finish, FEW_AND_A_DISPATCH)
    read_few(lambda: released(join), FEW_AND_A_DISPATCH)
    read_few(lambda: lifecycle.cancel(office.id, [join.id], actor="me"), FEW_AND_A_DISPATCH)
    read_few(lambda: lifecycle.retry(office.id, [join.id], actor="me"), FEW_AND_A_DISPATCH)


def test_an_end_reads_few_of_many_ready_jobs():
    """With the plans of a connection that has seen fewer, and nobody has counted the rows since."""
    call.change("DISCARD PLANS")
    for count in (200, 3_000):
        jobs = submitted(an_office(max_concurrent_jobs=4), *[{}] * count)
        run = claimed(jobs[0])
        reads = most_read(run.finish)
    assert reads < FEW_AND_A_DISPATCH


def test_failed_runs_are_found_without_reading_those_that_succeeded(office):
    ended = "INSERT INTO job_executions (task_id, status, finished_at) SELECT 'demo.sum', 'SUCCESS', now()"
    call.change(f"{ended} FROM generate_series(1, %s)", [ENDED])
    call.change("ANALYZE job_executions")
    staff, failed = a_user("staff", is_staff=True), RunFilter(states=[RunState.FAILED])
    before = read_so_far()["job_executions"]
    search.search(staff, failed)
    assert read_so_far()["job_executions"] - before < PLANNED_ANEW[0]
