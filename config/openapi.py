"""The introduction, the tags and the webhooks of the API's schema."""

import json
from typing import Any

from jobs.api.examples import MESSAGE

INTRODUCTION = """\
Jobs in dependency graphs, schedules, workflows, step queues with rollback, and exports.

**Credentials.** `Authorization: Token dure_…`; `manage.py token USER` issues a token. The pages of this
server use the session cookie, and send `X-CSRFToken` with all methods but GET.

**Bodies** are one JSON object in UTF-8, sent as `application/json`. Unknown fields, duplicate keys and
numbers written as strings are rejected, with the name of the field. Times are ISO 8601 with an offset;
answers use the offset of Asia/Seoul. Durations have their unit in their name.

**Errors** are `application/problem+json` (RFC 9457). Branch on `code`; `GET /api/problems/{code}` explains
it, and `errors` has the reasons by field. Objects of other users are 404. A method that a URL does not
support is 405, with `Allow`.

**Lists** are `{count, next, previous, results}` with `page`, from 1, and `page_size`, at most 200. Exports
have `page`, from 0, and `size`. Unknown and empty parameters are rejected. Events continue with `after`.

**Repeating a POST.** With an `Idempotency-Key`, the same request returns its first answer again for 24 hours,
without a second effect.

**202** means that the work is accepted; `Location` is the URL of the object that shows its progress.

**Rate limits.** 6,000 requests a minute for a user, and 60 for an IP address without credentials, unless
configured otherwise. Beyond that the answer is 429 with `Retry-After` in seconds.

**Every answer** has an `X-Request-ID`: the one of the request, or a new one. The server's log contains it.
"""

TAGS = {
    "offices": "The tenants: each has members, jobs, workflows and limits of its own.",
    "jobs": "Submit, watch, retry, cancel and reorder jobs.",
    "batches": "Jobs submitted together: progress, graph and estimated end.",
    "scheduler": "An office's limits, timeouts, retries and statistics, and a manual pass.",
    "events": "The events of an office, in order, readable from any point.",
    "sockets": "Tickets for `/ws/offices/{office_id}/events`, `/ws/queues/{queue_id}` and `/ws/jobs`, "
    "which send the same events as they happen.",
    "webhooks": "URLs that receive an office's events, signed or for a chat, and their deliveries.",
    "roles": "The queue of each role, which staff may pause for all offices.",
    "tasks": "The registered functions, with the JSON Schema of their arguments.",
    "schedules": "Rules that run a Task: cron, interval or once.",
    "executions": "Runs of Tasks, whatever started them.",
    "workflows": "Saved graphs of jobs that run at once, after a delay, at a set time, or repeatedly.",
    "monitor": "The monitor's data, and operations that an external cron may call.",
    "step queues": "Lists of operations that roll back when one of them fails.",
    "exports": "Replays, and the videos and thumbnails exported from them.",
    "dead letters": "Messages of the export streams that could not be applied. For staff.",
    "problems": "The meaning of the `code` of a problem.",
}

PATH_PARAMETERS = {
    "code": "The `code` of a problem.",
    "name": "The library's name.",
    "role": "The name of a role.",
    "task_id": "The Task's name.",
    "username": "The member's user name.",
}

MESSAGE_HEADERS = {
    "webhook-id": (
        "The same for all attempts: ignore an id that you have processed.",
        {"type": "string"},
        "msg_815",
    ),
    "webhook-timestamp": (
        "The time of this attempt in Unix seconds: reject it after five minutes.",
        {"type": "integer"},
        1796083200,
    ),
    "webhook-signature": (
        "`v1,` and the HMAC-SHA256 of `id.timestamp.body`, in base64; two, separated by a space, for a day "
        "after the secret has changed.",
        {"type": "string"},
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
}
MESSAGE_SCHEMA = {
    "type": "object",
    "required": ["type", "timestamp", "data"],
    "properties": {
        "type": {"$ref": "#/components/schemas/EventType"},
        "timestamp": {"type": "string", "format": "date-time"},
        "data": {
            "description": "The event, with the names of its job and its batch.",
            "allOf": [{"$ref": "#/components/schemas/SchedulerEvent"}],
        },
    },
}
WEBHOOKS: dict[str, Any] = {
    "event": {
        "post": {
            "summary": "An event of an office",
            "description": "Sent to each webhook of format `dure` that subscribes to this type, signed as "
            "in the Standard Webhooks specification, and retried for hours until the receiver responds with "
            "2xx.",
            "tags": ["webhooks"],
            "parameters": [
                {
                    "name": name,
                    "in": "header",
                    "required": True,
                    "description": text,
                    "schema": schema,
                    "example": example,
                }
                for name, (text, schema, example) in MESSAGE_HEADERS.items()
            ],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": MESSAGE_SCHEMA, "example": MESSAGE}},
            },
            "responses": {
                "2XX": {"description": "The receiver has accepted it."},
                "410": {"description": "Disables the webhook."},
            },
        }
    }
}


def add_introduction(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook that adds the introduction, the tags and the webhooks."""
    result["info"]["description"] = INTRODUCTION
    result["info"]["license"] = {"name": "MIT", "identifier": "MIT"}
    result["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    result["webhooks"] = WEBHOOKS
    for path in result["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter.setdefault("description", path_parameter_description(parameter["name"]))
    return result


def describe_defaults(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook that moves the defaults of request bodies into their descriptions.

    Generators of clients make a field with a default one that every request must have.
    """
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Request"):
            _describe_defaults(schema)
    return result


def _describe_defaults(schema: Any) -> None:
    if isinstance(schema, list):
        for part in schema:
            _describe_defaults(part)
    if not isinstance(schema, dict):
        return
    if not isinstance(schema.get("default", {}), dict):  # else a field of that name
        default = json.dumps(schema.pop("default"))
        text = schema.get("description", "")
        schema["description"] = f"{text} Default: `{default}`.".lstrip()
    for part in schema.values():
        _describe_defaults(part)


def path_parameter_description(name: str) -> str:
    """`office_id` is the office's id."""
    return PATH_PARAMETERS.get(name) or f"The {name.removesuffix('_id').replace('_', ' ')}'s id."
