"""What requests about replays and exports, and the answers to them, look like."""

from typing import Any

from exports.messages import RESULTS
from exports.models import DeadLetter
from exports.states import JobType, Phase, Status

AT = "2026-12-01T09:00:00+09:00"
LATER = "2026-12-01T09:01:15+09:00"
SHA256 = "f20e64f593d0de66f8baea58a36d077df598cf0c615a20cca29ad6a4f6398611"

LOG = """\
{"format": "dure-replay/1", "title": "결승전", "size": [100, 50], "tickRate": 30, "players": [{"id": "p1"}]}
{"tick": 0, "positions": {"p1": [10, 25]}}
{"tick": 30, "positions": {"p1": [90, 25]}}
"""
UPLOAD = {"title": "두레 컵 결승전", "file": LOG}
REPLAY = {
    "replayId": 1,
    "title": "두레 컵 결승전",
    "fileName": "match.jsonl",
    "kind": "eventlog",
    "sizeBytes": 954463,
    "checksum": "629af909a96dd9f75b8509bcefd862eb1634c427b6b43ff1f4165a2895a1a793",
    "durationMs": 119966,
    "createdAt": AT,
}
RUNNING: dict[str, Any] = {
    "jobId": 1,
    "jobType": JobType.MP4.value,
    "replayId": 1,
    "status": Status.RUNNING.value,
    "progress": 40,
    "phase": Phase.RENDERING.value,
    "message": "frame 1440 of 3600",
    "etaSeconds": 45,
    "resultUri": None,
    "checksum": None,
    "sizeBytes": None,
    "errorCode": None,
    "errorMessage": None,
    "createdAt": AT,
    "startedAt": AT,
    "endedAt": None,
    "expiredAt": None,
}
SUCCEEDED = {
    **RUNNING,
    "status": Status.SUCCEEDED.value,
    "progress": 100,
    "phase": Phase.FINALIZING.value,
    "message": "",
    "etaSeconds": None,
    "resultUri": "/api/jobs/1/result",
    "checksum": SHA256,
    "sizeBytes": 7587673,
    "endedAt": LATER,
}
CANCELLED = {**RUNNING, "status": Status.CANCELLED.value, "etaSeconds": None, "endedAt": LATER}
DEAD_LETTER = {
    "id": 3,
    "sourceStream": RESULTS,
    "sourceId": "1796083200000-0",
    "fields": {"jobId": "1", "status": "DONE", "resultUri": "1/1.mp4", "checksum": SHA256},
    "whole": True,
    "reason": "status: 'DONE' is none of SUCCEEDED, FAILED.",
    "failedAt": AT,
    "state": DeadLetter.State.OPEN.value,
    "handledAt": None,
    "handledBy": None,
}


def page(one: dict[str, Any]) -> dict[str, Any]:
    """A list of one."""
    return {"content": [one], "page": 0, "size": 20, "totalElements": 1, "totalPages": 1}
