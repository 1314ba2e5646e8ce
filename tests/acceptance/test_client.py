"""docs/client.md: the package of sdk/, installed outside of the checkout, against a running system."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

from tests import wheelhouse
from tests.acceptance.system import CHECKOUT

PAGE = CHECKOUT / "docs" / "client.md"
BLOCKS = re.findall(r"<!-- tested -->\n```(sh|python)\n(.*?)```", PAGE.read_text(), re.DOTALL)
INTERPRETERS = {"sh": ["/bin/sh", "-eu"], "python": ["python3", "-W", "error", "-"]}
FOREIGN = re.compile(r"DURE_|PYTHON|VIRTUAL_ENV$")


def test_every_command_of_the_page_works_in_an_environment_of_its_own(folder: Path, office: str) -> None:
    (folder / "sdk").symlink_to(CHECKOUT / "sdk")
    environment = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    environment |= {"XDG_CONFIG_HOME": str(folder / "config"), "DURE_OFFICE": office, "no_proxy": "127.0.0.1"}
    environment |= wheelhouse.make(folder / "wheels", ["hatchling", "httpx", "pydantic"])
    paths = (str(folder / "client" / "bin"), str(Path(sys.executable).parent), environment["PATH"])
    environment["PATH"] = os.pathsep.join(paths)

    def run(language: str, text: str) -> str:
        done = subprocess.run(
            INTERPRETERS[language],
            input=text,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert PAGE.read_text().count("<!-- tested -->") == len(BLOCKS) > 10
    printed = {}
    for number, (language, blocks) in enumerate(itertools.groupby(BLOCKS, key=lambda block: block[0])):
        printed[number] = run(language, "\n".join(text for _, text in blocks))
        if number == 0:
            modules = "import dure, importlib.util as u; print(dure.__file__, u.find_spec('django'))"
            assert run("python", modules).split() == [
                *map(str, folder.glob("client/**/dure/__init__.py")),
                "None",
            ]

    _check_client(printed[1])
    _check_command(printed[2])
    assert (folder / "match.png").read_bytes().startswith(b"\x89PNG")
    assert not (folder / "config" / "dure" / "login.json").exists()


def _check_client(output: str) -> None:
    lines = output.splitlines()
    assert lines[0] == "done 6"
    assert [line for line in lines if line.endswith("INFO hello from the client")]
    assert "completed" in lines
    assert "400 invalid {" in output
    assert lines[-1] == "[0, 1, 2]"
    for printed in (
        "[('alice', 'owner'), ('bob', 'viewer')]",
        "False []",
        "['2026-12-25', '2027-01-01']",
        "True ['address', 'volume'] ['SUCCESS', 'SUCCESS']",
        "True [True]",
    ):
        assert printed in lines
    # The events of the batch, in order, and nothing of other jobs.
    events = [line.split() for line in lines[1 : lines.index("True")]]
    assert [int(event[0]) for event in events] == sorted(int(event[0]) for event in events)
    assert len({event[2] for event in events} - {"None"}) == 2


def _check_command(output: str) -> None:
    assert re.search(r"^status +done$", output, re.MULTILINE)
    assert re.search(r"^result +6$", output, re.MULTILINE)
    assert re.search(r"^\d\d:\d\d:\d\d INFO +hello from the command$", output, re.MULTILINE)
    assert re.search(r"^status +SUCCESS$", output, re.MULTILINE)
    assert re.search(r"^status +completed$", output, re.MULTILINE)
    assert re.search(r"^status +SUCCEEDED$", output, re.MULTILINE)
    assert re.search(r"^enabled +false$", output, re.MULTILINE)
    assert "(dependencies_unfinished)" in output
    assert "Traceback" not in output
