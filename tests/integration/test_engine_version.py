"""The database records the engine's version, and code that it does not serve refuses to start."""

import pytest
from celery import signals
from django.core import checks
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from jobs.sql import call, engine
from jobs.worker.bootstep import refuse_unknown_engine
from scheduler.periodic_tasks import SWEEP, apply_sweep_interval

pytestmark = pytest.mark.django_db


def database_has(version: int, oldest: int) -> None:
    """Changes the engine's version until the end of the test's transaction."""
    for name, value in (("dure_engine_version", version), ("dure_engine_oldest_caller", oldest)):
        call.change(f"CREATE OR REPLACE FUNCTION {name}() RETURNS integer LANGUAGE sql AS 'SELECT {value}'")


def warnings() -> list[str]:
    return [
        str(check.hint)
        for check in checks.run_checks(tags=[checks.Tags.database], databases=["default"])
        if check.id == "jobs.W002"
    ]


def test_a_worker_starts_with_the_engine_that_its_code_expects():
    refuse_unknown_engine()
    assert warnings() == []


def test_a_worker_starts_with_a_newer_engine_that_still_serves_it():
    database_has(engine.expected_version() + 1, oldest=engine.expected_version())
    refuse_unknown_engine()
    assert warnings() == []


def test_a_worker_refuses_an_older_engine():
    database_has(engine.expected_version() - 1, oldest=1)
    with pytest.raises(SystemExit, match=r"needs .* Run `python manage.py migrate`"):
        refuse_unknown_engine()
    assert warnings() == ["Run `python manage.py migrate`."]


def test_a_worker_refuses_an_engine_that_no_longer_serves_it():
    database_has(engine.expected_version() + 2, oldest=engine.expected_version() + 1)
    with pytest.raises(SystemExit, match="Install a newer release"):
        refuse_unknown_engine()


def test_a_worker_refuses_a_database_without_an_engine():
    call.change("DROP FUNCTION dure_engine_version()")
    with pytest.raises(SystemExit, match="no engine"):
        refuse_unknown_engine()


def test_celery_calls_the_check_when_a_worker_starts():
    assert refuse_unknown_engine in signals.worker_init._live_receivers(None)


@pytest.mark.parametrize(
    ("seconds", "every", "period"), [(5, 5, "seconds"), (7, 7, "seconds"), (0.25, 250_000, "microseconds")]
)
def test_the_sweep_runs_as_often_as_the_setting_says(settings, seconds, every, period):
    settings.DURE_SWEEP_SECONDS = seconds
    if not PeriodicTask.objects.filter(task=SWEEP).exists():
        interval, _ = IntervalSchedule.objects.get_or_create(every=60, period="seconds")
        PeriodicTask.objects.create(name="dure: sweep", task=SWEEP, interval=interval)
    apply_sweep_interval()
    apply_sweep_interval()
    interval = PeriodicTask.objects.get(task=SWEEP).interval
    assert (interval.every, interval.period) == (every, period)
