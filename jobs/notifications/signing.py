"""Signatures after the Standard Webhooks specification 1.0 (https://www.standardwebhooks.com).

A message is signed with HMAC-SHA256 over `id.timestamp.body`, the exact bytes that are sent. The id
stays the same over all attempts, so that a receiver can drop what it has seen; the timestamp is that
of the attempt, so that a receiver can refuse what somebody recorded and plays again.
"""

import base64
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
KEY_BYTES = 32


def new_secret() -> str:
    """What the receiver has to know: `whsec_` and the key in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def headers(secrets_now: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """One signature for each secret that is valid now: a receiver accepts the message if any is right."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(one, message_id, timestamp, body) for one in secrets_now),
    }
