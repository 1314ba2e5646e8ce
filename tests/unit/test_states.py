"""The states are defined once and are consistent."""

import re

import pytest

from dure.failures import RETRYABLE, FailureType
from jobs import states
from jobs.sql import engine
from jobs.states import ExecutionStatus, JobStatus


def test_every_state_is_either_ended_or_live():
    assert {*states.JOB_ENDED, *states.JOB_LIVE} == set(JobStatus)
    assert not {*states.JOB_ENDED} & {*states.JOB_LIVE}
    assert {*states.EXECUTION_ENDED, *states.EXECUTION_LIVE} == set(ExecutionStatus)
    assert not {*states.EXECUTION_ENDED} & {*states.EXECUTION_LIVE}
    assert {*states.JOB_WAITING} < {*states.JOB_LIVE}


@pytest.mark.parametrize(
    "failure",
    ["git_conflict", "permission_error", "dependency_failed", "invalid_args", "cancelled", "poison"],
)
def test_failures_that_a_retry_would_not_help_are_not_retried(failure):
    assert FailureType(failure) not in RETRYABLE


def test_every_state_of_an_execution_has_a_name_in_the_v1_contract():
    assert set(states.V1_EXECUTION_STATUS) == set(ExecutionStatus)


def test_the_sql_names_no_unknown_state():
    """A misspelt literal in the SQL would match nothing without an error."""
    existing = {
        value
        for choices in (
            states.JobStatus,
            states.ExecutionStatus,
            states.Trigger,
            states.Outcome,
            FailureType,
            states.OnDependencyFailure,
            states.OnLost,
            states.Backoff,
            states.EventType,
        )
        for value in map(str, choices)
    }
    # The functions, and the statements beside them.
    sources = (engine.TEXT, *sorted(engine.TEXT.parent.glob("*.py")))
    text = re.sub(r"--.*", "", "\n".join(source.read_text() for source in sources))
    compared = re.findall(
        r"(?:status|policy|failure|outcome|on_lost|type)\w*(?: \|\| '')? (?:=|<>|:=) '(\w+)'", text
    )
    compared += [
        word
        for group in re.findall(r"status(?: \|\| '')? (?:NOT )?IN \(([^)]*)\)", text)
        for word in re.findall(r"'(\w+)'", group)
    ]
    assert len(compared) > 60
    assert set(compared) <= existing
