"""The messages of `manage.py doctor`: each check is a function of plain values."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from django.conf import settings
from django.core.checks import ERROR, INFO, WARNING, CheckMessage

from config.diagnostics import addresses, environment, packages
from exports import diagnostics as exports_checks
from jobs.diagnostics import postgresql, redis
from scheduler.diagnostics import maintenance, workers, zones
from scheduler.diagnostics.maintenance import MAINTENANCE, Maintenance
from scheduler.diagnostics.workers import Queue
from scheduler.periodic_tasks import SWEEP
from tests.workers import ROOT

OK, WARN, BAD = INFO, WARNING, ERROR
DAY = 86_400


def levels(findings: Iterable[CheckMessage]) -> list[int]:
    return [message.level for message in findings]


# --- packages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version, level", [((3, 11, 0), OK), ((3, 14, 2), OK), ((3, 10, 9), BAD)])
def test_an_old_python_is_an_error(version, level):
    assert packages.check_python(version).level == level


@pytest.mark.parametrize(
    "installed, level, text",
    [
        ({"django": "5.2.19", "redis": "8.1.0"}, OK, "all 2"),
        ({"django": "5.2.1", "redis": "8.1.0"}, WARN, "django 5.2.1 instead of 5.2.19"),
        ({"django": "5.2.1"}, BAD, "redis 8.1.0"),
    ],
)
def test_packages_are_compared_with_the_lock(installed, level, text):
    message = packages.check_packages({"django": "5.2.19", "redis": "8.1.0"}, installed.get)
    assert message.level == level
    assert text in message.msg


def test_the_lock_is_read_with_its_markers_and_extras():
    text = (
        "amqp==5.4.2 \\\n    --hash=sha256:aa\n    # via kombu\n"
        "old==1.0 ; python_version < '3' \\\n    --hash=sha256:bb\n"
        "new[extra]==2.0 ; python_version >= '3' \\\n    --hash=sha256:cc\n"
        "# bare==9\n"
    )
    assert packages.locked_versions(text) == {"amqp": "5.4.2", "new": "2.0"}


def test_the_installed_packages_are_those_of_the_lock():
    locked = packages.locked_versions(packages.LOCK.read_text())
    assert len(locked) > 30
    assert packages.check_packages(locked, packages.installed_version).level == OK


# --- settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("heartbeat, level", [(10.0, OK), (15.0, OK), (15.1, BAD), (40.0, BAD)])
def test_a_heartbeat_too_long_for_the_lease_is_an_error(heartbeat, level):
    assert environment.check_lease(30.0, heartbeat, 5.0).level == level


def test_debug_is_a_warning_in_every_environment():
    assert environment.check_environment("development", True).level == WARN
    assert environment.check_environment("development", False).level == OK
    assert environment.check_environment("production", False).level == OK


@pytest.mark.parametrize(
    "names, level", [({"UTC", "Asia/Seoul"}, OK), ({"UTC", "Asia/Atlantis"}, BAD), ({"../etc/passwd"}, BAD)]
)
def test_a_zone_without_data_is_an_error(names, level):
    message = zones.check_zones(names)
    assert message.level == level


# --- PostgreSQL --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "apart, took, level",
    [
        (0.0, 0.001, OK),
        (0.9, 0.001, OK),
        (-1.5, 0.001, WARN),
        (1.5, 2.0, OK),
        (-5.1, 0.001, BAD),
        (3600.0, 0.001, BAD),
    ],
)
def test_a_clock_skew_counts_beyond_what_the_query_explains(apart, took, level):
    assert postgresql.check_clock(apart, took).level == level


def test_a_wrong_clock_is_reported_with_its_direction():
    assert "ahead of" in postgresql.check_clock(9.0, 0.0).msg
    assert "behind" in postgresql.check_clock(-9.0, 0.0).msg


def test_a_pooler_is_in_order_unless_it_drops_settings():
    assert postgresql.check_pooler(pooled=False, missing=[]).msg.endswith("none")
    assert postgresql.check_pooler(pooled=True, missing=[]).level == OK
    dropped = postgresql.check_pooler(pooled=True, missing=["SET jit = 'off'"])
    assert dropped.level == BAD
    assert "SET jit = 'off'" in dropped.msg


def test_the_settings_of_connections_are_those_of_the_documented_pooler():
    options = str(settings.DATABASES["default"]["OPTIONS"]["options"])
    expected = "; ".join(
        f"SET {name}=''{value}''" for name, value in postgresql.SESSION_SETTING.findall(options)
    )
    for path in ("docs/operations.md", ".ci/run"):
        assert f"connect_query='{expected}'" in (ROOT / path).read_text(), path


@pytest.mark.parametrize(
    "reason, word",
    [
        ('FATAL:  password authentication failed for user "dure"', "password"),
        ('FATAL:  database "dure" does not exist', "createdb"),
        ("FATAL:  sorry, too many clients already", "max_connections"),
        ("Connection refused", "start it"),
    ],
)
def test_each_connection_error_has_its_hint(reason, word):
    assert word in postgresql.connection_hint(reason)


def test_missing_migrations_are_named_and_counted():
    assert postgresql.check_migrations([]).level == OK
    message = postgresql.check_migrations(["a.1", "b.2", "c.3", "d.4"])
    assert message.level == BAD
    assert message.msg == "4 not applied: a.1, b.2, c.3…"
    assert postgresql.check_functions(["dure_claim"], 20).level == BAD


SERVER = {
    "server_encoding": "UTF8",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "transaction_read_only": "off",
    "autovacuum": "on",
    "track_counts": "on",
}


@pytest.mark.parametrize(
    "change, expected",
    [
        ({}, [OK, OK]),
        ({"server_encoding": "SQL_ASCII"}, [BAD, OK]),
        ({"transaction_read_only": "on"}, [OK, BAD, OK]),
        ({"synchronous_commit": "off"}, [OK, WARN]),
        ({"synchronous_commit": "remote_apply"}, [OK, OK]),
        ({"fsync": "off"}, [OK, WARN]),
    ],
)
def test_a_server_that_may_lose_data_is_reported(change, expected):
    assert levels(postgresql.check_durability(SERVER | change)) == expected


def test_fsync_off_is_an_error_in_production(settings):
    settings.PRODUCTION = True
    assert levels(postgresql.check_durability(SERVER | {"fsync": "off"})) == [OK, BAD]


@pytest.mark.parametrize(
    "change, tables, level",
    [
        ({}, [("job_queue", 1_000_000, 90_000)], OK),
        ({}, [("job_queue", 1_000_000, 400_000)], OK),
        ({}, [("job_queue", 100_000, 200_000)], WARN),
        ({"autovacuum": "off"}, [], BAD),
        ({"track_counts": "off"}, [], BAD),
    ],
)
def test_autovacuum_must_be_on_and_keep_up(change, tables, level):
    assert postgresql.check_autovacuum(SERVER | change, tables).level == level


@pytest.mark.parametrize("used, locked, level", [(10, 50, OK), (80, 50, WARN), (10, 101, WARN)])
def test_connections_that_may_run_out_are_a_warning(used, locked, level):
    assert postgresql.check_connections(100, used, locked).level == level


# --- Redis -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number, level", [("8.0.1", OK), ("6.2.0", OK), ("6.0.16", BAD), ("", BAD)])
def test_an_old_redis_is_an_error(number, level):
    assert redis.check_version(number).level == level


@pytest.mark.parametrize(
    "info, expected",
    [
        ({"maxmemory_policy": "noeviction", "maxmemory": 0, "used_memory": 9}, [OK]),
        ({"maxmemory_policy": "noeviction", "maxmemory": 100, "used_memory": 81}, [WARN]),
        ({"maxmemory_policy": "allkeys-lru", "maxmemory": 100, "used_memory": 1}, [BAD]),
        ({"maxmemory_policy": "allkeys-lru", "maxmemory": 0, "used_memory": 1}, [WARN]),
        ({"maxmemory_policy": "noeviction", "evicted_keys": 3}, [OK, WARN]),
    ],
)
def test_a_redis_that_may_drop_keys_is_reported(info, expected):
    assert levels(redis.check_memory(info)) == expected


@pytest.mark.parametrize(
    "info, level",
    [
        ({"aof_enabled": 1}, OK),
        ({"aof_enabled": 0}, WARN),
        ({"aof_enabled": 1, "aof_last_write_status": "err"}, BAD),
        ({"aof_enabled": 0, "rdb_last_bgsave_status": "err"}, BAD),
    ],
)
def test_a_redis_that_stores_nothing_or_cannot_write_is_reported(info, level):
    assert redis.check_persistence(info).level == level


def test_a_replica_and_a_cluster_are_errors():
    assert levels(redis.check_mode({"role": "master", "redis_mode": "standalone"})) == []
    assert levels(redis.check_mode({"role": "slave"})) == [BAD]
    assert levels(redis.check_mode({"role": "master", "redis_mode": "cluster"})) == [BAD]


def test_keys_of_other_applications_are_a_warning():
    ours = [
        *("FE", "default\x06\x169", "control", "notices", "_kombu.binding.FE", "unacked_index"),
        *("celery-taskset-meta-join-1.s", "dure:epoch", "dure:1:throttle", "job.requests", "job.deadletter"),
        *("jobs@host.celery.pidbox", "1f2e.reply.celery.pidbox", "celeryev.11"),
    ]
    queues = {"FE", "default", "control", "notices"}
    assert redis.foreign_keys(ours, queues) == []
    assert redis.foreign_keys(["resque:queue:mail", *ours, "job.others"], queues) == [
        "resque:queue:mail",
        "job.others",
    ]
    assert redis.check_keys(3, []).level == OK
    assert redis.check_keys(3, ["resque:queue:mail"]).level == WARN


# --- workers -----------------------------------------------------------------------------------------


def test_a_missing_worker_is_an_error_and_a_draining_worker_a_warning():
    assert levels(workers.check_heartbeats([], [])) == [BAD]
    assert levels(workers.check_heartbeats(["a", "b"], [])) == [OK]
    assert levels(workers.check_heartbeats(["a", "b"], ["b"])) == [OK, WARN]


def test_a_role_without_a_worker_is_an_error_only_if_work_waits():
    idle = [Queue("FE", workers=1), Queue("BE")]
    assert workers.check_roles(idle).level == OK
    queues = [Queue("FE", workers=1), Queue("BE", ready=3), Queue("QA", ready=1)]
    stuck = workers.check_roles(queues)
    assert stuck.level == BAD
    assert "BE (3), QA (1)" in stuck.msg
    assert "-Q BE,QA" in stuck.hint


def test_the_control_queue_without_a_worker_is_an_error():
    assert levels(workers.check_engine_queues([Queue("control"), Queue("notices")])) == [BAD, WARN]
    assert levels(workers.check_engine_queues([Queue("control", workers=2), Queue("FE")])) == [OK]


@pytest.mark.parametrize(
    "queues, level",
    [
        ([Queue("FE", workers=1, probe_seconds=30.0)], OK),
        ([Queue("FE", workers=1, probe_seconds=90.1)], WARN),
        ([Queue("FE", workers=0, probe_seconds=900.0)], OK),
        ([Queue("FE", workers=1, probe_seconds=None)], OK),
    ],
)
def test_workers_that_consume_nothing_are_a_warning(queues, level):
    assert workers.check_probes(queues).level == level


@pytest.mark.parametrize("seconds, level", [(None, OK), (60.0, OK), (61.0, WARN)])
def test_work_that_waits_long_is_reported_with_its_role(seconds, level):
    message = workers.check_oldest([Queue("FE", ready=1, oldest=seconds), Queue("BE")])
    assert message.level == level
    assert level == OK or "FE" in message.msg


# --- upkeep ------------------------------------------------------------------------------------------


def sent(seconds: float | None = 3.0, **enabled: bool) -> list[Maintenance]:
    return [Maintenance(task, enabled.get(task.replace("dure.", ""), True), seconds) for task in MAINTENANCE]


def test_a_missing_leading_beat_is_an_error():
    assert maintenance.check_beat([]).level == BAD
    assert maintenance.check_beat([12.0]).level == OK


@pytest.mark.parametrize(
    "tasks, level",
    [
        (sent(), OK),
        (sent(60.1), BAD),
        (sent(None), WARN),
        (sent(sweep=False), BAD),
        (sent(retention=False), WARN),
        ([], BAD),
        ([task for task in sent() if task.task != "dure.send_queue_probes"], WARN),
    ],
)
def test_maintenance_must_be_enabled_and_sent(tasks, level):
    assert maintenance.check_maintenance(tasks).level == level
    assert SWEEP in MAINTENANCE


@pytest.mark.parametrize("count, seconds, level", [(0, 0.0, OK), (1, 3.0, WARN), (1, 16.0, BAD)])
def test_expired_leases_that_are_not_rescued_are_an_error(count, seconds, level):
    assert maintenance.check_leases(count, seconds).level == level


def test_overdue_schedules_and_late_retention_are_reported():
    assert maintenance.check_overdue("schedules", -50.0).level == OK
    assert maintenance.check_overdue("schedules", 10.1).level == BAD
    assert maintenance.check_retention(None, 30).level == OK
    assert maintenance.check_retention(30.9 * DAY, 30).level == OK
    assert maintenance.check_retention(31.1 * DAY, 30).level == WARN


# --- outgoing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "silent, level", [(None, BAD), ([], BAD), ([30_001, 99_999], BAD), ([99_999, 200], OK)]
)
def test_a_listener_counts_if_it_read_recently(silent, level):
    assert exports_checks.check_listener(silent).level == level


def test_messages_that_wait_too_long_are_reported():
    assert exports_checks.check_outbox(0, 0.0).level == OK
    assert exports_checks.check_outbox(9, 59.0).level == OK
    assert exports_checks.check_outbox(9, 61.0).level == BAD
    assert exports_checks.check_notifications(9, 61.0).level == WARN
    assert exports_checks.check_dead_letters(1).level == WARN
    assert exports_checks.check_webhooks(1).level == WARN
    assert exports_checks.check_dead_letter_stream(201, 100).level == WARN
    assert exports_checks.check_dead_letter_stream(150, 100).level == OK
    assert (
        levels(
            [
                exports_checks.check_notifications(0, 0.0),
                exports_checks.check_dead_letters(0),
                exports_checks.check_webhooks(0),
            ]
        )
        == [OK] * 3
    )


# --- exports and addresses ---------------------------------------------------------------------------


@pytest.mark.parametrize("free, level", [(10 * 2**30, OK), (2**30, WARN), (100 * 2**20, BAD)])
def test_a_nearly_full_disk_is_reported(free, level):
    assert exports_checks.check_free_space(free, Path("/srv/exports")).level == level


def test_a_folder_is_checked_by_writing_into_it(tmp_path):
    assert exports_checks.check_folder("exports", "DURE_EXPORT_PATH", tmp_path).level == OK
    assert exports_checks.check_folder("exports", "DURE_EXPORT_PATH", tmp_path / "new" / "deep").level == OK
    assert list(tmp_path.iterdir()) == []
    # Not even root can write there.
    refused = exports_checks.check_folder("exports", "DURE_EXPORT_PATH", Path("/proc/self"))
    assert refused.level == BAD
    assert "DURE_EXPORT_PATH" in refused.hint


def test_the_font_and_the_codec_are_installed():
    assert levels([exports_checks.check_font(), exports_checks.check_codec()]) == [OK, OK]


URL = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "alive, ready, level",
    [("", "", OK), (200, 200, OK), (200, 503, BAD), (404, 404, WARN), ("reset", "", WARN)],
)
def test_the_web_address_is_checked_for_our_process(alive, ready, level):
    assert addresses.check_web(URL, alive, ready).level == level


@pytest.mark.parametrize("answer, level", [("", OK), (401, OK), (200, BAD), (500, WARN), ("reset", WARN)])
def test_a_flower_without_a_password_is_an_error(answer, level):
    assert addresses.check_flower(URL, answer).level == level


@pytest.mark.parametrize(
    "value, level",
    [("", OK), ("admin:long-enough-for-this", OK), ("admin:short", BAD), ("nocolonbutverylong", BAD)],
)
def test_the_password_of_flower_is_checked_and_never_shown(value, level):
    message = addresses.check_flower_password(value)
    assert message.level == level
    assert not value or value.rpartition(":")[2] not in f"{message.msg}{message.hint}"
