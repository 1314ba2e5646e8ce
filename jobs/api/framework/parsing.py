"""Parses a request's body: one strict JSON object."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.utils.mediatypes import _MediaType

from jobs.api.framework import strict_json
from jobs.api.framework.problem_details import Problem


class JSONParser(parsers.JSONParser):
    """A subclass of DRF's JSONParser, so that Django checks the size of the body first (413)."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        charset = _MediaType(media_type or "").params.get("charset", "utf-8")
        if charset.lower() not in ("utf-8", "utf8"):
            raise UnsupportedMediaType(media_type or "", f"JSON is UTF-8 here, not {charset[:40]}.")
        try:
            value = strict_json.loads(stream.read())
        except strict_json.InvalidJSON as error:
            raise Problem(400, "malformed_json", str(error)) from None
        # Every body of this API is an object, so views need not check.
        if not isinstance(value, dict):
            raise Problem(400, "malformed_json", "The body must be a JSON object: {…}.")
        return value
