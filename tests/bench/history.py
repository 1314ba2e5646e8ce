"""Ended runs of thirty days in the tables, as a busy installation has them: for benches that read.

Of two million, 65 % are jobs (40 % of them in batches, 8 % steps of workflows), 30 % belong to schedules, 3 %
to step queues, and 2 % were started by hand. 3 % failed, with about 200 different errors. A thousand offices
share the jobs: the largest has 10 % of them, the median 0.05 %.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

DAYS = 30
OFFICES, SCHEDULES, QUEUES, OWNERS = 1_000, 500, 200, 40
# The offices of the user who is a member of many.
MANY_OFFICES = 40
RARE_TASK = "etl.rebuild_index"
RARE_WORKER = "worker-rare@host"
NEEDLE = "a text of a single job"

STATEMENTS = Path(__file__).with_suffix(".sql")
TABLES = "job_batches, job_queue, job_executions, job_attempts, execution_minutes, role_minutes"


@dataclass(frozen=True)
class Users:
    """`member` has one small office, `large` the largest, `many` forty, `owner` schedules and queues only."""

    staff: Any
    member: Any
    large: Any
    many: Any
    owner: Any


def fill(count: int, now: datetime) -> Users:
    from django.db import connection

    offices, users = _offices_and_users()
    _causes(offices, users, now)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            STATEMENTS.read_text(),
            {
                "count": count, "days": DAYS, "offices": OFFICES, "schedules": SCHEDULES, "queues": QUEUES,
                "owners": OWNERS, "rare_task": RARE_TASK, "rare_worker": RARE_WORKER, "needle": NEEDLE,
            },
        )  # fmt: skip
        cursor.execute(f"VACUUM ANALYZE {TABLES}")
        cursor.execute("ANALYZE")
        cursor.execute("RESET statement_timeout")
    return users


def _offices_and_users() -> tuple[list[Any], Users]:
    from jobs.models import Membership, Office
    from jobs.states import MemberRole
    from tests.factories import a_user, serve_roles

    serve_roles()
    offices = Office.objects.bulk_create(
        [Office(name=f"office {number:04}", max_concurrent_by_role={}) for number in range(OFFICES)]
    )
    names = ("member", "large", "many", "owner")
    users = Users(a_user("staff", is_staff=True), *(a_user(name) for name in names))
    memberships = [(users.member, OFFICES // 2), (users.large, 0)]
    memberships += [(users.many, OFFICES // 2 + number) for number in range(1, MANY_OFFICES + 1)]
    Membership.objects.bulk_create(
        [
            Membership(office=offices[number], user=user, role=MemberRole.OPERATOR)
            for user, number in memberships
        ]
    )
    return offices, users


def _causes(offices: list[Any], users: Users, now: datetime) -> None:
    """Schedules and step queues; and tables that number them, the offices and the owners."""
    from django.db import connection

    from scheduler.models import Schedule, StepQueue
    from tests.factories import a_user

    owners = [users.owner, *(a_user(f"owner {number}") for number in range(1, OWNERS))]
    schedules = Schedule.objects.bulk_create(
        [
            Schedule(
                name=f"schedule {number}", task_id="etl.load", kind="interval", every_seconds=3600,
                owner=owners[number % OWNERS], anchor=now, created_at=now, updated_at=now,
            )
            for number in range(SCHEDULES)
        ]
    )  # fmt: skip
    StepQueue.objects.bulk_create(
        [
            StepQueue(owner=owners[number % OWNERS], name=f"queue {number}", created_at=now)
            for number in range(QUEUES)
        ]
    )
    with connection.cursor() as cursor:
        for table, rows, kind in (
            ("office_numbers", offices, "uuid"),
            ("schedule_numbers", schedules, "uuid"),
            ("owner_numbers", owners, "bigint"),
        ):
            cursor.execute(
                f"CREATE TEMP TABLE {table} AS SELECT id, ordinality - 1 AS number "
                f"FROM unnest(%s::{kind}[]) WITH ORDINALITY AS t (id, ordinality)",
                [[row.pk for row in rows]],
            )
            cursor.execute(f"CREATE UNIQUE INDEX ON {table} (number); ANALYZE {table}")
