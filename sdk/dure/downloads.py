"""Downloads a file in ranges: what has arrived is kept in `<name>.part`, and the rest follows."""

import hashlib
from pathlib import Path

import httpx

from dure.errors import ConnectionFailed, DownloadFailed
from dure.records import Export
from dure.requests import ATTEMPTS, Requests, backoff


async def download(requests: Requests, export: Export, target: Path) -> Path:
    part = target.with_name(target.name + ".part")
    size, failures = export.size_bytes or 0, 0
    while (before := _size(part)) < size:
        try:
            await _fetch(requests, f"{export.path}/result", part)
            break
        except httpx.TransportError as error:
            failures = 1 if _size(part) > before else failures + 1
            if failures == ATTEMPTS:
                raise ConnectionFailed(f"The download ended after {_size(part)} of {size} bytes.") from error
            await requests.transport.sleep(backoff(failures))
    if _digest(part) != export.checksum:
        part.unlink()
        raise DownloadFailed(f"The file of export {export.job_id} did not arrive intact; download it again.")
    part.replace(target)
    return target


async def _fetch(requests: Requests, path: str, part: Path) -> None:
    done = _size(part)
    headers = {"Range": f"bytes={done}-"} if done else {}
    response = await requests.send(requests.build("GET", path, headers=headers), stream=True)
    try:
        # A server that ignores the range sends the file from its beginning.
        with part.open("ab" if response.status_code == 206 else "wb") as file:
            async for chunk in requests.transport.chunks(response):
                file.write(chunk)
    finally:
        await requests.transport.close_response(response)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
