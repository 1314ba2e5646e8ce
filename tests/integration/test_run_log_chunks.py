"""The chunks of a run's log: who may write them, and how they are read and deleted."""

import logging
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from threading import Thread

import pytest
from django.utils import timezone

from config.logs import LineFormatter
from jobs import retention
from jobs.models import Execution, RunLogChunk
from jobs.run_logs import current, reading
from jobs.run_logs.buffer import FLUSH_ABOVE, RunLog
from jobs.run_logs.capture import RunLogHandler
from jobs.run_logs.lines import LOG, LONGEST_LINE, STDERR, STDOUT, seq_of
from jobs.run_logs.reading import NEWEST, Selection
from jobs.run_logs.writer import Writer, write
from tests.factories import a_job, an_office, fresh, running, running_start

pytestmark = pytest.mark.django_db


def log_of(claimed, limit: int = 2**20) -> RunLog:
    return RunLog(claimed.claim, limit)


def a_log(*texts: str, limit: int = 2**20) -> RunLog:
    """The written log of a running job, a batch for each text."""
    log = log_of(running(a_job(an_office())), limit)
    for text in texts:
        log.print(STDOUT, text)
        assert write(log)
    return log


def execution_of(log: RunLog) -> Execution:
    return Execution.objects.get(pk=log.claim.execution_id)


def run_of(job):
    run = fresh(job).execution
    assert run is not None
    return run.pk


def messages(entries) -> list[str]:
    return [entry.line.message for entry in entries]


def numbered(first: int, last: int) -> str:
    return "".join(f"{number}\n" for number in range(first, last + 1))


def test_a_worker_that_lost_its_run_writes_nothing_more():
    job = a_job(an_office())
    old = running(job)
    log = log_of(old)
    log.print(STDOUT, "while it owned the run\n")
    assert write(log)
    old.lose()
    newer = log_of(running(job, token="again"))
    log.print(STDOUT, "afterwards\n")
    assert not write(log)
    log.print(STDOUT, "and later\n")
    assert write(log)
    newer.print(STDOUT, "the next attempt\n")
    assert write(newer)
    lines = reading.lines_after(run_of(job), 0, 10)
    assert [(line.attempt, line.line.message) for line in lines] == [
        (1, "while it owned the run"),
        (2, "the next attempt"),
    ]


def test_lines_that_were_written_before_are_not_written_twice():
    log = a_log()
    log.print(STDOUT, "once\n")
    lines = log.take()
    log.put_back(lines)
    assert write(log)
    log.put_back(lines)
    assert write(log)
    assert messages(reading.lines_after(execution_of(log).pk, 0, 10)) == ["once"]


def test_lines_that_could_not_be_written_go_when_younger_ones_had_to_go():
    log = log_of(running(a_job(an_office())), 10_000)
    log.print(STDOUT, "before\n")
    failed = log.take()
    log.print(STDOUT, numbered(2, 2_000))
    log.put_back(failed)
    assert write(log)
    run = execution_of(log)
    kept = list(reading.entries(run.pk))
    assert [(entry.seq, entry.line.message) for entry in kept] == [
        (seq_of(1, number), str(number)) for number in range(2_001 - len(kept), 2_001)
    ]
    assert reading.cut_lines(run) == {1: 2_000 - len(kept)}


def test_the_writer_hears_of_the_first_line_and_of_many():
    notices: list[bool] = []
    log = RunLog(running(a_job(an_office())).claim, 2**20, notices.append)
    for _ in range(2):
        log.print(STDOUT, numbered(1, 100))
        assert notices == [False]
        log.print(STDOUT, "x" * FLUSH_ABOVE + "\n")
        log.print(STDOUT, numbered(1, 100))
        assert notices == [False, True]
        assert log.take().lines
        notices.clear()
    log.print(STDOUT, "the beginning of a line")
    assert notices == [False]


def test_the_text_of_a_record_is_the_message_and_its_traceback():
    """Also when the worker's own log has made the text before, and has found no secret in it."""
    claim = replace(running(a_job(an_office())).claim, args={"api_key": "k3y-of-alice"})
    log = RunLog(claim, 2**20)
    logger = logging.getLogger("an app with handlers of its own")
    logger.propagate = False
    own = logging.StreamHandler(StringIO())
    own.setFormatter(LineFormatter("%(name)s %(message)s"))
    logger.handlers = [own, RunLogHandler()]
    with current.active(log):
        logger.info("one %s", "argument")
        logger.warning("\0 password=hunter2")
        logger.warning("k3y-of-alice")
        logger.info("%s", "word " * LONGEST_LINE)
        try:
            raise ValueError("token=abc")
        except ValueError:
            logger.exception("it failed")
    logger.info("after the run")
    write(log)
    *entries, traceback = reading.entries(execution_of(log).pk)
    first, *rest = messages(entries)
    assert (first, rest[:2]) == ("one argument", ["\ufffd password=***", "***"])
    assert "".join(rest[2:]) == "word " * LONGEST_LINE
    assert len(rest) > 6
    assert traceback.line.message.startswith("it failed\nTraceback")
    assert traceback.line.message.endswith("ValueError: token=***")
    assert (traceback.origin, traceback.level) == (logger.name, "ERROR")


def test_lines_are_read_from_any_line_in_both_directions():
    log = a_log(*(numbered(10 * part + 1, 10 * part + 10) for part in range(20)))
    run = execution_of(log).pk
    for after in (0, 1, 9, 10, 11, 115, 200):
        page = reading.lines_after(run, seq_of(1, after), 95)
        assert messages(page) == [str(number) for number in range(after + 1, min(after + 96, 201))]
    for before in (1, 2, 11, 12, 115, 201):
        page = reading.lines_before(run, seq_of(1, before), 95)
        assert messages(page) == [str(number) for number in range(max(1, before - 95), before)]
    assert messages(reading.lines_before(run, NEWEST, 3)) == ["198", "199", "200"]


def test_lines_are_selected_by_attempt_level_and_text():
    job = a_job(an_office())
    first = running(job)
    log = log_of(first)
    log.print(STDOUT, "Alpha\n")
    log.print(STDERR, "alphabet\n")
    log.add(40, LOG, "app", ["beta\nalpha"])
    write(log)
    first.lose()
    again = log_of(running(job, token="again"))
    again.print(STDOUT, "alpha again\n")
    write(again)
    run = run_of(job)

    def selected(**values):
        return messages(reading.lines_after(run, 0, 10, Selection(**values)))

    assert selected(attempt=2) == ["alpha again"]
    assert selected(level=30) == ["alphabet", "beta\nalpha"]
    assert selected(level=50) == []
    assert selected(text="ALPHA", attempt=1) == ["Alpha", "alphabet", "beta\nalpha"]


def test_the_end_of_a_long_log_is_kept_and_says_what_was_cut():
    line = "x" * 1_000 + "\n"
    log = a_log(*(line * 50 for _ in range(10)), limit=200_000)
    run = execution_of(log)
    kept = list(reading.entries(run.pk))
    assert kept[-1].seq == seq_of(1, 500)
    assert 100 < len(kept) < 200
    assert reading.cut_lines(run) == {1: 500 - len(kept)}
    assert next(reading.text_lines(run)).startswith(f"[attempt 1: {500 - len(kept)} lines")
    size = sum(RunLogChunk.objects.filter(execution_id=run.pk).values_list("size", flat=True))
    assert size <= 200_000


def test_more_than_the_limit_at_once_keeps_the_end():
    log = a_log(numbered(1, 50_000), limit=100_000)
    run = execution_of(log)
    assert messages(reading.lines_before(run.pk, NEWEST, 1)) == ["50000"]
    assert reading.cut_lines(run)[1] > 40_000


def test_a_log_is_deleted_with_its_execution():
    for run in (running(a_job(an_office())), running_start()):
        log = log_of(run)
        log.print(STDOUT, "a line\n")
        assert write(log)
        run.finish()
    assert RunLogChunk.objects.count() == 2
    later = timezone.now() + timedelta(days=1)
    retention.delete_in_turn(retention.steps(later, later, 100), 100, float("inf"))
    assert not RunLogChunk.objects.exists()


def test_the_end_of_a_run_waits_for_what_a_thread_is_writing():
    log = log_of(running(a_job(an_office())))
    log.print(STDOUT, "late\n")
    ending = Thread(target=Writer().finish, args=[log])
    with log.writing:
        log.take()
        ending.start()
        ending.join(0.2)
        assert ending.is_alive()
    ending.join(60)
    assert not ending.is_alive()
