"""Every error below /api is a problem document."""

import json
from typing import Any

import pytest
from django.test import Client

from jobs.errors import PROBLEM_CODES
from tests.integration.rest_support import PROBLEM, client_of, make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.integration.rest_support"),
    pytest.mark.usefixtures("fresh_counts"),
]


@pytest.fixture
def alice():
    return client_of(make_user())


@pytest.fixture
def anonymous():
    return Client(raise_request_exception=False)


def problem_of(response, status: int, code: str) -> Any:
    assert response.status_code == status, response.content[:500]
    assert response["Content-Type"] == PROBLEM
    document = json.loads(response.content)
    assert document["status"] == status
    assert document["code"] == code, document
    assert document["title"] == PROBLEM_CODES[code].title
    assert document["detail"]
    assert document["type"].endswith(f"/api/problems/{code}")
    return document


def post(client: Client, body: bytes | str, content_type: str = "application/json", **more):
    return client.post("/api/echo", data=body, content_type=content_type, **more)


def test_missing_credentials_are_401_with_a_challenge(anonymous):
    for method in ("get", "post", "put", "patch", "delete"):
        response = getattr(anonymous, method)("/api/echo")
        problem_of(response, 401, "not_authenticated")
        assert response["WWW-Authenticate"].startswith("Token")


@pytest.mark.parametrize(
    "address",
    ["/api", "/api/", "/api/nothing", "/api/groups/", "/api/../api/nothing", "/api/%ff", "/api/schema/"],
)
@pytest.mark.parametrize("debug", [False, True])
def test_an_unknown_url_is_404_even_with_debug(alice, settings, address, debug):
    settings.DEBUG = debug
    for method in ("get", "post", "put", "patch", "delete"):
        problem_of(getattr(alice, method)(address), 404, "not_found")


def test_the_api_explains_its_codes(anonymous):
    document = problem_of(anonymous.get("/api/nothing"), 404, "not_found")
    explained = anonymous.get(document["type"].removeprefix("http://127.0.0.1:8000")).json()
    assert explained == {
        "code": "not_found",
        "title": "Not found",
        "meaning": "There is no such object, or you may not see it.",
    }
    problem_of(anonymous.get("/api/problems/unheard-of"), 404, "not_found")


def test_a_wrong_method_is_405_with_the_allowed_methods(alice, anonymous):
    response = alice.delete("/api/groups")
    problem_of(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]
    assert "POST" in response["Allow"]
    problem_of(alice.post("/api/schema"), 405, "method_not_allowed")
    problem_of(anonymous.post("/api/docs"), 405, "method_not_allowed")


def test_a_member_without_the_role_gets_403(alice):
    document = problem_of(alice.get("/api/forbidden"), 403, "permission_denied")
    assert document["detail"] == "Only admins of the office may."


@pytest.mark.parametrize("address", ["/api/boom", "/api/plain-boom"])
@pytest.mark.parametrize("debug", [False, True])
def test_an_exception_is_500_without_details(alice, settings, address, debug):
    settings.DEBUG = debug
    response = alice.get(address, headers={"X-Request-ID": "trace-me.1"})
    document = problem_of(response, 500, "server_error")
    assert document["request_id"] == "trace-me.1" == response["X-Request-ID"]
    assert b"secret detail" not in response.content
    assert b"Traceback" not in response.content


def test_errors_outside_the_api_are_pages(alice):
    for address, status in (("/page-boom", 500), ("/nothing", 404)):
        response = alice.get(address)
        assert response.status_code == status
        assert response["Content-Type"].startswith("text/html")


def test_an_invalid_request_id_is_replaced(alice):
    for insane in ("a b", "x\ny", "<script>", "", "a" * 65, "-a"):
        response = alice.get("/api/echo", headers={"X-Request-ID": insane})
        assert response["X-Request-ID"] != insane
        assert response["X-Request-ID"].isalnum()


def test_an_unknown_host_is_400(alice, settings):
    for debug in (False, True):
        settings.DEBUG = debug
        problem_of(alice.get("/api/echo", headers={"Host": "evil.example"}), 400, "bad_request")


@pytest.mark.parametrize("body", [b"{", b'{"a": 1, "a": 2}', b"[1]", b"null"])
def test_an_invalid_json_body_is_400(alice, body):
    document = problem_of(post(alice, body), 400, "malformed_json")
    assert document["errors"] == {}


def test_a_valid_body_is_accepted(alice):
    value = {"text": "한글 😀", "numbers": [1, 2.5, -(2**63)], "none": None}
    assert post(alice, json.dumps(value)).json() == {"got": value}
    assert post(alice, json.dumps(value), "application/json; charset=UTF-8").json() == {"got": value}
    assert post(alice, b"").json() == {"got": {}}


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/xml", "x"],
)
def test_a_content_type_other_than_json_is_415(alice, content_type):
    problem_of(post(alice, b'{"a": 1}', content_type), 415, "unsupported_media_type")


def test_json_in_another_charset_is_415(alice):
    body = '{"a": "가"}'.encode("euc-kr")
    response = alice.generic("POST", "/api/echo", body, "application/json; charset=euc-kr")
    problem_of(response, 415, "unsupported_media_type")


def test_a_compressed_body_is_415(alice):
    for encoding in ("gzip", "br", "deflate, gzip", "GZIP"):
        response = post(alice, b"\x1f\x8b", headers={"Content-Encoding": encoding})
        problem_of(response, 415, "unsupported_encoding")
    assert post(alice, b"{}", headers={"Content-Encoding": "identity"}).status_code == 200


def test_a_body_beyond_the_limit_is_413(alice, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    document = problem_of(post(alice, b'{"a": "' + b"x" * 1000 + b'"}'), 413, "too_large")
    assert document["limit"] == 1000


def test_a_nul_in_the_url_is_400(alice):
    for address in ("/api/groups?name=%00", "/api/groups/%00", "/api/echo?a=b%00c"):
        problem_of(alice.get(address), 400, "bad_request")


def test_a_thousand_and_one_parameters_are_400(alice):
    address = "/api/groups?" + "&".join(f"a{number}=1" for number in range(1001))
    problem_of(alice.get(address), 400, "bad_request")


def test_an_accept_header_without_json_is_406(alice):
    problem_of(alice.get("/api/echo", headers={"Accept": "text/html"}), 406, "not_acceptable")


def test_errors_are_in_english_for_every_accept_language(alice):
    response = alice.post(
        "/api/groups", {}, content_type="application/json", headers={"Accept-Language": "ko"}
    )
    document = problem_of(response, 400, "invalid")
    assert document["errors"] == {"name": ["This field is required."]}
    assert document["detail"] == "name: This field is required."


def test_an_unknown_or_read_only_field_is_400(alice):
    response = alice.post("/api/groups", {"nmae": "x", "id": 7}, content_type="application/json")
    document = problem_of(response, 400, "invalid")
    assert set(document["errors"]) == {"nmae", "id"}


def test_a_session_needs_a_csrf_token():
    make_user("carol")
    browser = Client(enforce_csrf_checks=True)
    assert browser.login(username="carol", password="correct horse")
    assert browser.get("/api/echo").status_code == 200
    problem_of(post(browser, b"{}"), 403, "csrf_failed")


def test_answers_forbid_caching_and_embedding(alice):
    response = alice.get("/api/echo")
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("default-src 'none'")
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    page = alice.get("/admin/login/")
    assert page["Content-Security-Policy"].startswith("default-src 'self'")
    assert "unsafe" not in page["Content-Security-Policy"]
