"""The commands of the README work in a shell, against a running system."""

import json
import os
import shutil
from typing import Any

import pytest

from tests.acceptance.shell import command_blocks, run_script

# CI must have this program.
needs_curl = pytest.mark.skipif(
    not shutil.which("curl") and not os.environ.get("DURE_CI"), reason="needs curl, as the README does"
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
def test_the_commands_of_the_readme_submit_jobs_and_show_them(folder):
    printed = run_script(folder, ["/bin/sh", "-eu"], "\n".join(command_blocks("README.md")))
    job, submission, batches, explanation, last = documents(printed)
    assert (job["task_id"], job["urgent"]) == ("demo.sum", True)
    assert [row["ref"] for row in submission["jobs"]] == ["sum", "pause", "last"]
    assert batches["results"][0]["name"] == "my first batch"
    assert last["id"] == submission["jobs"][2]["id"]
    assert "reasons" in explanation
