"""docs/own-repository.md, word for word: Tasks in a folder and an environment of their own."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import wheelhouse
from tests.acceptance.shell import command_blocks
from tests.acceptance.system import CHECKOUT, System
from tests.unit.process_tools import eventually, is_alive

PAGE = "docs/own-repository.md"
FOREIGN = re.compile(r"DURE_|PYTHON|PIP_|VIRTUAL_ENV$")
DEVELOP = "dure dev"
SECONDS = 170.0


@pytest.fixture
def checkout(stack: System, tmp_path: Path) -> Path:
    """A checkout whose folder var/ is that of the running system."""
    folder = tmp_path / "dure"
    folder.mkdir()
    for path in CHECKOUT.iterdir():
        if path.name not in ("var", ".git"):
            (folder / path.name).symlink_to(path)
    (folder / "var").symlink_to(stack.home)
    return folder


@pytest.fixture
def environment(stack: System, checkout: Path, office: str) -> dict[str, str]:
    """A user's own, with wheels instead of a network."""
    own = {name: value for name, value in stack.environment().items() if not FOREIGN.match(name)}
    own |= wheelhouse.make(checkout.parent / "wheels", ["build", "hatchling", "pytest", "httpx", "pydantic"])
    return own | {
        "HOME": str(checkout.parent),
        "XDG_CONFIG_HOME": str(checkout.parent / "config"),
        "DURE_HOME": str(stack.home),
        "DURE_OFFICE": office,
        "no_proxy": "127.0.0.1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), own["PATH"]]),
    }


@pytest.mark.timeout(480)
def test_the_guide_runs_own_tasks_from_a_folder_outside_of_the_checkout(
    checkout: Path, environment: dict[str, str]
) -> None:
    blocks = command_blocks(PAGE)
    place = next(number for number, block in enumerate(blocks) if DEVELOP in block)
    prepare, start, use = "".join(blocks[:place]), blocks[place].rstrip(), "".join(blocks[place + 1 :])
    log = checkout.parent / "dev.log"
    ready = "until dure tasks list | grep -q shop.price; do sleep 0.2; done\n"
    login, submission = use.split("\n\n", 1)
    script = f"{prepare}\n{start} >{log} 2>&1 &\necho $! >{log}.pid\n{login}\n{ready}{submission}"
    output = checkout.parent / "output"
    try:
        with output.open("w") as file:
            code = subprocess.run(
                ["/bin/sh", "-eu"],
                input=script,
                cwd=checkout,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                check=False,
            ).returncode
        if code == 0:
            change_a_task(checkout.parent / "shop", environment)
    except subprocess.TimeoutExpired:
        code = -1
    finally:
        stop(Path(f"{log}.pid"))
    printed = output.read_text()
    assert code == 0, printed + (log.read_text() if log.exists() else "")
    assert re.search(r"\d+ passed in ", printed)
    assert "order 17 costs 2850 cents before the discount" in printed
    assert re.search(r"^result +\{\"cents\": 2565, \"order\": 17\}$", printed, re.MULTILINE)
    assert "2 orders, 1650 cents" in printed


def change_a_task(folder: Path, environment: dict[str, str]) -> None:
    """A saved change is in force without a restart by hand."""
    tasks = folder / "shop" / "tasks.py"
    tasks.write_text(tasks.read_text().replace("Prices an order.", "Prices one order."))
    show = [str(folder / ".venv" / "bin" / "dure"), "tasks", "show", "shop.price"]

    def is_in_force() -> bool:
        return (
            b"Prices one order."
            in subprocess.run(show, env=environment, capture_output=True, check=True).stdout
        )

    assert eventually(is_in_force, 60)


def stop(pidfile: Path) -> None:
    """End what the guide has started."""
    if pidfile.exists():
        pid = int(pidfile.read_text())
        if is_alive(pid):
            os.kill(pid, signal.SIGTERM)
        assert eventually(lambda: not is_alive(pid), 30)
