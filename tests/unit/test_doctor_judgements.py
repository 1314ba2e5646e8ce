"""What the doctor makes of what it has seen: each judgement is a function of plain values."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from config.doctor import (
    addresses,
    environment,
    files,
    keeping,
    outgoing,
    packages,
    postgresql,
    redis_server,
    schema,
    upkeep,
    workers_seen,
    zones,
)
from config.doctor.finding import Finding, Level
from config.doctor.upkeep import MAINTENANCE, SWEEP, Sent
from config.doctor.workers_seen import Queue

OK, WARN, BAD = Level.OK, Level.WARN, Level.BAD
DAY = 86_400


def levels(findings: Iterable[Finding]) -> list[Level]:
    return [one.level for one in findings]


def one(findings: Iterable[Finding]) -> Finding:
    (found,) = list(findings)
    return found


# --- packages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version, level", [((3, 11, 0), OK), ((3, 14, 2), OK), ((3, 10, 9), BAD)])
def test_an_old_python_is_bad(version, level):
    assert packages.python(version).level == level


@pytest.mark.parametrize(
    "installed, level, said",
    [
        ({"django": "5.2.19", "redis": "8.1.0"}, OK, "all 2"),
        ({"django": "5.2.1", "redis": "8.1.0"}, WARN, "django 5.2.1 instead of 5.2.19"),
        ({"django": "5.2.1"}, BAD, "redis 8.1.0"),
    ],
)
def test_packages_are_compared_with_the_lock(installed, level, said):
    found = packages.packages({"django": "5.2.19", "redis": "8.1.0"}, installed.get)
    assert found.level == level
    assert said in found.found


def test_the_lock_is_read_with_its_markers_and_extras():
    text = (
        "amqp==5.4.2 \\\n    --hash=sha256:aa\n    # via kombu\n"
        "old==1.0 ; python_version < '3' \\\n    --hash=sha256:bb\n"
        "new[extra]==2.0 ; python_version >= '3' \\\n    --hash=sha256:cc\n"
        "# bare==9\n"
    )
    assert packages.locked(text) == {"amqp": "5.4.2", "new": "2.0"}


def test_the_repositorys_own_lock_is_what_is_installed_here():
    wanted = packages.locked(packages.LOCK.read_text())
    assert len(wanted) > 30
    assert packages.packages(wanted, packages.installed).level == OK


# --- settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("heartbeat, level", [(10.0, OK), (15.0, OK), (15.1, BAD), (40.0, BAD)])
def test_a_heartbeat_that_may_not_be_late_once_is_bad(heartbeat, level):
    assert one(environment.leases(30.0, heartbeat, 5.0)).level == level


def test_debug_is_worth_a_look_wherever_it_is_on():
    assert environment.where_it_runs("development", True).level == WARN
    assert environment.where_it_runs("development", False).level == OK
    assert environment.where_it_runs("production", False).level == OK


@pytest.mark.parametrize(
    "names, level", [({"UTC", "Asia/Seoul"}, OK), ({"UTC", "Asia/Atlantis"}, BAD), ({"../etc/passwd"}, BAD)]
)
def test_a_zone_without_data_is_bad(names, level):
    found = zones.zones(names)
    assert found.level == level


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
def test_clocks_that_differ_are_told_by_what_the_question_cannot_explain(apart, took, level):
    assert postgresql.clock(apart, took).level == level


def test_a_clock_is_told_which_way_it_is_wrong():
    assert "ahead of" in postgresql.clock(9.0, 0.0).found
    assert "behind" in postgresql.clock(-9.0, 0.0).found


def test_a_pooler_is_known_by_the_process_that_it_cannot_name():
    assert postgresql.pooler(4711, 4711).level == OK
    assert postgresql.pooler(4711, 12).level == WARN


@pytest.mark.parametrize(
    "said, word",
    [
        ('FATAL:  password authentication failed for user "dure"', "password"),
        ('FATAL:  database "dure" does not exist', "createdb"),
        ("FATAL:  sorry, too many clients already", "max_connections"),
        ("Connection refused", "start it"),
    ],
)
def test_each_way_of_not_connecting_has_its_advice(said, word):
    assert word in postgresql.advice(said)


def test_missing_migrations_are_named_and_counted():
    assert schema.missing_migrations([]).level == OK
    found = schema.missing_migrations(["a.1", "b.2", "c.3", "d.4"])
    assert found.level == BAD
    assert found.found == "4 not applied: a.1, b.2, c.3…"
    assert schema.functions(["dure_claim"], 20).level == BAD


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
def test_a_server_that_may_forget_is_told(change, expected):
    assert levels(keeping.durable(SERVER | change)) == expected


def test_fsync_off_is_bad_in_production(settings):
    settings.PRODUCTION = True
    assert levels(keeping.durable(SERVER | {"fsync": "off"})) == [OK, BAD]


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
def test_autovacuum_has_to_be_on_and_to_keep_up(change, tables, level):
    assert one(keeping.vacuum(SERVER | change, tables)).level == level


@pytest.mark.parametrize("used, wanted, level", [(10, 50, OK), (80, 50, WARN), (10, 101, WARN)])
def test_connections_that_run_out_are_told_before_they_do(used, wanted, level):
    assert keeping.connections(100, used, wanted).level == level


# --- Redis -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number, level", [("8.0.1", OK), ("6.2.0", OK), ("6.0.16", BAD), ("", BAD)])
def test_an_old_redis_is_bad(number, level):
    assert redis_server.version(number).level == level


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
def test_a_redis_that_may_drop_keys_is_told(info, expected):
    assert levels(redis_server.memory(info)) == expected


@pytest.mark.parametrize(
    "info, level",
    [
        ({"aof_enabled": 1}, OK),
        ({"aof_enabled": 0}, WARN),
        ({"aof_enabled": 1, "aof_last_write_status": "err"}, BAD),
        ({"aof_enabled": 0, "rdb_last_bgsave_status": "err"}, BAD),
    ],
)
def test_a_redis_that_keeps_nothing_or_cannot_write_is_told(info, level):
    assert redis_server.persistence(info).level == level


def test_a_replica_and_a_cluster_are_bad():
    assert levels(redis_server.standing({"role": "master", "redis_mode": "standalone"})) == []
    assert levels(redis_server.standing({"role": "slave"})) == [BAD]
    assert levels(redis_server.standing({"role": "master", "redis_mode": "cluster"})) == [BAD]


def test_keys_of_ours_are_known_and_others_are_told():
    ours = [
        *("FE", "default\x06\x169", "control", "notices", "_kombu.binding.FE", "unacked_index"),
        *("celery-taskset-meta-join-1.s", "dure:epoch", "dure:1:throttle", "job.requests", "job.deadletter"),
        *("jobs@host.celery.pidbox", "1f2e.reply.celery.pidbox", "celeryev.11"),
    ]
    assert redis_server.foreign(ours) == []
    assert redis_server.foreign(["resque:queue:mail", *ours, "job.others"]) == [
        "resque:queue:mail",
        "job.others",
    ]
    assert redis_server.keyspace(3, []).level == OK
    assert redis_server.keyspace(3, ["resque:queue:mail"]).level == WARN


# --- workers -----------------------------------------------------------------------------------------


def test_no_worker_is_bad_and_a_draining_one_worth_a_look():
    assert levels(workers_seen.heartbeats([], [])) == [BAD]
    assert levels(workers_seen.heartbeats(["a", "b"], [])) == [OK]
    assert levels(workers_seen.heartbeats(["a", "b"], ["b"])) == [OK, WARN]


def test_a_role_without_a_worker_is_bad_only_where_work_waits():
    idle = [Queue("FE", workers=1), Queue("BE")]
    assert one(workers_seen.unserved(idle)).level == OK
    stuck = one(workers_seen.unserved([Queue("FE", workers=1), Queue("BE", ready=3), Queue("QA", ready=1)]))
    assert stuck.level == BAD
    assert "BE (3), QA (1)" in stuck.found
    assert "-Q BE,QA" in stuck.advice


def test_without_a_worker_of_control_lost_work_stays_lost():
    assert levels(workers_seen.engines([Queue("control"), Queue("notices")])) == [BAD, WARN]
    assert levels(workers_seen.engines([Queue("control", workers=2), Queue("FE")])) == [OK]


@pytest.mark.parametrize(
    "queues, level",
    [
        ([Queue("FE", workers=1, canary=30.0)], OK),
        ([Queue("FE", workers=1, canary=90.1)], WARN),
        ([Queue("FE", workers=0, canary=900.0)], OK),
        ([Queue("FE", workers=1, canary=None)], OK),
    ],
)
def test_workers_that_consume_nothing_are_told(queues, level):
    assert workers_seen.canaries(queues).level == level


@pytest.mark.parametrize("seconds, level", [(None, OK), (60.0, OK), (61.0, WARN)])
def test_work_that_waits_long_is_told_with_its_role(seconds, level):
    found = workers_seen.oldest([Queue("FE", ready=1, oldest=seconds), Queue("BE")])
    assert found.level == level
    assert level == OK or "FE" in found.found


# --- upkeep ------------------------------------------------------------------------------------------


def sent(seconds: float | None = 3.0, **enabled: bool) -> list[Sent]:
    return [Sent(task, enabled.get(task.replace("dure.", ""), True), seconds) for task in MAINTENANCE]


def test_without_a_beat_that_leads_everything_stands_still():
    assert upkeep.beat([]).level == BAD
    assert upkeep.beat([12.0]).level == OK


@pytest.mark.parametrize(
    "tasks, level",
    [
        (sent(), OK),
        (sent(60.1), BAD),
        (sent(None), WARN),
        (sent(sweep=False), BAD),
        (sent(retention=False), WARN),
        ([], BAD),
        ([one for one in sent() if one.task != "dure.send_queue_probes"], WARN),
    ],
)
def test_maintenance_has_to_be_enabled_and_sent(tasks, level):
    assert one(upkeep.maintenance(tasks)).level == level
    assert SWEEP in MAINTENANCE


@pytest.mark.parametrize("count, seconds, level", [(0, 0.0, OK), (1, 3.0, WARN), (1, 16.0, BAD)])
def test_leases_that_nobody_rescues_are_bad(count, seconds, level):
    assert upkeep.leases(count, seconds).level == level


def test_what_is_overdue_or_kept_too_long_is_told():
    assert upkeep.overdue("schedules", -50.0).level == OK
    assert upkeep.overdue("schedules", 10.1).level == BAD
    assert upkeep.retention(None, 30).level == OK
    assert upkeep.retention(30.9 * DAY, 30).level == OK
    assert upkeep.retention(31.1 * DAY, 30).level == WARN


# --- outgoing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "silent, level", [(None, BAD), ([], BAD), ([30_001, 99_999], BAD), ([99_999, 200], OK)]
)
def test_a_listener_is_one_that_asked_lately(silent, level):
    assert outgoing.listener(silent).level == level


def test_what_waits_too_long_to_go_out_is_told():
    assert outgoing.outbox(0, 0.0).level == OK
    assert outgoing.outbox(9, 59.0).level == OK
    assert outgoing.outbox(9, 61.0).level == BAD
    assert outgoing.notices(9, 61.0).level == WARN
    assert outgoing.dead_letters(1).level == WARN
    assert outgoing.webhooks(1).level == WARN
    assert levels([outgoing.notices(0, 0.0), outgoing.dead_letters(0), outgoing.webhooks(0)]) == [OK] * 3


# --- exports and addresses ---------------------------------------------------------------------------


@pytest.mark.parametrize("free, level", [(10 * 2**30, OK), (2**30, WARN), (100 * 2**20, BAD)])
def test_a_disk_that_fills_up_is_told_before_it_is_full(free, level):
    assert files.room(free, Path("/srv/exports")).level == level


def test_a_folder_is_tried_by_writing_into_it(tmp_path):
    assert files.folder("exports", "DURE_EXPORT_PATH", tmp_path).level == OK
    assert files.folder("exports", "DURE_EXPORT_PATH", tmp_path / "new" / "deep").level == OK
    assert list(tmp_path.iterdir()) == []
    # Not even root writes there.
    refused = files.folder("exports", "DURE_EXPORT_PATH", Path("/proc/self"))
    assert refused.level == BAD
    assert "DURE_EXPORT_PATH" in refused.advice


def test_films_can_be_made_here():
    assert levels([files.font(), files.codec()]) == [OK, OK]


URL = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "alive, ready, level",
    [("", "", OK), (200, 200, OK), (200, 503, BAD), (404, 404, WARN), ("reset", "", WARN)],
)
def test_a_port_is_asked_who_answers_there(alive, ready, level):
    assert addresses.web_process(URL, alive, ready).level == level


@pytest.mark.parametrize("answer, level", [("", OK), (401, OK), (200, BAD), (500, WARN), ("reset", WARN)])
def test_a_flower_that_lets_anybody_in_is_bad(answer, level):
    assert addresses.flowers_door(URL, answer).level == level


@pytest.mark.parametrize(
    "given, level",
    [("", OK), ("admin:long-enough-for-this", OK), ("admin:short", BAD), ("nocolonbutverylong", BAD)],
)
def test_flowers_password_is_judged_and_never_told(given, level):
    found = addresses.flowers_password(given)
    assert found.level == level
    assert not given or given.rpartition(":")[2] not in found.found + found.advice
