"""Examples of the API's schema. A test checks each against the schema of what it is an example of."""

from drf_spectacular.utils import OpenApiExample


def in_request(name: str, value: object) -> OpenApiExample:
    """Of a request's body."""
    return OpenApiExample(name, value, request_only=True)


def in_response(name: str, value: object, status: int | None = None) -> OpenApiExample:
    """Of the body of an answer; unless said otherwise, of any below 300."""
    return OpenApiExample(name, value, response_only=True, status_codes=[status] if status else None)
