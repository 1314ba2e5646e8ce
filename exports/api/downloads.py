"""The result of an export as a download: in parts, resumable, and under a name that breaks nothing."""

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags
from rest_framework.request import Request

from exports.files import PathRefused, Store, split
from exports.models import ExportJob
from exports.states import CONTENT_TYPES, JobType, Status
from jobs.api.framework.problem_details import Problem

CHUNK = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def download(request: Request, job: ExportJob) -> HttpResponseBase:
    """200, 206, 304, 400, 404, 409 or 416. The file is opened once; what it is called later is no matter."""
    if job.status != Status.SUCCEEDED:
        raise Problem(409, "not_succeeded", f"The export is {job.status}; there is nothing to download.")
    etag = f'"{job.result_checksum}"'
    file = _opened(job)
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
    wanted = _range_of(request, etag, size)
    if wanted is None:
        return _answer(request, file, job, 200, headers, 0, size)
    first, last = wanted
    if first >= size or first > last:
        file.close()
        raise Problem(
            416,
            "range_not_satisfiable",
            f"The file has {size} bytes.",
            headers={"Content-Range": f"bytes */{size}"},
        )
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return _answer(request, file, job, 206, headers, first, last - first + 1)


def _opened(job: ExportJob) -> BinaryIO:
    if job.expired_at is not None:
        raise Problem(
            404,
            "file_gone",
            "The file is kept no longer. Ask for the export again: its replay is there.",
        )
    store = Store(settings.DURE_EXPORT_PATH)
    try:
        file = store.open(split(store.root, job.result_uri))
    except PathRefused as refusal:
        raise Problem(400, "outside_export_root", str(refusal)) from None
    except FileNotFoundError:
        raise Problem(404, "file_gone", "The file is no longer there. Ask for the export again.") from None
    if os.fstat(file.fileno()).st_size != job.result_size:
        file.close()
        raise Problem(404, "file_gone", "The file is no longer what was recorded. Ask for the export again.")
    return file


def _range_of(request: Request, etag: str, size: int) -> tuple[int, int] | None:
    """First and last byte. None when the whole file is to be sent: no range, or one that we need not heed."""
    condition = request.headers.get("If-Range")
    found = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if found is None or found[0] == "bytes=-" or condition not in (None, etag):
        return None
    first, last = found.groups()
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
    kind, headers = CONTENT_TYPES[JobType(job.job_type)], {**headers, "Content-Length": str(length)}
    if request.method == "HEAD":
        file.close()
        return HttpResponse(status=status, content_type=kind, headers=headers)
    return StreamingHttpResponse(
        _Chunks(file, first, length), status=status, content_type=kind, headers=headers
    )


class _Chunks:
    """Reads as it is sent; Django closes it at the end, whoever went away."""

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
