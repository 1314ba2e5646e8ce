"""Additional checks for Schemathesis, which loads this module by its name in the configuration.

The schema is read more strictly than it is written: an answer has no field that the schema does not name,
and a problem no `code` that the operation does not name. And what the schema gives as an example works.
"""

import os
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response

from tests.fuzz.object_ids import FIELDS, FILE_VARIABLE, ObjectIds

PROBLEM = "application/problem+json"
# Their other fields depend on their code.
OPEN = {"Problem", "Reason"}

LONGEST_WAIT = 1
SHORT_REPLAY_MS = 900
# Python and JSON Schema disagree about which characters are spaces.
NO_SPACE = r"[^\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
NOT_BLANK = r"\S"

document: dict[str, Any] = {}
object_ids = ObjectIds.read(Path(os.environ[FILE_VARIABLE]).read_text())


@schemathesis.hook
def before_load_schema(context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    document.update(raw_schema)
    for name, schema in raw_schema["components"]["schemas"].items():
        if name not in OPEN:
            close(schema)


def close(schema: Any) -> None:
    """Forbids fields that the schema does not name, unless it allows them explicitly."""
    if isinstance(schema, list):
        for each in schema:
            close(each)
    elif isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            schema.setdefault("additionalProperties", False)
        if schema.get("pattern") == NOT_BLANK:
            schema["pattern"] = NO_SPACE
        for each in schema.values():
            close(each)


@schemathesis.hook
def before_call(
    context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]
) -> None:
    if case.meta is None:
        return
    body = case.body if isinstance(case.body, dict) else {}
    if case.meta.phase.name.value != "stateful":  # the stateful phase follows links
        if not case.meta.is_negative_at(ParameterLocation.PATH):
            method, path = case.operation.method.upper(), case.operation.path
            object_ids.replace_path_ids(method, path, case.path_parameters or {})
        if not case.meta.is_negative_at(ParameterLocation.BODY):
            for field in body.keys() & FIELDS.keys():
                body[field] = object_ids.existing_id(FIELDS[field], "")
    if not case.meta.is_negative_at(ParameterLocation.BODY):
        shorten(body, "wait", LONGEST_WAIT)
        # The replays here are a second long.
        shorten(body, "fromMs", 0)
        shorten(body, "toMs", SHORT_REPLAY_MS)
    if case.query and not case.meta.is_negative_at(ParameterLocation.QUERY):
        shorten(case.query, "wait", LONGEST_WAIT)
        # Pages have a maximum row, which a schema cannot express.
        shorten(case.query, "page", 1_000)


def shorten(data: dict[str, Any], name: str, most: int) -> None:
    try:
        if float(data[name]) > most:
            data[name] = type(data[name])(most)
    except (KeyError, TypeError, ValueError):
        return  # the object does not exist, or the input is not accepted


@schemathesis.check
def known_problem(ctx: schemathesis.CheckContext, response: Response, case: schemathesis.Case[Any]) -> None:
    """The code of a refusal is one that the operation names for this status."""
    operation = document["paths"].get(case.operation.path, {}).get(case.method.lower())
    if operation is None or response.status_code < 400:
        return
    if response.headers.get("content-type", [""])[0] != PROBLEM:
        raise Failure(operation=case.operation.label, title="A refusal is no problem document", message="")
    received = operation["responses"].get(str(response.status_code))
    if received is None:
        return  # Schemathesis reports this itself
    if "$ref" in received:
        received = document["components"]["responses"][received["$ref"].rpartition("/")[2]]
    code = response.json()["code"]
    if code not in received["content"][PROBLEM]["examples"]:
        raise Failure(
            operation=case.operation.label,
            title="Undocumented code",
            message=f"{code!r} is not documented for the status {response.status_code}.",
        )


@schemathesis.check
def working_example(ctx: schemathesis.CheckContext, response: Response, case: schemathesis.Case[Any]) -> None:
    """An example of the schema is accepted, unless it names an object that does not exist."""
    phase = case.meta.phase.name.value if case.meta else ""
    if phase == "examples" and response.status_code == 400:
        raise Failure(operation=case.operation.label, title="An example is refused", message=response.text)
