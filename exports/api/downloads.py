"""Downloads of results: resumable, by ranges, and with a safe file name."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from exports.files import PathRefused
from exports.models import ExportJob
from exports.results import NotAsRecorded, open_result
from exports.states import CONTENT_TYPES, JobType, Status
from jobs.api.framework.problem_details import Problem

CHUNK = 256 * 1024
OCTET_STREAM = "application/octet-stream"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class AcceptsAnyType(DefaultContentNegotiation):
    """For views that answer a file: `Accept` chooses no renderer."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type


def download(request: Request, job: ExportJob) -> HttpResponseBase:
    """200, 206, 304, 400, 404, 409 or 416. The file is opened once, so a later rename does not matter."""
    if job.status != Status.SUCCEEDED:
        raise Problem(409, "not_succeeded", f"The export is {job.status}; there is nothing to download.")
    etag = f'"{job.result_checksum}"'
    file = _open(job)
    name = content_disposition_header(True, job.download_name(job.replay.title)) or "attachment"
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": name,
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
    }
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        file.close()
        return HttpResponse(status=304, headers=headers)
    size = job.result_size or 0
    byte_range = _range_of(request, etag, size)
    if byte_range is None:
        return _answer(request, file, job, 200, headers, 0, size)
    first, last = byte_range
    if first >= size or first > last:
        file.close()
        unsatisfied = {"Content-Range": f"bytes */{size}"}
        raise Problem(416, "range_not_satisfiable", f"The file has {size} bytes.", headers=unsatisfied)
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return _answer(request, file, job, 206, headers, first, last - first + 1)


def _open(job: ExportJob) -> BinaryIO:
    if job.expired_at is not None:
        raise Problem(404, "file_gone", "The file has expired. Export again: the replay still exists.")
    try:
        return open_result(job)
    except PathRefused as refusal:
        raise Problem(400, "outside_export_root", str(refusal)) from None
    except FileNotFoundError:
        raise Problem(404, "file_gone", "The file no longer exists. Export again.") from None
    except NotAsRecorded:
        raise Problem(404, "file_gone", "The file is not the recorded one. Export again.") from None


def _range_of(request: Request, etag: str, size: int) -> tuple[int, int] | None:
    """First and last byte. None for the whole file: there is no range, or it may be ignored."""
    condition = request.headers.get("If-Range")
    match = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if match is None or match[0] == "bytes=-" or condition not in (None, etag):
        return None
    first, last = match.groups()
    if not first:
        return max(size - int(last), 0) if int(last) else size, size - 1
    return int(first), min(int(last), size - 1) if last else size - 1


def _answer(
    request: Request,
    file: BinaryIO,
    job: ExportJob,
    status: int,
    headers: dict[str, str],
    first: int,
    length: int,
) -> HttpResponseBase:
    # Clients that were generated from the schema can read only this of the types.
    is_generic = request.headers.get("Accept", "").strip() == OCTET_STREAM
    kind = OCTET_STREAM if is_generic else CONTENT_TYPES[JobType(job.job_type)]
    headers = {**headers, "Content-Length": str(length)}
    if request.method == "HEAD":
        file.close()
        return HttpResponse(status=status, content_type=kind, headers=headers)
    return StreamingHttpResponse(
        _Chunks(file, first, length), status=status, content_type=kind, headers=headers
    )


class _Chunks:
    """The chunks of a download. Django closes it at the end, and when the client disconnects."""

    def __init__(self, file: BinaryIO, first: int, length: int) -> None:
        self._file, self._at, self._end = file, first, first + length

    def __iter__(self) -> Iterator[bytes]:
        while self._at < self._end:
            chunk = os.pread(self._file.fileno(), min(CHUNK, self._end - self._at), self._at)
            if not chunk:
                return
            self._at += len(chunk)
            yield chunk

    def close(self) -> None:
        self._file.close()
