"""Our signatures are those of Standard Webhooks: its official library accepts them."""

import base64
import time

from standardwebhooks import Webhook

from jobs.notifications import signing

BODY = '{"type":"job_failed","timestamp":"2026-12-01T09:00:00+09:00","data":{"error":"한글 …"}}'.encode()


def signed(*secrets: str) -> dict[str, str]:
    return signing.headers(secrets, "msg_1", int(time.time()), BODY)


def test_a_signature_is_verified_by_the_official_library():
    secret = signing.new_secret()
    assert Webhook(secret).verify(BODY.decode(), signed(secret))["type"] == "job_failed"


def test_a_signature_equals_the_example_of_the_specification():
    secret = "whsec_plJ3nmyCDGBKInavdOK15jsl"
    body = b'{"event_type":"ping","data":{"success":true}}'
    made = signing.signature(secret, "msg_loFOjxBNrRLzqYUf", 1731705121, body)
    assert made == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


def test_a_message_with_two_signatures_is_accepted_under_both_secrets():
    old, new = signing.new_secret(), signing.new_secret()
    headers = signed(new, old)
    assert Webhook(old).verify(BODY.decode(), headers)
    assert Webhook(new).verify(BODY.decode(), headers)


def test_a_secret_is_unique_and_has_32_bytes():
    made = {signing.new_secret() for _ in range(50)}
    assert len(made) == 50
    assert all(len(base64.b64decode(secret.removeprefix(signing.PREFIX))) == 32 for secret in made)
