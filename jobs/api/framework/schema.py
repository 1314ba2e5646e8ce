"""Extends drf-spectacular by our authentication, lists of pydantic models, and idempotent POSTs."""

import re
from typing import Any, get_args, get_origin

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.drainage import get_override
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_doc, is_list_serializer, is_serializer
from drf_spectacular.utils import OpenApiParameter

from jobs.api.framework import openapi_models  # noqa: F401 (registers how pydantic models are described)
from jobs.api.framework.idempotency import HEADER, LONGEST_KEY, REPLAYED
from jobs.api.framework.reading import partial_of
from jobs.api_model import ApiIn

# The tags of paths that do not begin with theirs.
TAGS = {
    "calendars": "schedules",
    "deadletters": "dead letters",
    "jobs": "exports",
    "libraries": "step queues",
    "queues": "step queues",
    "replays": "exports",
    "scheduler": "monitor",
    "steps": "step queues",
    "workflow": "workflows",
    "ws-ticket": "sockets",
}
_FIRST_SENTENCE = re.compile(r"(.+?)\.(?: |$)(.*)")


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "jobs.api.framework.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token ` and an API token: `Authorization: Token dure_…`",
        }


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    target_class = "jobs.api.framework.authentication.SessionAuthentication"
    name = "session"
    priority = 0

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        described: dict[str, str] = super().get_security_definition(auto_schema)  # type: ignore[no-untyped-call]
        sentence = "The session cookie from `/login`. All methods but GET also need `X-CSRFToken`."
        return described | {"description": sentence}


class Schema(AutoSchema):
    """Takes an operation's summary from the first sentence of its docstring, its description from the rest.

    Its tag is the first part of its path, or as TAGS says. What an office has is tagged by the next part.
    """

    _answers_list = False

    def get_tags(self) -> list[str]:
        first, *rest = self._tokenize_path()
        if first == "offices" and rest and rest[0] != "members":
            return rest[:1]
        return [TAGS.get(first, first)]

    def get_summary(self) -> str | None:
        match = _FIRST_SENTENCE.match(self._doc())
        return match[1] if match else None

    def get_description(self) -> str:  # type: ignore[override]
        match = _FIRST_SENTENCE.match(self._doc())
        return match[2] if match else ""

    def _doc(self) -> str:
        return " ".join(get_doc(self._handler).split())

    @property
    def _handler(self) -> Any:
        return getattr(self.view, self.method.lower(), None)

    def get_request_serializer(self) -> Any:
        """A request has no body unless its view says otherwise."""
        return None

    def get_override_parameters(self) -> list[Any]:
        parameters: list[Any] = super().get_override_parameters()
        if not getattr(self._handler, "is_idempotent", False):
            return parameters
        key = OpenApiParameter(
            HEADER,
            {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]([ -~]*[!-~])?$"},
            OpenApiParameter.HEADER,
            description="A request with the same key and body returns the first answer again, with "
            f"`{REPLAYED}: true`, for 24 hours; 422 with another body.",
        )
        replayed = OpenApiParameter(
            REPLAYED,
            {"type": "string", "const": "true"},
            OpenApiParameter.HEADER,
            description="The answer of an earlier request with the same key.",
            response=[200, 201, 202],
        )
        return [*parameters, key, replayed]

    def _get_request_for_media_type(self, serializer: Any, direction: Any = "request") -> Any:
        if self.method == "PATCH" and isinstance(serializer, type) and issubclass(serializer, ApiIn):
            serializer = partial_of(serializer)
        return super()._get_request_for_media_type(serializer, direction)  # type: ignore[no-untyped-call]

    # `list[Model]` is a list of that pydantic model, in pages if the view has them.
    def _is_list_view(self, serializer: Any = None) -> bool:
        if get_origin(serializer or self.get_response_serializers()) is list or self._answers_list:
            return True
        return bool(super()._is_list_view(serializer))

    def _get_response_for_code(
        self, serializer: Any, status_code: Any, media_types: Any = None, direction: Any = "response"
    ) -> Any:
        self._answers_list = get_origin(serializer) is list
        if self._answers_list:
            (serializer,) = get_args(serializer)
        return super()._get_response_for_code(  # type: ignore[no-untyped-call]
            serializer, status_code, media_types, direction
        )

    def _get_examples(
        self, serializer: Any, direction: Any, media_type: Any, status_code: Any = None, extras: Any = None
    ) -> Any:
        """The view's examples, for any status below 300; without any, those of the serializer."""
        if not (status_code and status_code >= "300"):
            other = "response_only" if direction == "request" else "request_only"
            examples = [
                example
                for example in self.get_examples()
                if not example.parameter_only and not getattr(example, other)
            ]
            if not examples and is_serializer(serializer):
                described = serializer.child if is_list_serializer(serializer) else serializer
                examples = get_override(described, "examples", [])
            # drf-spectacular accepts any status and media type for the examples passed as `extras`.
            serializer, extras = None, [*(extras or ()), *examples]
        return super()._get_examples(  # type: ignore[no-untyped-call]
            serializer, direction, media_type, status_code, extras
        )
