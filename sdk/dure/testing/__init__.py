"""Runs a Task in a test as a worker would, without a server.

from dure.testing import run

def test_an_order_is_packed():
    attempt = run(pack, order=17)
    assert attempt.result == {"boxes": 2}
    assert attempt.progress[-1] == (1.0, "packed")
"""

from dure.testing.attempt import Attempt, run
from dure.testing.fake_context import FakeContext
from dure.testing.output import LogLine
from dure.testing.submissions import Submission

__all__ = ["Attempt", "FakeContext", "LogLine", "Submission", "run"]
