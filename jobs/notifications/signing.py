"""Signs messages after the Standard Webhooks specification 1.0 (https://www.standardwebhooks.com).

A message is signed with HMAC-SHA256 over `id.timestamp.body`, the exact bytes that are sent. The id is the
same for all attempts, so that a receiver can drop duplicates; the timestamp is the attempt's, so that a
receiver can refuse a message that was recorded and is replayed.
"""

import base64
import hmac
import secrets
import time
from collections.abc import Sequence

from jobs import http_client

PREFIX = "whsec_"
KEY_BYTES = 32


def new_secret() -> str:
    """The key that the receiver has to know: `whsec_` and the bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def headers(valid_secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """One signature for each valid secret: a receiver accepts the message if any of them is right."""
    signatures = (signature(secret, message_id, timestamp, body) for secret in valid_secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def post(
    url: str, valid_secrets: Sequence[str], message_id: str, body: bytes, *, seconds: float = 10.0
) -> http_client.Response:
    """POST a JSON body, signed now. Raises what http_client.request raises."""
    signed = headers(valid_secrets, message_id, int(time.time()), body)
    return http_client.request(
        "POST",
        url,
        headers={"Content-Type": "application/json", **signed},
        body=body,
        seconds=seconds,
        limit=4_096,
    )
