"""What the client raises. All of it is a `DureError`."""

from collections.abc import Mapping, Sequence


class DureError(Exception):
    """The base of the client's errors; its text is for people."""


class ConfigurationError(DureError):
    """The client does not know which server, token or office to use."""


class ConnectionFailed(DureError):
    """The server did not answer, also not after the repetitions."""


class DownloadFailed(DureError):
    """The file that arrived is not the one that the server described."""


class WaitTimeout(DureError, TimeoutError):
    """What `wait()` waited for has not ended in time. It goes on."""


class APIError(DureError):
    """The server refused a request. Branch on `code`, show `detail`; a 400 has `errors` by field."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Mapping[str, Sequence[object]] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(status, code, detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = dict(errors or {})
        self.request_id = request_id

    def __str__(self) -> str:
        fields = [f"{field}: {' '.join(map(str, texts))}" for field, texts in self.errors.items()]
        return "\n  ".join([f"{self.detail} ({self.status} {self.code})", *fields])
