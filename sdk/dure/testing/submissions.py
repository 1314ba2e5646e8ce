"""What a body submits, checked as far as a test can: the server knows the Tasks of all workers."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dure import definitions
from dure.failures import InvalidArgs, describe

# In arguments, these stand for values that are known when the job starts.
REFERENCES = ('"$result"', '"$input"')


@dataclass(frozen=True)
class Submission:
    """One call of `ctx.submit`."""

    key: str
    jobs: list[dict[str, Any]]
    ids: list[str]


def check(jobs: Sequence[Mapping[str, Any]]) -> None:
    """Raises InvalidArgs for what the server would refuse."""
    if not jobs:
        raise InvalidArgs("jobs: at least one job is required.")
    refs = [job["ref"] for job in jobs if job.get("ref")]
    for number, job in enumerate(jobs):
        where = f"jobs.{number}"
        if not isinstance(job.get("task_id"), str):
            raise InvalidArgs(f"{where}.task_id: this field is required.")
        if refs.count(job.get("ref")) > 1:
            raise InvalidArgs(f"{where}.ref: {job['ref']!r} occurs more than once.")
        for name in job.get("depends_on") or ():
            if name == job.get("ref") or not (name in refs or _is_id(name)):
                raise InvalidArgs(f"{where}.depends_on: {name!r} is neither a ref of this call nor an id.")
        try:
            json.dumps(job, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidArgs(f"{where}: {error}") from None
        _check_args(where, job["task_id"], job.get("args") or {})


def _check_args(where: str, task_id: str, args: Mapping[str, Any]) -> None:
    """By the type hints of the Task, if this process knows it, without values that are not known yet."""
    try:
        definition = definitions.find(task_id)
    except definitions.UnknownTask:
        return
    later = {name for name, value in args.items() if any(each in json.dumps(value) for each in REFERENCES)}
    try:
        definition.args_model.model_validate(args)
    except ValidationError as error:
        wrong = [each for each in error.errors() if not each["loc"] or each["loc"][0] not in later]
        if wrong:
            raise InvalidArgs(f"{where}.args: {describe(error)}") from None


def _is_id(name: object) -> bool:
    try:
        uuid.UUID(str(name))
    except ValueError:
        return False
    return True
