"""The schema of the API, as docs/openapi.yaml has it."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

WRITTEN = Path(__file__).resolve().parents[1] / "docs" / "openapi.yaml"


@cache
def document() -> dict[str, Any]:
    """Read when a test needs it: each process of the suite imports each module of tests."""
    return dict(yaml.load(WRITTEN.read_bytes(), yaml.CSafeLoader))
