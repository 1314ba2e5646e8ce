"""The Python of the guides to Tasks and operations works as it stands, with the package `dure` alone."""

import os
import subprocess
import sys

from tests.acceptance.shell import command_blocks
from tests.acceptance.system import CHECKOUT


def test_the_examples_of_the_guides_pass_their_tests(tmp_path):
    task, test = command_blocks("docs/tasks.md", "python")
    (own,) = command_blocks("docs/own-repository.md", "python")
    (steps,) = command_blocks("docs/step-queues.md", "python")
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / "words.py").write_text(task)
    (tmp_path / "test_count_words.py").write_text(test)
    (tmp_path / "test_shop.py").write_text(f"def test_shop():\n    exec({own!r}, {{}})\n")
    (tmp_path / "test_steps.py").write_text(f"def test_steps():\n    exec({steps!r}, {{}})\n")
    folders = [tmp_path, CHECKOUT / "sdk", CHECKOUT / "examples" / "own-repository"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:django",
            "--rootdir",
            tmp_path,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr
