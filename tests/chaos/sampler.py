"""Samples the slots in use continuously, each time in one snapshot, to detect excess runs."""

import threading
import time

from django.db import DatabaseError, InterfaceError, connection

SLOTS = """
    SELECT o.name, q.role, count(*), o.max_concurrent_jobs, (o.max_concurrent_by_role ->> q.role)::integer,
           sum(count(*)) OVER (PARTITION BY o.id)
    FROM offices o JOIN job_queue q ON q.office_id = o.id AND q.status = 'processing'
    GROUP BY o.id, o.name, q.role
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


class Sampler(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.excess: list[str] = []
        self.samples = 0
        self._stop_asked = threading.Event()

    def run(self) -> None:
        while not self._stop_asked.is_set():
            try:
                with connection.cursor() as cursor:
                    cursor.execute(SLOTS)
                    for name, role, used, limit, role_limit, total in cursor.fetchall():
                        if total > limit or (role_limit is not None and used > role_limit):
                            self.excess.append(
                                f"{name}: {total} of {limit} slots, {used} of {role_limit} for {role}"
                            )
                self.samples += 1
            except (DatabaseError, InterfaceError):
                connection.close()
            time.sleep(0.02)
        connection.close()

    def stop(self) -> None:
        self._stop_asked.set()
        self.join(10)
