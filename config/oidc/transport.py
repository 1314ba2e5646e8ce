"""Sends what Authlib prepares by our own HTTP client, which reaches only what it may.

Settings name the issuer, so its host may be internal. What its discovery document names must be the same
host and port, public, or in DURE_HTTP_ALLOW.
"""

from typing import Any
from urllib.parse import urlsplit

import requests
from authlib.integrations.requests_client import OAuth2Session
from django.conf import settings
from requests.adapters import BaseAdapter

from jobs import http_client
from jobs.http_client.target import OWN_HEADERS, PORTS

SECONDS = 10.0
NOT_SENT = OWN_HEADERS | {"accept-encoding"}

RequestFailed = requests.RequestException


class Session(OAuth2Session):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A redirect would carry the secret elsewhere.
        self.max_redirects, self.trust_env = 0, False
        for scheme in PORTS:
            self.mount(f"{scheme}://", Adapter())


class Adapter(BaseAdapter):
    def send(self, request: Any, **_options: Any) -> requests.Response:  # type: ignore[override]
        headers = {name: value for name, value in request.headers.items() if name.lower() not in NOT_SENT}
        body = request.body.encode() if isinstance(request.body, str) else request.body
        allow = http_client.Allowance.parse([*settings.DURE_HTTP_ALLOW, _endpoint(settings.DURE_OIDC_ISSUER)])
        try:
            answer = http_client.request(
                request.method, request.url, headers=headers, body=body, seconds=SECONDS, allow=allow
            )
        except (http_client.RequestRefused, http_client.NoResponse) as error:
            raise requests.ConnectionError(str(error)) from None
        response = requests.Response()
        response.request, response.url, response.status_code = request, request.url, answer.status
        response.headers.update(answer.headers)
        response._content, response.encoding = answer.body, "utf-8"
        return response

    def close(self) -> None:
        pass


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port or PORTS[parts.scheme]}"
