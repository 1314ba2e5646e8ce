"""What a run reads besides its arguments: results of dependencies, the input and the time of its workflow.

Read when a body, or a reference in its arguments, asks for it: most runs never do.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from django.conf import settings

from dure import FailureType, TaskFailure
from jobs.references import MalformedReference, MissingValue, Reference, find_references, replace_references
from jobs.specs import NO_OCCASION, Occasion
from jobs.sql import call, statements
from jobs.states import JobStatus


class Results(Mapping[str, Any]):
    """The results of a job's dependencies, by their `ref` or id. Only those that are done have one."""

    def __init__(self, execution_id: str) -> None:
        self._execution_id = execution_id
        self._read: dict[str, Any] = {}

    @cached_property
    def _ids(self) -> dict[str, str]:
        """The id of each dependency that is done, by its id and by its ref."""
        ids: dict[str, str] = {}
        for job_id, ref, status in call.rows(statements.DEPENDENCIES_OF_RUN, [self._execution_id]):
            if status == JobStatus.DONE:
                ids[str(job_id)] = str(job_id)
                if ref:
                    ids[ref] = str(job_id)
        return ids

    @property
    def names(self) -> list[str]:
        """One name for each: its ref, or its id if it has none."""
        return list({job_id: name for name, job_id in self._ids.items()}.values())

    def __getitem__(self, name: str) -> Any:
        job_id = self._ids[name]
        if job_id not in self._read:
            ((text,),) = call.rows(statements.RESULT_OF_JOB, [job_id])
            self._read[job_id] = json.loads(text or "null")
        return self._read[job_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def read_occasion(execution_id: str) -> Occasion:
    rows = call.rows(statements.OCCASION_OF_RUN, [execution_id])
    if not rows:
        return NO_OCCASION
    text, scheduled_for = rows[0]
    return Occasion(json.loads(text or "null"), scheduled_for)


def resolve_args(execution_id: str, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the values of their references. Raises TaskFailure, which is not retried."""
    if not has_references(args):
        return args
    results = Results(execution_id)
    input_of_run: list[Any] = []

    def read(reference: Reference) -> Any:
        if not reference.is_input:
            if reference.name not in results:
                raise MissingValue(f"The dependency {reference.name!r} has no result.")
            return reference.follow(results[reference.name])
        if not input_of_run:
            input_of_run.append(read_occasion(execution_id).input)
        return reference.follow(input_of_run[0])

    try:
        resolved: dict[str, Any] = replace_references(args, read)
    except MissingValue as missing:
        raise TaskFailure(str(missing.args[0]), FailureType.INVALID_ARGS) from None
    size, limit = len(call.as_json(resolved).encode()), settings.DURE_MAX_RESOLVED_ARGS_BYTES
    if size > limit:
        raise TaskFailure(
            f"The arguments with their references have {size} bytes; at most {limit} are allowed. "
            "Write large results to a file and return where it is.",
            FailureType.INVALID_ARGS,
        )
    return resolved


def has_references(args: dict[str, Any]) -> bool:
    try:
        return next(find_references(args), None) is not None
    except MalformedReference:  # an Execution without a job: its arguments were never checked for references
        return False
