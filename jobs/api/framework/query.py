"""Query parameters, each declared once for reading and for OpenAPI.

Invalid values are rejected. `LIMIT = WholeNumber("limit", "How many.", default=100, low=1, high=200)`
at the top of a module, then `parameters=[LIMIT.openapi]` and `(limit,) = read_parameters(request, LIMIT)`.
"""

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from jobs.api.framework.filtering import reject_unknown
from jobs.api.framework.problem_details import invalid_field
from jobs.ids import parse_number

_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Parameter:
    name: str
    description: str

    @property
    def schema(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def openapi(self) -> OpenApiParameter:
        return OpenApiParameter(self.name, self.schema, description=self.description)

    def of(self, request: Request) -> Any:
        raise NotImplementedError


def read_parameters(request: Request, *parameters: Parameter) -> list[Any]:
    """The values of all the parameters that a view has. Others are rejected."""
    reject_unknown(request, [parameter.name for parameter in parameters])
    return [parameter.of(request) for parameter in parameters]


@dataclass(frozen=True)
class WholeNumber(Parameter):
    _: KW_ONLY
    default: int
    low: int
    high: int

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high, "default": self.default}

    def of(self, request: Request) -> int:
        text = request.query_params.get(self.name)
        if text is None:
            return self.default
        number = parse_number(text)
        if number is None or not self.low <= number <= self.high:
            raise invalid_field(self.name, f"Must be a whole number from {self.low} to {self.high}.")
        return number


@dataclass(frozen=True)
class Seconds(Parameter):
    _: KW_ONLY
    most: int

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": 0, "maximum": self.most, "default": 0}

    def of(self, request: Request) -> float:
        text = request.query_params.get(self.name, "0")
        number = float(text) if _DECIMAL.fullmatch(text) else -1.0
        if not 0 <= number <= self.most:
            raise invalid_field(self.name, f"Must be a number of seconds, 0 to {self.most}.")
        return number


@dataclass(frozen=True)
class Flag(Parameter):
    _: KW_ONLY
    default: bool

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean", "default": self.default}

    def of(self, request: Request) -> bool:
        text = request.query_params.get(self.name, str(self.default).lower())
        if text not in ("true", "false"):
            raise invalid_field(self.name, "Must be true or false.")
        return text == "true"


@dataclass(frozen=True)
class OneOf(Parameter):
    allowed: Sequence[str]

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.allowed)}

    def of(self, request: Request) -> str | None:
        """The value of the parameter; None if it is absent."""
        text = request.query_params.get(self.name)
        if text is not None and text not in self.allowed:
            raise invalid_field(self.name, f"Must be one of {', '.join(self.allowed)}.")
        return text
