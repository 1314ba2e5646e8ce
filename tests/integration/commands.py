"""Runs management commands and captures their output: in this process, or as a process of their own."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError, call_command

from tests.workers import ROOT

WRONG_USAGE = 2


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*words: object) -> Answer:
    out, err, code = io.StringIO(), io.StringIO(), 0
    try:
        call_command(*(str(word) for word in words), stdout=out, stderr=err)
    except SystemExit as end:
        code = int(end.code or 0)
    except CommandError as wrong:  # argparse's own refusals end a real command with 2
        return Answer(WRONG_USAGE, out.getvalue(), str(wrong))
    return Answer(code, out.getvalue(), err.getvalue())


def run_process(
    *words: object, stdin: Any = subprocess.DEVNULL, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
