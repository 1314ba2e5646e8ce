"""Makes a POST safe to repeat: the same `Idempotency-Key` and body return the first answer again.

The row is inserted first, in the transaction of the effect. A second request with the same key then
waits on the unique index until the first has committed (and repeats its answer) or rolled back (and
takes its place), so the two never run at the same time. Only an answer below 400 is stored: an error
changed nothing, and the client may correct the request and send it again with the same key.

Effects after the commit (publishing) belong into `transaction.on_commit`, as everywhere.
"""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, transaction
from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.framework.problem_details import Problem
from jobs.models.access import IdempotentAnswer

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST_KEY = 200
LOCK_NOT_AVAILABLE = "55P03"

P = ParamSpec("P")
Handler = Callable[Concatenate[Any, Request, P], HttpResponseBase]


def idempotent(handler: Handler[P]) -> Handler[P]:
    """Decorates a view's `post`. Requests without the header are not affected."""

    @wraps(handler)
    def answer(view: Any, request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        key = _key_of(request)
        if key is None or not isinstance(request.user, User):
            return handler(view, request, *args, **kwargs)
        digest = _digest_of(request)
        with transaction.atomic():
            row = _insert(request.user, request.path, key, digest)
            if row is None:
                return _replay(request.user, request.path, key, digest)
            response = handler(view, request, *args, **kwargs)
            if response.status_code < 400:
                _store(row, response)
            else:
                transaction.set_rollback(True)
        return response

    answer.is_idempotent = True  # type: ignore[attr-defined]  # adds the header to the API's schema
    return answer


def _key_of(request: Request) -> str | None:
    key = request.headers.get(HEADER)
    if key is None:
        return None
    key = key.strip()
    if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        sentence = f"{HEADER} must be 1 to {LONGEST_KEY} printable ASCII characters."
        raise Problem(400, "invalid_idempotency_key", sentence, errors={HEADER: [sentence]})
    return key


def _digest_of(request: Request) -> str:
    """The digest of the parsed data, because the boundary of a multipart body differs each time."""
    digest = hashlib.sha256(request.META.get("QUERY_STRING", "").encode() + b"\n")
    data, files = request.data, list(request.FILES.items())
    if isinstance(data, QueryDict):
        data = dict(request.POST.lists())
    file_names = [[name, file.name] for name, file in files]
    digest.update(json.dumps([data, file_names], sort_keys=True).encode())
    for _, file in files:
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
    return digest.hexdigest()


def _insert(user: User, path: str, key: str, digest: str) -> IdempotentAnswer | None:
    """The row of this request, or None if an earlier request used the key."""
    try:
        # A savepoint: a failed insert must not abort the transaction.
        with transaction.atomic():
            return IdempotentAnswer.objects.create(
                user=user, path=path, key=key, digest=digest, created_at=timezone.now()
            )
    except IntegrityError:
        return None
    except OperationalError as error:
        if getattr(error.__cause__, "pgcode", None) != LOCK_NOT_AVAILABLE:
            raise
        sentence = f"The first request with this {HEADER} is still being processed."
        raise Problem(409, "request_in_progress", sentence, headers={"Retry-After": "1"}) from None


def _replay(user: User, path: str, key: str, digest: str) -> HttpResponse:
    row = IdempotentAnswer.objects.get(user=user, path=path, key=key)
    if row.digest != digest:
        raise Problem(422, "idempotency_key_reused", f"This {HEADER} was used before with another body.")
    response = HttpResponse(row.body, status=row.status, content_type="application/json")
    if row.location:
        response["Location"] = row.location
    response[REPLAYED] = "true"
    return response


def _store(row: IdempotentAnswer, response: HttpResponseBase) -> None:
    data = response.data if isinstance(response, Response) else None
    row.status = response.status_code
    row.body = "" if data is None else JSONRenderer().render(data).decode()
    row.location = response.get("Location", "")
    row.save(update_fields=["status", "body", "location"])
