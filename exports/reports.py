"""The results of our own runs, as the messages that a foreign worker would send."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from dure.failures import FailureType
from exports import outbox, sql
from exports.failures import on_one_line, text
from exports.messages import MAX_TEXT, RESULTS, Result
from exports.states import ErrorCode, Status
from jobs.answers import Settlement
from jobs.sql import call
from jobs.states import ExecutionStatus

UNREPORTED_AFTER = timedelta(seconds=10)


def report_missing_results(now: datetime) -> int:
    """Sends the result again of every run that ended while its result did not arrive."""
    with transaction.atomic():
        rows = call.rows(sql.UNREPORTED, [now - UNREPORTED_AFTER])
        reports = [
            report_of(job_id, state, json.loads(result or "null"), failure_type, error)
            for job_id, state, result, failure_type, error in rows
        ]
        outbox.put([(RESULTS, report.fields()) for report in reports], now)
    return len(rows)


def report_end(settlement: Settlement, now: datetime) -> None:
    """Sends the result of the engine's run of an export, in the transaction that ended the run."""
    report = report_of(
        int(settlement.source),
        settlement.state,
        settlement.result,
        settlement.failure_type,
        settlement.error,
    )
    outbox.put([(RESULTS, report.fields())], now)


def report_of(job_id: int, state: str, outcome: Any, failure_type: str, error: str) -> Result:
    """The end of our own run, as the message that a foreign worker would send."""
    if state == ExecutionStatus.SUCCESS:
        return Result(
            job_id, Status.SUCCEEDED, outcome["resultUri"], outcome["checksum"], "", outcome.get("note", "")
        )
    if state == ExecutionStatus.CANCELLED:
        return Result(job_id, Status.CANCELLED)
    code, message = failure(failure_type, error)
    return Result(job_id, Status.FAILED, error_code=code, error_message=on_one_line(message, MAX_TEXT))


def failure(failure_type: str, error: str) -> tuple[str, str]:
    """Error code and message. The failures of our renderer begin with their code."""
    code, _, message = error.partition(": ")
    if code in ErrorCode.values:
        return code, message
    match failure_type:
        case FailureType.TIMEOUT:
            return ErrorCode.TIMEOUT, text("timeout")
        case FailureType.POISON | FailureType.WORKER_LOST:
            return ErrorCode.WORKER_LOST, text("worker_lost")
    return ErrorCode.RENDER_FAILED, text("render_failed", reason=error)
