"""Runs Schemathesis against a system, with one of the accounts of accounts.py."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.acceptance.system import CHECKOUT, Client, System
from tests.fuzz import accounts
from tests.fuzz.object_ids import FILE_VARIABLE

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
NOBODY = "nobody"
CALLERS = (accounts.OWNER, accounts.STAFF, NOBODY)
# A request may wait for a minute, and the last ones go on beyond the time.
PATIENCE_SECONDS = 280


def run(
    system: System, caller: str, folder: Path, options: Sequence[str] = (), *, seconds: int | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Writes failures to `report` in the folder. The exit status is 0 if there are none."""
    tokens = accounts.create_accounts(system)
    owner = Client(system.base_url, f"Token {tokens[accounts.OWNER]}")
    ids_file = folder / "object_ids.json"
    ids_file.write_text(
        json.dumps(
            {"existing": accounts.create_objects(owner), "spare": accounts.create_spare_objects(owner)}
        )
    )
    command = [sys.executable, "-m", "schemathesis.cli"]
    command += ["--config-file", str(CONFIGURATION)]
    command += ["run", f"{system.base_url}/api/schema", "--no-color"]
    command += ["--report=ndjson", f"--report-dir={folder}"]
    if seconds:
        command += [f"--max-time={seconds}"]  # without it, each phase is gone through once
    if caller != NOBODY:
        command += ["--header", f"Authorization: Token {tokens[caller]}"]
    with (folder / "report").open("wb") as report:
        return subprocess.run(
            [*command, *options],
            cwd=folder,
            env=system.environment() | {"PYTHONPATH": str(CHECKOUT), FILE_VARIABLE: str(ids_file)},
            stdout=report,
            stderr=subprocess.STDOUT,
            timeout=(seconds or 0) + PATIENCE_SECONDS,
        )


def reached(folder: Path) -> set[str]:
    """The operations that had an answer below 400, like `GET /api/offices`."""
    result = set()
    for events in folder.glob("*.ndjson"):
        for line in events.read_text().splitlines():
            recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
            for interaction in recorder.get("interactions", {}).values():
                if (interaction.get("response") or {}).get("status_code", 599) < 400:
                    result.add(recorder["label"])
    return result
