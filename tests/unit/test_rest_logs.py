"""A log line is one line and holds no secret."""

import logging
import sys

import pytest

from config.logs import LineFormatter
from jobs.api.framework import request_id
from jobs.redaction import redact

SECRET_TEXT = "s3cr3t-canary-value-0123456789"


def line_of(message: str, *args: object, exc_info=None) -> str:
    record = logging.LogRecord("web", logging.INFO, __file__, 1, message, args, exc_info)
    return LineFormatter("%(levelname)s %(name)s %(message)s").format(record)


@pytest.mark.parametrize(
    "text",
    [
        "password=" + SECRET_TEXT,
        "PASSWORD: " + SECRET_TEXT,
        f"{{'password': '{SECRET_TEXT}', 'user': 'alice'}}",
        f'{{"db_password": "{SECRET_TEXT} with spaces"}}',
        f"Authorization: Token {SECRET_TEXT}",
        f"Authorization: Bearer {SECRET_TEXT}",
        f"'authorization': b'Basic {SECRET_TEXT}'",
        f"used Bearer {SECRET_TEXT} at last",
        f"Cookie: a=b; sessionid={SECRET_TEXT}; c=d",
        f"'Set-Cookie': 'sessionid={SECRET_TEXT}; Path=/'",
        f"GET /ws/offices/1/events?after=3&ticket={SECRET_TEXT}",
        f"client_secret={SECRET_TEXT}&x=1",
        f"https://hooks.slack.com/services/T0/B0/{SECRET_TEXT}",
        f"https://discord.com/api/v10/webhooks/1/{SECRET_TEXT}",
        f"https://prod-1.logic.azure.com/workflows/1?sp=1&sig={SECRET_TEXT}&x=1",
        f"api_key={SECRET_TEXT} apikey: {SECRET_TEXT} api-key={SECRET_TEXT}",
        f"postgresql://dure:{SECRET_TEXT}@db:5432/dure",
        f"redis://:{SECRET_TEXT}@127.0.0.1:6379/0",
        f"https://user:p@{SECRET_TEXT}@example.com/path",
        f"webhook_secret = '{SECRET_TEXT}'",
    ],
)
def test_secrets_are_redacted(text):
    assert "canary" not in redact(text)


def test_our_own_tokens_are_redacted_anywhere():
    token = "dure_" + "Ab1_-" * 9
    assert token not in redact(f"cannot find {token} anywhere")


@pytest.mark.parametrize(
    "text",
    [
        "job 0198c1 finished in 0.3 s",
        "the token holds the lease",
        "http://127.0.0.1:8000/api/offices?page=2",
        "dure_http_request_seconds",
        "mail to alice@example.com",
    ],
)
def test_other_text_is_not_redacted(text):
    assert redact(text) == text


def test_a_line_break_from_a_client_is_escaped():
    line = line_of("job %s", "x\r\n2026-11-18 12:00:00 INFO root forged\x1b[31m\u2028y")
    assert len(line.splitlines()) == 1
    assert "\\r\\n2026" in line
    assert "\x1b" not in line


def test_a_traceback_is_indented():
    try:
        raise ValueError(f"no\nINFO web forged password={SECRET_TEXT}")
    except ValueError:
        text = line_of("it failed", exc_info=sys.exc_info())
    first, *rest = text.split("\n")
    assert first == "INFO web it failed"
    assert rest
    assert all(line.startswith("    ") for line in rest)
    assert "canary" not in text


def test_a_line_logged_during_a_request_has_its_id():
    token = request_id._current.set("abc123")
    try:
        assert line_of("done") == "INFO web done request=abc123"
    finally:
        request_id._current.reset(token)


@pytest.mark.parametrize("piece", ["a", "password", "a://", "token=", "'", "dure_", "Cookie:", " ", "api-"])
def test_the_cost_of_redacting_grows_with_the_length_of_a_hostile_text(piece):
    # With the square of its length it would take hours.
    redact(piece * (2**20 // len(piece)))
