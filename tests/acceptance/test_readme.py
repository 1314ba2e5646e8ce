"""The commands of the README, pasted into a shell beside a running system."""

import json
import os
import re
import shutil
import subprocess
from typing import Any

import pytest

from tests.acceptance.system import CHECKOUT

# Where CI runs it must be there.
needs_curl = pytest.mark.skipif(
    not shutil.which("curl") and not os.environ.get("DURE_CI"), reason="needs curl, as the README does"
)


def pasted() -> str:
    return "\n".join(
        re.findall(r"<!-- tested -->\n```sh\n(.*?)```", (CHECKOUT / "README.md").read_text(), re.DOTALL)
    )


def documents(text: str) -> list[Any]:
    """The JSON documents that were printed one after the other."""
    decoder, found = json.JSONDecoder(), []
    while text := text.strip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found


@needs_curl
def test_what_the_readme_says_to_paste_submits_jobs_and_shows_them(stack, tmp_path):
    (tmp_path / "var").symlink_to(stack.home)
    done = subprocess.run(
        ["/bin/sh", "-eu"],
        input=pasted(),
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
    assert [one["ref"] for one in submission["jobs"]] == ["sum", "pause", "last"]
    assert batches["results"][0]["name"] == "my first batch"
    assert last["id"] == submission["jobs"][2]["id"]
    assert "reasons" in explanation
