"""The official library of Standard Webhooks accepts our signatures, and no others."""

import base64
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from jobs.notifications import signing

BODY = '{"type":"job_failed","timestamp":"2026-12-01T09:00:00+09:00","data":{"error":"한글 …"}}'.encode()


def signed(*secrets: str, body: bytes = BODY, at: int | None = None) -> dict[str, str]:
    return signing.headers(secrets, "msg_1", int(time.time()) if at is None else at, body)


def test_a_signature_is_verified_by_the_official_library():
    secret = signing.new_secret()
    assert Webhook(secret).verify(BODY.decode(), signed(secret))["type"] == "job_failed"


def test_a_signature_equals_the_example_of_the_specification():
    secret = "whsec_plJ3nmyCDGBKInavdOK15jsl"
    body = b'{"event_type":"ping","data":{"success":true}}'
    made = signing.signature(secret, "msg_loFOjxBNrRLzqYUf", 1731705121, body)
    assert made == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


def test_a_changed_body_is_not_accepted():
    secret = signing.new_secret()
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(BODY.decode().replace("failed", "passed"), signed(secret))


def test_a_wrong_secret_is_not_accepted():
    with pytest.raises(WebhookVerificationError):
        Webhook(signing.new_secret()).verify(BODY.decode(), signed(signing.new_secret()))


def test_an_old_message_is_not_accepted_again():
    secret = signing.new_secret()
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(BODY.decode(), signed(secret, at=int(time.time()) - 3600))


def test_a_message_with_two_signatures_is_accepted_under_both_secrets():
    old, new = signing.new_secret(), signing.new_secret()
    headers = signed(new, old)
    assert Webhook(old).verify(BODY.decode(), headers)
    assert Webhook(new).verify(BODY.decode(), headers)


def test_a_secret_is_unique_and_has_32_bytes():
    made = {signing.new_secret() for _ in range(50)}
    assert len(made) == 50
    assert all(len(base64.b64decode(secret.removeprefix(signing.PREFIX))) == 32 for secret in made)
