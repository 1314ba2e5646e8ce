"""The examples of docs/api.md work, in the shell and in Python, against a running system."""

import re
import sys

from tests.acceptance.shell import command_blocks, run_script
from tests.acceptance.system import CHECKOUT
from tests.acceptance.test_readme import needs_curl

PAGE = CHECKOUT / "docs" / "api.md"


def blocks(language: str) -> str:
    matches = command_blocks("docs/api.md", language)
    assert len(matches) > 10
    return "\n".join(matches)


def test_every_example_on_the_page_is_tested():
    examples = re.findall(r"^```(sh|python)$", PAGE.read_text(), re.MULTILINE)
    assert len(examples) == PAGE.read_text().count("<!-- tested -->")


@needs_curl
def test_the_examples_in_curl_work(folder):
    printed = run_script(folder, ["/bin/sh", "-eu"], blocks("sh"))
    for seen in ('"scheduled"', '"cycle"', '"results"', "FAILED, CANCELED", "SUCCESS, CANCELED", '"phase"'):
        assert seen in printed, seen
    assert "Traceback" not in printed


def test_the_examples_in_python_work(folder):
    lines = re.search(r"<<'END'\n(.*?)END\n", PAGE.read_text(), re.DOTALL)
    (folder / "match.jsonl").write_text(lines[1])
    printed = run_script(folder, [sys.executable, "-"], blocks("python"))
    assert printed.splitlines()[0].startswith("done ")
    assert "scheduled" in printed
    assert "at " in printed or "every" in printed
    picture = (folder / "match.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
