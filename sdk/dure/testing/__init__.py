"""Runs a Task, or an operation of a step queue, in a test as a worker would, without a server.

from dure.testing import run

def test_an_order_is_packed():
    attempt = run(pack, order=17)
    assert attempt.result == {"boxes": 2}
    assert attempt.progress[-1] == (1.0, "packed")
"""

from dure.testing.fake_context import FakeContext
from dure.testing.fake_step_run import FakeStepRun
from dure.testing.output import LogLine
from dure.testing.steps import OperationAttempt, run_operation
from dure.testing.submissions import Submission
from dure.testing.tasks import Attempt, run

__all__ = [
    "Attempt",
    "FakeContext",
    "FakeStepRun",
    "LogLine",
    "OperationAttempt",
    "Submission",
    "run",
    "run_operation",
]
