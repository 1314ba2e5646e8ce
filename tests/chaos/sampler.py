"""Samples the slots and limits in use continuously, each time in one snapshot, to detect excess runs."""

from typing import Any

from django.db import DatabaseError, InterfaceError, connection

from tests.chaos.bodies import EXCLUSIVE, LIMITED, MOST_STARTS, PERIOD
from tests.chaos.threads import StoppableThread

SLOTS = """
    SELECT o.name, q.role, count(*), o.max_concurrent_jobs, (o.max_concurrent_by_role ->> q.role)::integer,
           sum(count(*)) OVER (PARTITION BY o.id)
    FROM offices o JOIN job_queue q ON q.office_id = o.id AND q.status = 'processing'
    GROUP BY o.id, o.name, q.role
"""
# Offices with several jobs of the exclusive Task in slots, the last starts of the limited one, and held jobs.
LIMITS = """
    SELECT (
        SELECT count(*) FROM (
            SELECT 1 FROM job_queue WHERE status = 'processing' AND task_id = %(exclusive)s
            GROUP BY office_id HAVING count(*) > 1
        ) AS several
    ), (
        SELECT count(*) FROM job_executions
        WHERE task_id = %(limited)s AND attempt_started_at > clock_timestamp() - %(period)s * interval '1 s'
    ), (SELECT count(*) FROM job_queue WHERE status = 'ready' AND held)
"""
UNFINISHED = """
    SELECT count(*) FROM job_queue q
    WHERE q.status IN ('ready', 'processing', 'timeout') OR q.status = 'pending' AND (
        q.due_at IS NOT NULL OR dure_is_free(q.id, q.on_dependency_failure)
        OR q.on_dependency_failure = 'fail' AND EXISTS (
            SELECT 1 FROM job_dependencies d JOIN job_queue p ON p.id = d.parent_id
            WHERE d.job_id = q.id AND p.status IN ('failed', 'cancelled')
        )
    )
"""
LIVE_WITHOUT_JOB = """
    SELECT count(*) FROM job_executions WHERE job_id IS NULL AND status IN ('PENDING', 'RUNNING')
"""


class Sampler(StoppableThread):
    def __init__(self) -> None:
        super().__init__()
        self.excess: list[str] = []
        self.most_held = 0

    def run(self) -> None:
        while not self.stop_asked.wait(0.02):
            try:
                with connection.cursor() as cursor:
                    self.look(cursor)
            except (DatabaseError, InterfaceError):
                connection.close()
        connection.close()

    def look(self, cursor: Any) -> None:
        cursor.execute(SLOTS)
        for name, role, used, limit, role_limit, total in cursor.fetchall():
            if total > limit or (role_limit is not None and used > role_limit):
                self.excess.append(f"{name}: {total} of {limit} slots, {used} of {role_limit} for {role}")
        cursor.execute(LIMITS, {"exclusive": EXCLUSIVE, "limited": LIMITED, "period": PERIOD})
        several, starts, held = cursor.fetchone()
        if several:
            self.excess.append(f"{several} offices have several jobs of {EXCLUSIVE} in slots")
        if starts > MOST_STARTS:
            self.excess.append(f"{starts} starts of {LIMITED} in a period, {MOST_STARTS} may be")
        self.most_held = max(self.most_held, held)
