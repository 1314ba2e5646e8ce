"""The commands of the README work in a shell, against a running system."""

import json
import os
import re
import shutil
import subprocess
from typing import Any

import pytest

from tests.acceptance.system import CHECKOUT

# CI must have this program.
needs_curl = pytest.mark.skipif(
    not shutil.which("curl") and not os.environ.get("DURE_CI"), reason="needs curl, as the README does"
)


def readme_commands() -> str:
    return "\n".join(
        re.findall(r"<!-- tested -->\n```sh\n(.*?)```", (CHECKOUT / "README.md").read_text(), re.DOTALL)
    )


def documents(text: str) -> list[Any]:
    """Reads JSON documents printed one after the other."""
    decoder, result = json.JSONDecoder(), []
    while text := text.strip():
        document, end = decoder.raw_decode(text)
        result.append(document)
        text = text[end:]
    return result


@needs_curl
def test_the_commands_of_the_readme_submit_jobs_and_show_them(stack, tmp_path):
    (tmp_path / "var").symlink_to(stack.home)
    done = subprocess.run(
        ["/bin/sh", "-eu"],
        input=readme_commands(),
        cwd=tmp_path,
        env={**os.environ, "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    job, submission, batches, explanation, last = documents(done.stdout)
    assert (job["task_id"], job["urgent"]) == ("demo.sum", True)
    assert [row["ref"] for row in submission["jobs"]] == ["sum", "pause", "last"]
    assert batches["results"][0]["name"] == "my first batch"
    assert last["id"] == submission["jobs"][2]["id"]
    assert "reasons" in explanation
