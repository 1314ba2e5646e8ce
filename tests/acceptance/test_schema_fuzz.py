"""The running system answers as its schema says, whatever it is asked: no 5xx, nothing undocumented.

Shortly here, always with the same seed; `make fuzz` goes on for as long as you like. The requests are those
of a user with an office of their own, so that they change nothing for other tests.
"""

import re
from pathlib import Path

from tests.acceptance.system import System
from tests.fuzz import accounts
from tests.fuzz.run import reached, run

OPTIONS = (
    "--phases=examples,fuzzing",
    "--max-examples=5",
    "--seed=1",
    "--generation-deterministic",
    "--no-shrink",
    # Three requests per operation lack credentials, and would use up the refusals of this address;
    # test_rest_schema sends one.
    "--exclude-checks=ignored_auth",
)


def test_every_operation_answers_as_the_schema_says(stack: System, tmp_path: Path) -> None:
    ended = run(stack, accounts.OWNER, tmp_path, OPTIONS)
    report = (tmp_path / "report").read_text()
    assert ended.returncode == 0, report
    operations = re.search(r"Selected: (\d+)/\1\n +Tested: \1\n", report)
    assert operations, report
    # A run in which every answer is a 404 tests nothing.
    assert len(reached(tmp_path)) >= 0.75 * int(operations[1]), reached(tmp_path)
