"""What the API's schema says before its first operation: the manners of all, the tags, and the webhooks."""

from typing import Any

from jobs.api.examples import MESSAGE

INTRODUCTION = """\
Work that must happen: in the right order, at the right time, once, within limits and in sight.

**Credentials.** `Authorization: Token dure_…`; `manage.py token USER` issues one. The pages of this server
use the session cookie, and send `X-CSRFToken` with all but GET.

**Bodies** are one JSON object in UTF-8, sent as `application/json`. An unknown field, a key that stands
twice, a number given as a text: each is refused, by its name. Times are ISO 8601 with an offset, and answers
have that of Asia/Seoul. Durations have their unit in their name.

**Refusals** are `application/problem+json` (RFC 9457). Branch on `code`; `GET /api/problems/{code}` explains
it, and `errors` says which fields are wrong. What is somebody else's is 404. A method that an address does
not have is 405, with `Allow`.

**Lists** are `{count, next, previous, results}` with `page`, from 1, and `page_size`, at most 200. Exports
have `page`, from 0, and `size`. A parameter that a list does not know, or that is empty, is refused. Events
are read on with `after`.

**Repeating a POST.** With an `Idempotency-Key` the same request answers its first answer again, for 24
hours, and has no second effect.

**202** means that the work has been accepted; `Location` says where to see what becomes of it.

**Rates.** 6,000 requests a minute for a user, and 60 for an address without credentials, unless the operator
chose others. Beyond that the answer is 429, and `Retry-After` says for how many seconds.

**Every answer** has an `X-Request-ID`: yours, where you sent one, or a new one. The server's log has it too.
"""

TAGS = {
    "offices": "The tenants: each has members, jobs, workflows and limits of its own.",
    "jobs": "Submit jobs that depend on each other, watch them, and decide about them.",
    "batches": "Jobs that were submitted together: how far they are, their graph, and when they will end.",
    "scheduler": "An office's limits, timeouts and retries, its numbers, and a push by hand.",
    "events": "Whatever happened in an office, in order, to be read on from any point.",
    "sockets": "Tickets for `/ws/offices/{office_id}/events`, `/ws/queues/{queue_id}` and `/ws/jobs`, "
    "which tell the same as it happens.",
    "webhooks": "Addresses that are told of an office's events by signed messages, and what they answered.",
    "tasks": "What can be run: the registered functions, with the JSON Schema of their arguments.",
    "schedules": "Time rules that run a Task: cron, interval or one time.",
    "executions": "Single runs of Tasks, whatever caused them.",
    "workflows": "Saved graphs of jobs, run at once, later, at a set time, or again and again.",
    "monitor": "The monitor's data, and what an outside cron may call beside beat.",
    "step queues": "Lists of operations that roll back when one of them fails.",
    "exports": "Recordings, and the MP4s and thumbnails that are made of them.",
    "dead letters": "Messages of the export streams that could not be applied. For staff.",
    "problems": "What the `code` of a refusal means.",
}

PATH_PARAMETERS = {
    "code": "The `code` of a problem.",
    "name": "The library's name.",
    "task_id": "The Task's name.",
    "username": "The member's user name.",
}

MESSAGE_HEADERS = {
    "webhook-id": ("The same for all attempts: drop what you have seen.", {"type": "string"}, "msg_815"),
    "webhook-timestamp": (
        "Of this attempt, in seconds since 1970: drop what is older than five minutes.",
        {"type": "integer"},
        1796083200,
    ),
    "webhook-signature": (
        "`v1,` and the HMAC-SHA256 of `id.timestamp.body`, in base64; two, separated by a space, for a day "
        "after the secret was changed.",
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
            "description": "The event, with the names that its job and its batch have.",
            "allOf": [{"$ref": "#/components/schemas/SchedulerEvent"}],
        },
    },
}
WEBHOOKS: dict[str, Any] = {
    "event": {
        "post": {
            "summary": "An event of an office",
            "description": "Sent to each webhook that subscribes to this type, signed as in the Standard "
            "Webhooks specification, and retried for hours until the receiver responds with 2xx.",
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


def introduce(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook."""
    result["info"]["description"] = INTRODUCTION
    result["info"]["license"] = {"name": "MIT", "identifier": "MIT"}
    result["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    result["webhooks"] = WEBHOOKS
    for path in result["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter.setdefault("description", described(parameter["name"]))
    return result


def described(name: str) -> str:
    """`office_id` is the office's id."""
    return PATH_PARAMETERS.get(name) or f"The {name.removesuffix('_id').replace('_', ' ')}'s id."
