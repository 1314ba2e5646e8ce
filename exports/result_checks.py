"""Checks the files of results in a thread beside the listener's loop, so that a large file delays no other
message.

A message under check is not acknowledged. If this process dies, another listener takes the message over and
checks the file again.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import takewhile

from django.conf import settings

from exports.files import Placed, Store
from exports.messages import RESULTS, BadMessage, Result, parse_result
from exports.models import ExportJob
from exports.results import Expectation, Verdict, inspect, names_file
from exports.states import LIVE
from exports.streams import Entry
from jobs.models import Execution
from jobs.states import ExecutionStatus

# How long a listener waits for small files, instead of applying their results in its next pass.
SHORT_WAIT_SECONDS = 0.05


class Stopped(Exception):
    """The listener ends; the check is repeated by another one."""


@dataclass(frozen=True, slots=True)
class Check:
    entry: Entry
    job_id: int
    verdict: "Future[Verdict | None]"


class ResultChecks:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "result-check")
        self._stopping = threading.Event()
        # By the id of the message, in the order of arrival.
        self._checks: dict[str, Check] = {}

    @property
    def entry_ids(self) -> list[str]:
        return list(self._checks)

    def has(self, entry: Entry) -> bool:
        """Ids are unique within a stream only."""
        return entry.stream == RESULTS and entry.id in self._checks

    @property
    def job_ids(self) -> set[int]:
        return {check.job_id for check in self._checks.values()}

    def start(self, entries: Sequence[Entry]) -> list[Entry]:
        """Starts the checks of results; answers the other messages, which need none."""
        parsed = [(entry, _parse_result(entry)) for entry in entries]
        expected = expected_results(result.job_id for _, result in parsed if result is not None)
        others = [
            entry for entry, result in parsed if result is None or not self._add(entry, result, expected)
        ]
        if len(others) < len(entries):
            wait([check.verdict for check in self._checks.values()], SHORT_WAIT_SECONDS)
        return others

    def take_finished(self) -> tuple[list[Entry], dict[str, Verdict]]:
        """The messages that have been checked, and the verdicts by their ids."""
        finished = list(takewhile(lambda check: check.verdict.done(), self._checks.values()))
        for check in finished:
            del self._checks[check.entry.id]
        verdicts = {check.entry.id: check.verdict.result() for check in finished}
        return [check.entry for check in finished], {
            own_id: verdict for own_id, verdict in verdicts.items() if verdict is not None
        }

    def stop(self) -> None:
        self._stopping.set()
        self._thread.shutdown(cancel_futures=True)

    def _add(self, entry: Entry, result: Result, expected: Mapping[int, Expectation]) -> bool:
        """Whether the result must be checked, or wait for the check of an earlier one: the first one wins."""
        if entry.id in self._checks:
            return True
        expectation = expected.get(result.job_id) if names_file(result) else None
        if expectation is None and result.job_id not in self.job_ids:
            return False
        verdict = self._thread.submit(self._check, result, expectation)
        self._checks[entry.id] = Check(entry, result.job_id, verdict)
        return True

    def _check(self, result: Result, expected: Expectation | None) -> Verdict | None:
        if expected is None:
            return None
        return inspect(Store(settings.DURE_EXPORT_PATH), result, expected, self._raise_if_stopping)

    def _raise_if_stopping(self, _size: int) -> None:
        if self._stopping.is_set():
            raise Stopped


def _parse_result(entry: Entry) -> Result | None:
    if entry.stream != RESULTS or entry.raw is None:
        return None
    try:
        return parse_result(entry.raw)
    except BadMessage:
        return None  # it is dead-lettered with the others


def expected_results(job_ids: Iterable[int]) -> dict[int, Expectation]:
    """What is known about the results of these exports; without those that have ended, or do not exist."""
    ids = set(job_ids)
    jobs = list(ExportJob.objects.filter(pk__in=ids, status__in=LIVE)) if ids else []
    runs = Execution.objects.filter(
        pk__in=[job.execution_id for job in jobs if job.execution_id], status=ExecutionStatus.SUCCESS
    )
    own_output: dict[object, Placed] = {}
    for execution_id, result in runs.values_list("pk", "result"):
        if result is not None:
            own_output[execution_id] = Placed(result["sizeBytes"], result["checksum"])
    return {job.pk: Expectation(job.output, own_output.get(job.execution_id)) for job in jobs}
