"""Where the client finds its server, token and office: arguments, environment, then the saved login."""

import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

from dure.errors import ConfigurationError

DEFAULT_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Login:
    url: str
    token: str = field(repr=False)
    office: str | None = None


def login_file() -> Path:
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "dure" / "login.json"


def save(login: Login) -> Path:
    """Only the user can read the file, at every moment of the write."""
    path = login_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The file of mkstemp has the mode 0600.
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        json.dump(asdict(login), file)
    Path(temporary).replace(path)
    return path


def read_saved() -> Login | None:
    try:
        return Login(**json.loads(login_file().read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(f"Cannot read {login_file()}: {error}. Run `dure login` again.") from None


def find(url: str | None = None, token: str | None = None, office: str | None = None) -> Login:
    url = url or os.environ.get("DURE_URL")
    token = token or os.environ.get("DURE_TOKEN")
    office = office or os.environ.get("DURE_OFFICE")
    if url and token:
        return Login(normalize(url), checked_token(token), office)
    login = read_saved()
    # A token is only for the server that it was saved with.
    if login and (url is None or normalize(url) == login.url):
        return Login(login.url, checked_token(token or login.token), office or login.office)
    if token:
        return Login(normalize(url or DEFAULT_URL), checked_token(token), office)
    where = f" for {url}" if url else ""
    raise ConfigurationError(f"No token{where}: run `dure login`, or set DURE_URL and DURE_TOKEN.")


def checked_token(token: str) -> str:
    """A token without the white space around it. The message of a refusal does not repeat the token."""
    token = token.strip()
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise ConfigurationError("The token is empty, or has characters that no token has.")
    return token


def normalize(url: str) -> str:
    """The address of the server, without a slash or `/api` at its end."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.userinfo:
        raise ConfigurationError(f"{url!r} is not the address of a server, such as https://dure.example.")
    return url.rstrip("/").removesuffix("/api")
