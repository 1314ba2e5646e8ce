"""openapi-typescript reads the whole schema, and `tsc --strict` accepts a client with its types."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workers import ROOT

CLIENT = ROOT / "tests" / "clients"


@pytest.mark.timeout(300)
@pytest.mark.skipif(not (shutil.which("npm") or os.environ.get("DURE_CI")), reason="needs npm")
def test_a_typescript_client_compiles_against_the_schema(tmp_path: Path) -> None:
    for file in CLIENT.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    run(tmp_path, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run(tmp_path, "node_modules/.bin/openapi-typescript", str(ROOT / "docs/openapi.yaml"), "-o", "openapi.ts")
    run(tmp_path, "node_modules/.bin/tsc", "-p", ".")


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
