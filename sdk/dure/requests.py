"""Sends requests with the token, repeats what can be repeated, and turns refusals into `APIError`."""

import json
import random
import uuid
from collections.abc import Mapping
from typing import Any

import httpx

from dure.errors import APIError, ConnectionFailed
from dure.login import Login
from dure.transport import Transport

ATTEMPTS = 5
# A server that asks for a longer wait than this gets no repetition.
LONGEST_PAUSE = 30.0
# 502 and 504 come from a proxy, while the server behind it starts again.
REPEATED_STATUSES = {429, 502, 503, 504}


class Requests:
    def __init__(self, login: Login, transport: Transport, timeout: float) -> None:
        self.login = login
        self.transport = transport
        self._timeout = timeout

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        query = {name: value for name, value in (params or {}).items() if value is not None}
        return (await self.send(self.build("GET", path, params=query))).json()

    async def post(self, path: str, body: Any = None, **options: Any) -> Any:
        """Carries a key, so that the server handles a repeated request once."""
        if body is not None:
            options["json"] = body
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        return (await self.send(self.build("POST", path, headers=headers, **options))).json()

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return (await self.send(self.build("PATCH", path, json=body))).json()

    async def delete(self, path: str) -> None:
        await self.send(self.build("DELETE", path))

    def build(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> httpx.Request:
        url = httpx.URL(self.login.url + path)
        all_headers = {
            "Authorization": f"Token {self.login.token}",
            "User-Agent": "dure-python",
            **(headers or {}),
        }
        timeout = httpx.Timeout(self._timeout).as_dict()
        return httpx.Request(method, url, headers=all_headers, extensions={"timeout": timeout}, **options)

    async def send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Sends it up to `ATTEMPTS` times. A POST has a key; other methods are repeatable by themselves."""
        attempt = 1
        while True:
            try:
                response = await self.transport.send(request, stream=stream)
                pause = pause_before_repetition(response, attempt)
                if request.method == "DELETE" and response.status_code == 404 and attempt > 1:
                    return response  # an earlier attempt has deleted it, and its answer was lost
                if pause is None or attempt == ATTEMPTS:
                    return await self._check(response)
                await self.transport.close_response(response)
            except httpx.TransportError as error:
                if attempt == ATTEMPTS:
                    text = f"{self.login.url} does not answer: {error or type(error).__name__}"
                    raise ConnectionFailed(text) from error
                pause = backoff(attempt)
            await self.transport.sleep(pause)
            attempt += 1

    async def _check(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        body = b"".join([chunk async for chunk in self.transport.chunks(response)])
        await self.transport.close_response(response)
        raise refusal(response.status_code, body)


def backoff(attempt: int) -> float:
    return float(min(LONGEST_PAUSE, 0.25 * 2**attempt) * random.uniform(0.5, 1.0))


def pause_before_repetition(response: httpx.Response, attempt: int) -> float | None:
    """How long to wait before the request is repeated; None for an answer that is final."""
    # 409 with Retry-After: the first request with this key is still being processed.
    header = response.headers.get("Retry-After", "")
    if response.status_code not in REPEATED_STATUSES and not (response.status_code == 409 and header):
        return None
    if not header.isdecimal():
        return backoff(attempt)
    return float(header) if float(header) <= LONGEST_PAUSE else None


def refusal(status: int, body: bytes) -> APIError:
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "code" not in problem:
        return APIError(status, "unexpected_answer", "The answer is not one of Dure's: is the address right?")
    return APIError(
        status,
        str(problem["code"]),
        str(problem.get("detail") or problem.get("title") or ""),
        problem.get("errors"),
        problem.get("request_id"),
    )
