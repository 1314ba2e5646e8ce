"""The numbers of an office's queue."""

from typing import Any
from uuid import UUID

from jobs.sql import call
from jobs.states import JOB_ENDED, JOB_LIVE, JobStatus

RECENT = 1_000

# Of what has not ended: exact, from the partial index jobs_live, which stays small.
COUNT_LIVE = """
    SELECT status, count(*) FROM job_queue
    WHERE office_id = %(office)s AND status = ANY (%(live)s) GROUP BY status
"""
# Of what has ended: exact as well, from the index jobs_ended alone.
COUNT_ENDED = """
    SELECT status, count(*) FROM job_queue
    WHERE office_id = %(office)s AND status = ANY (%(ended)s) AND completed_at IS NOT NULL GROUP BY status
"""
# How long the last of them took, from their first start to their end; the newest by jobs_ended.
AVERAGE_TIME = """
    SELECT coalesce(avg(extract(epoch FROM completed_at - started_at)) * 1000, 0)::float FROM (
        SELECT started_at, completed_at FROM job_queue
        WHERE office_id = %(office)s AND status = %(done)s AND completed_at IS NOT NULL
        ORDER BY completed_at DESC LIMIT %(recent)s
    ) AS recent
"""
# How long one run of each Task takes, from the same jobs: the last attempt only, without the waits.
RUN_TIMES = """
    SELECT task_id, avg(seconds)::float FROM (
        SELECT q.task_id, extract(epoch FROM e.finished_at - e.attempt_started_at) AS seconds
        FROM (
            SELECT task_id, execution_id FROM job_queue
            WHERE office_id = %(office)s AND status = %(done)s AND completed_at IS NOT NULL
            ORDER BY completed_at DESC LIMIT %(recent)s
        ) AS q JOIN job_executions e ON e.id = q.execution_id
    ) AS runs WHERE seconds IS NOT NULL GROUP BY task_id
"""


def of(office: UUID) -> dict[str, Any]:
    """The seed's JobQueueStats, and `timeout`."""
    values = {
        "office": office,
        "live": [str(status) for status in JOB_LIVE],
        "ended": [str(status) for status in JOB_ENDED],
        "done": JobStatus.DONE.value,
        "recent": RECENT,
    }
    counts = {str(status): 0 for status in JobStatus}
    counts.update(call.rows(COUNT_LIVE, values))
    counts.update(call.rows(COUNT_ENDED, values))
    ((average,),) = call.rows(AVERAGE_TIME, values)
    return {"office_id": str(office), **counts, "avg_completion_time": round(average, 1)}


def run_times(office: UUID) -> dict[str, float]:
    """How many seconds a run of each Task took lately, in this office."""
    return dict(call.rows(RUN_TIMES, {"office": office, "done": JobStatus.DONE.value, "recent": RECENT}))
