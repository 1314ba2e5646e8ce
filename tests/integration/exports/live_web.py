"""The real web process on the folders of a test, and sockets to its /ws/jobs."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from websockets.sync.client import ClientConnection, connect

from jobs.models.access import ApiToken
from tests.integration.web_process import Web, running
from tests.workers import database_url


def start(
    folder: Path, module: str = "tests.integration.web_process", **environment: str
) -> AbstractContextManager[Web]:
    folders = {"DURE_EXPORT_PATH": str(folder / "exports"), "DURE_REPLAY_PATH": str(folder / "replays")}
    return running(folder, module, DATABASE_URL=database_url(), **folders, **environment)


def resident_bytes(web: Web) -> int:
    """The resident memory of the process."""
    pages = (Path("/proc") / str(web.process.pid) / "statm").read_text().split()[1]
    return int(pages) * 4096


def token_of(user: User) -> str:
    return ApiToken.issue(user, "test", timezone.now())[1]


def socket_of(web: Web, token: str, query: str = "", **more: Any) -> ClientConnection:
    ws: ClientConnection = connect(
        f"ws://127.0.0.1:{web.port}/ws/jobs{query}",
        additional_headers={"Authorization": f"Token {token}"},
        open_timeout=60,
        **{"ping_interval": None, **more},
    )
    return ws
