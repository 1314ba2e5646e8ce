"""The exceptions of verbs, and the catalogue of their texts. Those of Task bodies are in the package dure.

An error names its text by a code, with parameters: `raise Conflict("too_many_webhooks", limit=20)`. Each
app registers the texts of its codes (see error_texts.py). `str(error)` is English, for the API, the command
line and the log; `error.text` reads in the reader's language wherever a page shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pydantic
from django.utils import translation
from django.utils.functional import Promise

from dure import InvalidArgs


class ProblemCode(NamedTuple):
    """A `code` of the API's problem documents: its status, its title, and what /api/problems/:code says."""

    status: int
    title: str
    meaning: str


_texts: dict[str, str | Promise] = {}
PROBLEM_CODES: dict[str, ProblemCode] = {}


def register_texts(texts: Mapping[str, str | Promise]) -> None:
    """Add an app's texts. Each app calls this once, in its AppConfig.ready()."""
    if doubled := [code for code, text in texts.items() if _texts.setdefault(code, text) != text]:
        raise ValueError(f"These codes have another text already: {', '.join(doubled)}.")


def register_problem_codes(codes: Mapping[str, ProblemCode]) -> None:
    if doubled := [
        code for code, meaning in codes.items() if PROBLEM_CODES.setdefault(code, meaning) != meaning
    ]:
        raise ValueError(f"These codes mean something else already: {', '.join(doubled)}.")


@dataclass(frozen=True)
class ErrorText:
    """A text of the catalogue with its parameters. `str()` renders it in the active language."""

    code: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __init__(self, code: str, /, **params: object) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "params", params)

    def __str__(self) -> str:
        return str(_texts[self.code]) % self.params

    def __hash__(self) -> int:
        return hash(self.code)


FieldErrors = dict[str, list[ErrorText]]


def in_english(text: object) -> str:
    with translation.override("en"):
        return str(text)


class CodedError(Exception):
    """An error whose text comes from the catalogue."""

    def __init__(self, code: str, /, **params: object) -> None:
        super().__init__(code)
        self.text = ErrorText(code, **params)

    def __str__(self) -> str:
        return in_english(self.text)


class InvalidValue(CodedError, ValueError):
    """A value cannot be read. Pydantic's validators and forms report its text beside the field."""


class ArgsRefused(InvalidArgs):
    """Arguments do not fit their Task; `errors` has a text for each."""

    def __init__(self, errors: Sequence[ErrorText]) -> None:
        super().__init__("; ".join(map(in_english, errors)))
        self.errors = list(errors)


class Fenced(Exception):
    """This run no longer owns its Execution: another one does, or it has ended. Nothing was written."""


class NotOnThisWorker(Exception):
    """This worker lacks the code that a run needs, and another one of its role may have it."""


class Held(Exception):
    """This run may not start yet. It waits in the database, and its message is dropped."""


class Refused(CodedError):
    """A verb cannot do what was asked; nothing was changed.

    `code` and the HTTP `status` are the API's answer: the code of the text if it is a problem code, else the
    class's own.
    `errors` holds the texts (or their codes) of the invalid fields, `extra` further members of the answer.
    Without a code of its own, the error has the text of its first wrong field.
    """

    code = "refused"
    status = 409

    def __init__(
        self,
        text_code: str = "",
        /,
        *,
        code: str = "",
        errors: Mapping[str, Sequence[ErrorText | str]] | None = None,
        extra: Mapping[str, object] | None = None,
        **params: object,
    ) -> None:
        self.errors: FieldErrors = {
            name: [text if isinstance(text, ErrorText) else ErrorText(text) for text in texts]
            for name, texts in (errors or {}).items()
        }
        if not text_code and self.errors:
            name, texts = next(iter(self.errors.items()))
            super().__init__("in_field", field=name, text=texts[0])
        else:
            super().__init__(text_code, **params)
        self.code = code or (text_code if text_code in PROBLEM_CODES else self.code)
        self.extra = dict(extra or {})

    def errors_in_english(self) -> dict[str, list[str]]:
        return {name: [in_english(text) for text in texts] for name, texts in self.errors.items()}

    def summary(self) -> str:
        """All its texts in one line, in English."""
        fields = [f"{field}: {' '.join(texts)}" for field, texts in self.errors_in_english().items()]
        return "; ".join(fields) or in_english(self)


class Invalid(Refused):
    """The input is not valid."""

    code, status = "invalid", 400


class TooLarge(Refused):
    """The input is larger than a limit allows."""

    code, status = "too_large", 413


class Conflict(Refused):
    """The object's state does not allow this now."""

    code = "conflict"


# Pydantic's type of an error, our code, and pydantic's name for the limit.
_LIMITS = {
    "greater_than": ("greater_than", "gt"),
    "greater_than_equal": ("at_least", "ge"),
    "less_than": ("less_than", "lt"),
    "less_than_equal": ("at_most", "le"),
    "too_short": ("too_short", "min_length"),
    "too_long": ("too_long", "max_length"),
    "string_too_short": ("too_short", "min_length"),
    "string_too_long": ("too_long", "max_length"),
    "string_pattern_mismatch": ("pattern", "pattern"),
    "literal_error": ("one_of", "expected"),
    "enum": ("one_of", "expected"),
    "multiple_of": ("multiple_of", "multiple_of"),
}


def text_of_pydantic(problem: Any, *, unknown: str = "unknown_field") -> ErrorText:
    """The text of one of pydantic's errors; `unknown` is the code for a field that does not exist."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in _LIMITS:
        code, name = _LIMITS[kind]
        return ErrorText(code, limit=context[name])
    if kind == "missing":
        return ErrorText("required")
    if kind == "extra_forbidden":
        return ErrorText(unknown)
    if kind == "finite_number":
        return ErrorText("finite")
    if kind.endswith(("_type", "_parsing", "_from_float")):
        return ErrorText("wrong_type", type=kind.partition("_")[0])
    if isinstance(error := context.get("error"), CodedError):
        return error.text
    return ErrorText("other", text=problem["msg"].removeprefix("Value error, "))


def pydantic_errors(error: pydantic.ValidationError, *, unknown: str = "unknown_field") -> FieldErrors:
    """The errors of a model, by the dotted path of the field."""
    errors: FieldErrors = {}
    for problem in error.errors(include_url=False, include_input=False):
        path = ".".join(str(part) for part in problem["loc"] if part != "[key]")
        errors.setdefault(path, []).append(text_of_pydantic(problem, unknown=unknown))
    return errors
