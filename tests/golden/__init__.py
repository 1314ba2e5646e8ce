"""What clients read, compared with the files here: frames of sockets, webhooks, documents of commands.

Ids, times, numbers and names of workers are replaced by their kind. `DURE_WRITE_GOLDEN=1` writes the files
anew: do that only when the contract changes, and say so in CHANGELOG.md.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(\+09:00|Z|\+00:00)")
WORKER = re.compile(r"\w+@[\w.-]+")
HEX = re.compile(r"\b[0-9a-f]{32,64}\b")
ADDRESS = re.compile(r"\b10\.\d+\.\d+\.\d+\b|127\.0\.0\.1:\d+")
# Their numbers do not belong to the form of an answer.
EXACT_NUMBERS = ("attempt", "priority", "max_retries", "retry_count", "timeout_ms", "progress")


def normalize(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: normalize(item, name) for name, item in sorted(value.items())}
    if isinstance(value, list):
        return [normalize(item, key) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value if key in EXACT_NUMBERS else "<number>"
    text = TIME.sub(r"<time\1>", str(value))
    for pattern, kind in ((UUID, "<uuid>"), (WORKER, "<worker>"), (HEX, "<hex>"), (ADDRESS, "<address>")):
        text = pattern.sub(kind, text)
    # An operation's key is its queue, run and job.
    text = re.sub(r"\b(vol|machine)-\d+-\d+-", r"\1-<number>-<number>-", text)
    return re.sub(r"/(jobs|queues|exports|replays)/\d+", r"/\1/<number>", text)


def compare(name: str, actual: Any) -> None:
    path = FOLDER / f"{name}.json"
    text = json.dumps(actual, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    if os.environ.get("DURE_WRITE_GOLDEN"):
        path.write_text(text)
    assert json.loads(text) == json.loads(path.read_text())
