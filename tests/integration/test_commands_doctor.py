"""`manage.py doctor` on real servers reports exactly what is broken."""

import pytest
from django.conf import settings
from django.db import connection
from django_celery_beat.models import PeriodicTask

from config.doctor.management.commands.doctor import SUBJECTS
from jobs import redis
from jobs.models import Worker
from jobs.sql import call
from scheduler import leader, queue_probes
from scheduler.leader import Leadership
from scheduler.sql import statements
from tests.factories import a_job, an_office, claimed, expire_lease, fresh, heartbeat
from tests.integration.commands import run

pytestmark = pytest.mark.django_db


def levels() -> dict[tuple[str, str], str]:
    """The worst level of the messages, by subject and name."""
    worst: dict[tuple[str, str], str] = {}
    for finding in run("doctor", "--json").json["findings"]:
        key = finding["subject"], finding["name"]
        worst[key] = max(worst.get(key, "ok"), finding["level"], key=["ok", "warn", "bad"].index)
    return worst


@pytest.fixture(autouse=True)
def own_redis():
    redis.client().flushdb()


def test_every_subject_is_checked_and_no_check_raises():
    findings = run("doctor", "--json").json["findings"]
    assert {finding["subject"] for finding in findings} == {subject.name for subject in SUBJECTS}
    assert [finding for finding in findings if "could not be checked" in finding["found"]] == []
    assert [
        finding for finding in findings if (finding["level"] == "ok") != (finding["advice"] is None)
    ] == []


def test_the_servers_of_the_tests_are_in_order():
    result = levels()
    for subject, name in (
        *(("packages", "python"), ("packages", "packages"), ("settings", "django")),
        *(("postgresql", "connection"), ("postgresql", "version"), ("postgresql", "clock")),
        *(("postgresql", "pooler"), ("postgresql", "encoding"), ("postgresql", "autovacuum")),
        *(("schema", "migrations"), ("schema", "engine"), ("redis", "version"), ("redis", "keys")),
        *(("exports", "font"), ("exports", "video"), ("upkeep", "leases"), ("outgoing", "outbox")),
    ):
        assert result[subject, name] == "ok", (subject, name)


def test_lines_and_json_agree_and_the_exit_code_is_that_of_the_worst():
    lines, document = run("doctor"), run("doctor", "--json")
    counted = [line.split()[0] for line in lines.lines if line.split()[:1] and line[0] in "owb"]
    assert counted == [finding["level"] for finding in document.json["findings"]]
    assert document.json["status"] == "bad"  # no worker works here
    assert lines.code == document.code == 2
    assert f", {counted.count('bad')} error" in lines.lines[-1]


def test_passwords_are_never_printed(monkeypatch):
    monkeypatch.setattr(settings, "FLOWER_BASIC_AUTH", "admin:hunter2-hunter2")
    monkeypatch.setattr(settings, "CRON_SECRET", "hunter3-hunter3")
    output = run("doctor").out
    assert "hunter" not in output
    assert settings.SECRET_KEY not in output


def test_a_role_with_waiting_work_is_bad_until_it_has_a_worker():
    a_job(an_office(), role="FE")
    assert levels()["workers", "roles"] == "bad"
    heartbeat("jobs@test", "FE")
    assert levels()["workers", "roles"] == "ok"
    heartbeat("jobs@test", "FE", draining=True)
    result = levels()
    assert (result["workers", "roles"], result["workers", "draining"]) == ("bad", "warn")


def test_a_worker_without_a_ping_or_a_heartbeat_is_reported():
    heartbeat("jobs@test", "FE")
    assert levels()["workers", "ping"] == "warn"
    Worker.objects.update(seen_at="2026-01-01T00:00Z")
    assert levels()["workers", "workers"] == "bad"


def test_the_queues_of_the_engine_need_workers():
    assert levels()["workers", "control"] == "bad"
    assert levels()["workers", "notices"] == "warn"
    heartbeat("control@test", "control", "notices")
    result = levels()
    assert (result["workers", "control"], result["workers", "notices"]) == ("ok", "ok")


def test_a_queue_that_is_not_consumed_is_reported_by_its_probe():
    heartbeat("jobs@test", "FE")
    call.rows(statements.START_PROBES, {"roles": ["FE"], "lost": queue_probes.LOST_AFTER})
    call.change("UPDATE queue_probes SET sent_at = now() - interval '9 minutes', seen_at = now()")
    assert levels()["workers", "canaries"] == "ok"
    call.change("UPDATE queue_probes SET seen_at = now() - interval '2 minutes'")
    assert levels()["workers", "canaries"] == "warn"


def test_an_expired_lease_is_reported():
    job = a_job(an_office())
    claimed(job)
    expire_lease(str(fresh(job).execution_id))
    assert levels()["upkeep", "leases"] == "warn"


@pytest.fixture
def long_lease(monkeypatch):
    """Longer than any pause of a busy machine."""
    monkeypatch.setattr(leader, "LEASE_SECONDS", 600)


@pytest.mark.usefixtures("long_lease")
def test_the_beat_that_leads_is_reported():
    leadership = Leadership()
    assert leadership.acquire()
    try:
        assert levels()["upkeep", "beat"] == "ok"
    finally:
        leadership.release()
    assert levels()["upkeep", "beat"] == "bad"


def test_disabled_maintenance_is_reported():
    PeriodicTask.objects.filter(task="dure.retention").update(enabled=False)
    assert levels()["upkeep", "maintenance"] == "warn"
    PeriodicTask.objects.filter(task="dure.sweep").update(enabled=False)
    assert levels()["upkeep", "maintenance"] == "bad"


def test_a_missing_migration_prevents_further_checks():
    newest = "SELECT max(name) FROM django_migrations WHERE app = 'scheduler'"
    call.change(f"DELETE FROM django_migrations WHERE app = 'scheduler' AND name = ({newest})")
    result = levels()
    assert result["schema", "migrations"] == "bad"
    assert result["workers", "workers"] == result["upkeep", "upkeep"] == "warn"
    assert ("upkeep", "beat") not in result


def test_a_missing_function_is_bad():
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION dure_uuid7(timestamptz)")
    assert levels()["schema", "engine"] == "bad"


def test_keys_of_another_application_in_redis_are_reported():
    redis.client().set("resque:queue:mail", "1")
    assert levels()["redis", "keys"] == "warn"


def test_exports_need_a_listener():
    assert levels()["outgoing", "listener"] == "bad"
    client = redis.client()
    client.xgroup_create("job.progress", "dure-backend", id="0", mkstream=True)
    client.xreadgroup("dure-backend", "listener-1", {"job.progress": ">"}, count=1)
    assert levels()["outgoing", "listener"] == "ok"


def test_dead_letters_and_a_late_outbox_are_reported():
    call.change(
        "INSERT INTO dead_letters (source_stream, source_id, fields, whole, reason, failed_at, state) "
        "VALUES ('job.progress', '1-1', '{}', true, 'no number', now(), 'open')"
    )
    call.change(
        "INSERT INTO stream_outbox (token, stream, fields, created_at) "
        "VALUES (gen_random_uuid(), 'job.requests', '{}', now() - interval '2 minutes')"
    )
    result = levels()
    assert result["outgoing", "dead letters"] == "warn"
    assert result["outgoing", "outbox"] == "bad"


@pytest.mark.usefixtures("long_lease")
def test_one_beat_leads_until_it_stops_or_its_lease_ends():
    first, second, third = Leadership(), Leadership(), Leadership()
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    # As after the death of the second.
    call.change("UPDATE beat_leader SET leads_until = clock_timestamp() - interval '1 second'")
    assert third.acquire()
    second.release()
    assert third.acquire()
    assert not first.acquire()
