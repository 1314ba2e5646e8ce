"""Runs the commands of a page of documentation as its reader does."""

import os
import re
import subprocess
from pathlib import Path

from tests.acceptance.system import CHECKOUT


def command_blocks(page: str, language: str = "sh") -> list[str]:
    text = (CHECKOUT / page).read_text()
    return re.findall(rf"<!-- tested -->\n```{language}\n(.*?)```", text, re.DOTALL)


def run_script(folder: Path, interpreter: list[str], text: str) -> str:
    done = subprocess.run(
        interpreter,
        input=text,
        cwd=folder,
        env={**os.environ, "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout
