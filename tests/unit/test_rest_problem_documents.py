"""Every known exception becomes a problem document of the same form."""

import pytest
from django.core import exceptions as django_errors
from django.db import InterfaceError, OperationalError
from django.http import Http404
from redis.exceptions import ConnectionError as RedisDown
from rest_framework import exceptions as api_errors

from jobs import errors as verb_errors
from jobs.api.framework.problem_details import Problem, flatten_errors, problem_for
from jobs.errors import PROBLEM_CODES


class LockTimeout(Exception):
    pgcode = "55P03"


def database_error(cause: Exception | None = None) -> OperationalError:
    error = OperationalError("gone")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Problem(418, "teapot", "short and stout"), 418, "teapot"),
        (verb_errors.Invalid("boolean", code="cycle", extra={"cycle": ["a", "b"]}), 400, "cycle"),
        (verb_errors.TooLarge("id_taken"), 413, "too_large"),
        (verb_errors.Conflict("id_taken"), 409, "conflict"),
        (Http404("No Job matches the given query."), 404, "not_found"),
        (django_errors.ObjectDoesNotExist("Job matching query does not exist."), 404, "not_found"),
        (django_errors.PermissionDenied(), 403, "permission_denied"),
        (django_errors.RequestDataTooBig(), 413, "too_large"),
        (django_errors.DisallowedHost("evil"), 400, "bad_request"),
        (django_errors.TooManyFieldsSent(), 400, "bad_request"),
        (api_errors.NotAuthenticated(), 401, "not_authenticated"),
        (api_errors.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (api_errors.UnsupportedMediaType("text/xml"), 415, "unsupported_media_type"),
        (api_errors.ValidationError({"name": ["This field is required."]}), 400, "invalid"),
        (api_errors.Throttled(wait=3.2), 429, "throttled"),
        (database_error(), 503, "database_unavailable"),
        (InterfaceError("connection already closed"), 503, "database_unavailable"),
        (database_error(LockTimeout()), 503, "busy"),
        (RedisDown("refused"), 503, "broker_unavailable"),
    ],
)
def test_an_error_has_its_status_and_code(error, status, code):
    refusal = problem_for(error)
    assert refusal is not None
    document = refusal.document()
    assert (document["status"], document["code"]) == (status, code)
    described = str(document["type"]).endswith(f"/api/problems/{code}")
    assert described or (code == "teapot" and document["type"] == "about:blank")
    assert document["title"] == ("I'm a Teapot" if code == "teapot" else PROBLEM_CODES[code].title)
    assert document["detail"]
    assert ("errors" in document) == (status == 400)
    assert ("Retry-After" in refusal.headers) == (status in (429, 503))


def test_every_code_has_a_title_of_its_own():
    titles = [kind.title for kind in PROBLEM_CODES.values()]
    assert len(titles) > 60
    assert len(set(titles)) == len(titles)
    assert [
        title for title in titles if not title[0].isupper() or title.endswith(".") or len(title) > 40
    ] == []


def test_an_unknown_exception_has_no_problem_document():
    assert problem_for(ZeroDivisionError()) is None


def test_extra_members_cannot_replace_standard_members():
    refusal = problem_for(verb_errors.Invalid("boolean", extra={"cycle": ["a", "b"], "status": "done"}))
    assert refusal is not None
    document = refusal.document()
    assert document["cycle"] == ["a", "b"]
    assert document["status"] == 400


def test_nested_errors_have_dotted_paths():
    detail = api_errors.ValidationError(
        {"jobs": [{}, {"task_id": ["Unknown task."], "args": {"n": ["Too small."]}}], "name": ["Missing."]}
    ).detail
    assert flatten_errors(detail) == {
        "jobs.1.task_id": ["Unknown task."],
        "jobs.1.args.n": ["Too small."],
        "name": ["Missing."],
    }


def test_the_detail_is_the_first_error():
    refusal = problem_for(api_errors.ValidationError({"name": ["This field is required."]}))
    assert refusal is not None
    assert refusal.detail == "name: This field is required."
    general = problem_for(api_errors.ValidationError("The two do not go together."))
    assert general is not None
    assert general.detail == "The two do not go together."
    assert general.errors == {"non_field_errors": ["The two do not go together."]}


def test_a_wait_is_rounded_up_to_whole_seconds():
    refusal = problem_for(api_errors.Throttled(wait=0.2))
    assert refusal is not None
    assert refusal.headers["Retry-After"] == "1"
