"""The stream messages, parsed as hostile input: anything with access to Redis may have written them.

Every field is a flat string; `options` is one JSON string. A message that breaks a rule raises
BadMessage, whose text is the reason an operator reads in the dead letters.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from exports.render.options import DEFAULTS, RESOLUTIONS, RenderOptions
from exports.states import TERMINAL, JobType, Status

REQUESTS = "job.requests"
PROGRESS = "job.progress"
RESULTS = "job.results"
DEADLETTER = "job.deadletter"
CONTROL = "job.control"
# Those that we read, whose messages may become dead letters.
INPUTS = (REQUESTS, PROGRESS, RESULTS)

MAX_FIELDS = 16
MAX_MESSAGE_BYTES = 64 * 1024
MAX_TEXT = 1_000
MAX_PHASE = 32
MAX_PATH = 4_096
# What a dead letter keeps of each field.
KEPT_NAME_BYTES, KEPT_VALUE_BYTES = 64, 4_096
BIGGEST_ID = 2**63 - 1

# The names of RenderOptions on the wire.
RENDER_OPTIONS = {
    "resolution": "resolution",
    "fps": "fps",
    "from_ms": "fromMs",
    "to_ms": "toMs",
    "sound": "sound",
}

_NUMBER = re.compile(r"[0-9]{1,19}")
_CHECKSUM = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_ERROR_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
# C0 and C1 controls, line separators and surrogates: none of these may reach a log or a page.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Fields = Mapping[bytes, bytes]


class BadMessage(ValueError):
    """The message cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Request:
    job_id: int
    job_type: JobType
    replay_id: int
    input_path: str
    output_path: str
    duration_ms: int | None
    owner_id: int
    created_at: str
    render: RenderOptions = DEFAULTS

    def fields(self) -> dict[str, str]:
        options = {
            "inputPath": self.input_path,
            "outputPath": self.output_path,
            "durationMs": self.duration_ms,
            "ownerId": self.owner_id,
            "createdAt": self.created_at,
            # Only those that the user chose: workers that know none of them see the same message as ever.
            **{RENDER_OPTIONS[name]: value for name, value in self.render.values().items()},
        }
        return {
            "jobId": str(self.job_id),
            "jobType": self.job_type.value,
            "replayId": str(self.replay_id),
            "options": json.dumps(options, ensure_ascii=False),
        }


@dataclass(frozen=True, slots=True)
class Progress:
    job_id: int
    progress: int
    phase: str = ""
    message: str = ""

    def fields(self) -> dict[str, str]:
        return {
            "jobId": str(self.job_id),
            "progress": str(self.progress),
            "phase": self.phase,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Result:
    job_id: int
    status: Status
    result_uri: str = ""
    checksum: str = ""
    error_code: str = ""
    error_message: str = ""

    def fields(self) -> dict[str, str]:
        return {
            "jobId": str(self.job_id),
            "status": self.status.value,
            "resultUri": self.result_uri,
            "checksum": self.checksum,
            "errorCode": self.error_code,
            "errorMessage": self.error_message,
        }


def cancel_message(job_id: int) -> dict[str, str]:
    """Tells foreign workers that the result of a job is no longer wanted."""
    return {"jobId": str(job_id), "action": "cancel"}


def parse_request(raw: Fields) -> Request:
    fields = _decode(raw)
    options = _options(fields)
    duration = options.get("durationMs")
    try:
        job_type = JobType(fields.get("jobType", ""))
    except ValueError:
        raise BadMessage(f"jobType must be one of {', '.join(JobType.values)}") from None
    return Request(
        job_id=_whole(fields, "jobId"),
        job_type=job_type,
        replay_id=_whole(fields, "replayId"),
        input_path=_option_text(options, "inputPath"),
        output_path=_option_text(options, "outputPath"),
        duration_ms=None if duration is None else _option_number(options, "durationMs"),
        owner_id=_option_number(options, "ownerId"),
        created_at=_option_text(options, "createdAt"),
        render=_render_options(options),
    )


def parse_progress(raw: Fields) -> Progress:
    fields = _decode(raw)
    return Progress(
        job_id=_whole(fields, "jobId"),
        progress=_whole(fields, "progress", low=0, high=100),
        phase=_text(fields, "phase", MAX_PHASE),
        message=_text(fields, "message", MAX_TEXT),
    )


def parse_result(raw: Fields) -> Result:
    fields = _decode(raw)
    job_id = _whole(fields, "jobId")
    status = fields.get("status", "")
    if status not in TERMINAL:
        raise BadMessage("status must be SUCCEEDED, FAILED or CANCELLED")
    error_code = fields.get("errorCode", "")
    if error_code and not _ERROR_CODE.fullmatch(error_code):
        raise BadMessage("errorCode must be capital letters, digits and underscores, at most 64")
    result_uri, checksum = fields.get("resultUri", ""), ""
    if status == Status.SUCCEEDED:
        if not result_uri:
            raise BadMessage("SUCCEEDED needs a resultUri")
        match = _CHECKSUM.fullmatch(fields.get("checksum", "").lower())
        if not match:
            raise BadMessage("SUCCEEDED needs a checksum: the SHA-256 of the file in 64 hex digits")
        checksum = match[1]
    return Result(
        job_id=job_id,
        status=Status(status),
        # Not checked here: a bad path must fail its job with INVALID_OUTPUT_PATH (results.py).
        result_uri=result_uri,
        checksum=checksum,
        error_code=error_code,
        error_message=_text(fields, "errorMessage", MAX_TEXT),
    )


def sanitized_copy(raw: Fields) -> tuple[dict[str, str], bool]:
    """The fields in a form that can be stored and shown, and whether they are complete.

    Never raises: it escapes bytes that are not UTF-8 and controls, and cuts long values.
    """
    copy: dict[str, str] = {}
    whole = len(raw) <= MAX_FIELDS
    for name, value in list(raw.items())[:MAX_FIELDS]:
        texts = []
        for part, size in ((name, KEPT_NAME_BYTES), (value, KEPT_VALUE_BYTES)):
            text = part[:size].decode("utf-8", "backslashreplace")
            clean = _UNPRINTABLE.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
            whole = whole and clean.encode("utf-8", "replace") == part
            texts.append(clean)
        copy[texts[0]] = texts[1]
    return copy, whole


def _decode(raw: Fields) -> dict[str, str]:
    if len(raw) > MAX_FIELDS:
        raise BadMessage(f"more than {MAX_FIELDS} fields")
    if sum(len(name) + len(value) for name, value in raw.items()) > MAX_MESSAGE_BYTES:
        raise BadMessage(f"larger than {MAX_MESSAGE_BYTES} bytes")
    try:
        return {name.decode(): value.decode() for name, value in raw.items()}
    except UnicodeDecodeError:
        raise BadMessage("not UTF-8") from None


def _whole(fields: Mapping[str, str], name: str, *, low: int = 1, high: int = BIGGEST_ID) -> int:
    text = fields.get(name, "")
    if not _NUMBER.fullmatch(text) or not low <= int(text) <= high:
        raise BadMessage(f"{name} must be a whole number from {low} to {high}")
    return int(text)


def _text(fields: Mapping[str, str], name: str, limit: int) -> str:
    text = fields.get(name, "")
    if len(text) > limit:
        raise BadMessage(f"{name} is longer than {limit} characters")
    if _UNPRINTABLE.search(text):
        raise BadMessage(f"{name} holds control characters")
    return text


def _options(fields: Mapping[str, str]) -> dict[str, object]:
    try:
        options = json.loads(fields.get("options", ""))
    except (ValueError, RecursionError):
        raise BadMessage("options must be one JSON object") from None
    if not isinstance(options, dict):
        raise BadMessage("options must be one JSON object")
    return options


def _render_options(options: Mapping[str, object]) -> RenderOptions:
    resolution = options.get("resolution")
    if resolution is not None and (not isinstance(resolution, str) or resolution not in RESOLUTIONS):
        raise BadMessage(f"options.resolution must be one of {', '.join(RESOLUTIONS)}")
    sound = options.get("sound")
    if sound is not None and not isinstance(sound, bool):
        raise BadMessage("options.sound must be true or false")
    numbers = {
        name: _option_number(options, key)
        for name, key in RENDER_OPTIONS.items()
        if name not in ("resolution", "sound") and options.get(key) is not None
    }
    return RenderOptions(resolution, **numbers, sound=sound)


def _option_text(options: Mapping[str, object], name: str) -> str:
    value = options.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_PATH or _UNPRINTABLE.search(value):
        raise BadMessage(f"options.{name} must be a text of 1 to {MAX_PATH} printable characters")
    return value


def _option_number(options: Mapping[str, object], name: str) -> int:
    value = options.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= BIGGEST_ID:
        raise BadMessage(f"options.{name} must be a whole number")
    return value
