"""Examples in the API's schema. A test validates each against its schema."""

from drf_spectacular.utils import OpenApiExample


def in_request(name: str, value: object) -> OpenApiExample:
    """An example of a request's body."""
    return OpenApiExample(name, value, request_only=True)


def in_response(name: str, value: object, status: int | None = None) -> OpenApiExample:
    """An example of a response's body; by default for any status below 300."""
    return OpenApiExample(name, value, response_only=True, status_codes=[status] if status else None)
