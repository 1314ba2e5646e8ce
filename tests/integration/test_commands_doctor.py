"""`manage.py doctor` on real servers: what is broken is told as broken, and where nothing is, nothing is."""

import json

import pytest
from django.conf import settings
from django.db import connection
from django_celery_beat.models import PeriodicTask

from config.doctor import checkup
from jobs import redis
from jobs.models import Worker
from jobs.sql import call, statements
from scheduler import queue_probes, sql
from scheduler.leader import Leadership
from tests.factories import a_job, an_office, claimed, expire_lease, fresh
from tests.integration.commands import run

pytestmark = pytest.mark.django_db


def told() -> dict[tuple[str, str], str]:
    """The level of each finding, by its subject and name; the worst where there are several."""
    found: dict[tuple[str, str], str] = {}
    for one in run("doctor", "--json").json["findings"]:
        key = one["subject"], one["name"]
        found[key] = max(found.get(key, "ok"), one["level"], key=["ok", "warn", "bad"].index)
    return found


def a_worker(*roles: str, name: str = "jobs@test", draining: bool = False) -> None:
    values = {"name": name, "roles": json.dumps(roles), "slots": 2, "running": 0, "draining": draining}
    call.change(statements.UPSERT_WORKER, values | {"started_at": 0})


@pytest.fixture(autouse=True)
def own_redis():
    redis.client().flushdb()


def test_every_subject_is_looked_at_and_no_check_breaks():
    found = run("doctor", "--json").json["findings"]
    assert {one["subject"] for one in found} == {subject.name for subject in checkup.SUBJECTS}
    assert [one for one in found if "could not be looked at" in one["found"]] == []
    assert [one for one in found if (one["level"] == "ok") != (one["advice"] is None)] == []


def test_what_is_well_on_the_servers_of_the_tests_is_told_as_well():
    found = told()
    for subject, name in (
        *(("packages", "python"), ("packages", "packages"), ("settings", "django")),
        *(("postgresql", "connection"), ("postgresql", "version"), ("postgresql", "clock")),
        *(("postgresql", "pooler"), ("postgresql", "encoding"), ("postgresql", "autovacuum")),
        *(("schema", "migrations"), ("schema", "engine"), ("redis", "version"), ("redis", "keys")),
        *(("exports", "font"), ("exports", "video"), ("upkeep", "leases"), ("outgoing", "outbox")),
    ):
        assert found[subject, name] == "ok", (subject, name)


def test_lines_and_json_tell_the_same_and_the_exit_code_is_that_of_the_worst():
    lines, document = run("doctor"), run("doctor", "--json")
    counted = [line.split()[0] for line in lines.lines if line.split()[:1] and line[0] in "owb"]
    assert counted == [one["level"] for one in document.json["findings"]]
    assert document.json["status"] == "bad"  # no worker works here
    assert lines.code == document.code == 2
    assert lines.lines[-1].endswith(f"{counted.count('bad')} bad")


def test_no_password_is_told(monkeypatch):
    monkeypatch.setattr(settings, "FLOWER_BASIC_AUTH", "admin:hunter2-hunter2")
    monkeypatch.setattr(settings, "CRON_SECRET", "hunter3-hunter3")
    said = run("doctor").out
    assert "hunter" not in said
    assert settings.SECRET_KEY not in said


def test_a_role_whose_work_waits_for_nobody_is_bad_until_a_worker_takes_it():
    a_job(an_office(), role="FE")
    assert told()["workers", "roles"] == "bad"
    a_worker("FE")
    assert told()["workers", "roles"] == "ok"
    a_worker("FE", draining=True)
    found = told()
    assert (found["workers", "roles"], found["workers", "draining"]) == ("bad", "warn")


def test_a_worker_that_answers_no_ping_or_whose_heart_stopped_is_told():
    a_worker("FE")
    assert told()["workers", "ping"] == "warn"
    Worker.objects.update(seen_at="2026-01-01T00:00Z")
    assert told()["workers", "workers"] == "bad"


def test_the_engines_own_queues_need_workers():
    assert told()["workers", "control"] == "bad"
    assert told()["workers", "notices"] == "warn"
    a_worker("control", "notices", name="control@test")
    found = told()
    assert (found["workers", "control"], found["workers", "notices"]) == ("ok", "ok")


def test_a_queue_that_is_not_consumed_is_told_by_its_canary():
    a_worker("FE")
    call.rows(sql.START_PROBES, {"roles": ["FE"], "lost": queue_probes.LOST_AFTER})
    call.change("UPDATE queue_probes SET sent_at = now() - interval '9 minutes', seen_at = now()")
    assert told()["workers", "canaries"] == "ok"
    call.change("UPDATE queue_probes SET seen_at = now() - interval '2 minutes'")
    assert told()["workers", "canaries"] == "warn"


def test_a_lease_that_ran_out_is_told():
    job = a_job(an_office())
    claimed(job)
    expire_lease(str(fresh(job).execution_id))
    assert told()["upkeep", "leases"] == "warn"


def test_beat_is_the_session_that_holds_its_lock():
    leadership = Leadership()
    assert leadership.held()
    try:
        assert told()["upkeep", "beat"] == "ok"
    finally:
        leadership.give_up()
    assert told()["upkeep", "beat"] == "bad"


def test_maintenance_that_was_turned_off_is_told():
    PeriodicTask.objects.filter(task="dure.retention").update(enabled=False)
    assert told()["upkeep", "maintenance"] == "warn"
    PeriodicTask.objects.filter(task="dure.sweep").update(enabled=False)
    assert told()["upkeep", "maintenance"] == "bad"


def test_a_migration_that_is_missing_keeps_from_looking_further():
    newest = "SELECT max(name) FROM django_migrations WHERE app = 'scheduler'"
    call.change(f"DELETE FROM django_migrations WHERE app = 'scheduler' AND name = ({newest})")
    found = told()
    assert found["schema", "migrations"] == "bad"
    assert found["workers", "workers"] == found["upkeep", "upkeep"] == "warn"
    assert ("upkeep", "beat") not in found


def test_a_function_that_is_missing_is_bad():
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION dure_uuid7(timestamptz)")
    assert told()["schema", "engine"] == "bad"


def test_keys_of_somebody_else_in_redis_are_told():
    redis.client().set("resque:queue:mail", "1")
    assert told()["redis", "keys"] == "warn"


def test_exports_need_a_listener():
    assert told()["outgoing", "listener"] == "bad"
    client = redis.client()
    client.xgroup_create("job.progress", "dure-backend", id="0", mkstream=True)
    client.xreadgroup("dure-backend", "listener-1", {"job.progress": ">"}, count=1)
    assert told()["outgoing", "listener"] == "ok"


def test_what_lies_about_for_long_is_told():
    call.change(
        "INSERT INTO dead_letters (source_stream, source_id, fields, whole, reason, failed_at, state) "
        "VALUES ('job.progress', '1-1', '{}', true, 'no number', now(), 'open')"
    )
    call.change(
        "INSERT INTO stream_outbox (token, stream, fields, created_at) "
        "VALUES (gen_random_uuid(), 'job.requests', '{}', now() - interval '2 minutes')"
    )
    found = told()
    assert found["outgoing", "dead letters"] == "warn"
    assert found["outgoing", "outbox"] == "bad"
