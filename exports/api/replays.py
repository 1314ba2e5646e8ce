"""Replays: uploaded, listed, shown, deleted; and the exports that are asked for of one."""

from typing import Any, BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import lifecycle, replays
from exports.api import examples, shapes
from exports.api.paging import PAGING, page_of
from exports.models import Replay
from exports.states import JobType
from jobs.api.framework.authentication import user_of
from jobs.api.framework.filtering import refuse_unknown
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.problem_details import Problem

LONGEST_TITLE = 200
UPLOAD = {
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {
                "type": "string",
                "format": "binary",
                "description": "An event log, or an MP4, MOV, WebM, Matroska or AVI video.",
            },
            "title": {
                "type": "string",
                "maxLength": LONGEST_TITLE,
                "description": "The log's own or the file's name, unless given.",
            },
        },
        "additionalProperties": False,
    }
}


def own_replay(request: Request, replay_id: int) -> Replay:
    """Somebody else's is as if it were not there."""
    found = Replay.objects.filter(pk=replay_id, owner=user_of(request)).first()
    if found is None:
        raise Http404
    return found


@extend_schema(tags=["exports"])
class ReplaysView(APIView):
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="list_replays",
        parameters=PAGING,
        responses={200: shapes.page_document("ReplayPage", shapes.ReplayDocument)},
        examples=[in_response("one replay", examples.page(examples.REPLAY))],
    )
    def get(self, request: Request) -> Response:
        """List your replays, newest first."""
        refuse_unknown(request, ("page", "size"))
        rows = Replay.objects.filter(owner=user_of(request)).order_by("-id")
        return page_of(request, rows, shapes.replay)

    @extend_schema(
        operation_id="upload_replay",
        request=UPLOAD,
        responses={201: shapes.ReplayDocument},
        examples=[in_request("an event log", examples.UPLOAD)],
        extensions=problems("bad_replay", (413, "bad_replay"), "no_space"),
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Upload a recording. An event log, or an MP4, MOV, WebM, Matroska or AVI video."""
        file, title = _upload(request)
        content = cast(BinaryIO, file.file)  # Django's own wrapper has no readline with a limit
        try:
            replay = replays.store(user_of(request), content, file.name or "", title, timezone.now())
        except replays.NoSpace as full:
            raise Problem(507, "no_space", str(full), headers={"Retry-After": "60"}) from None
        location = request.build_absolute_uri(f"/api/replays/{replay.pk}")
        return Response(shapes.replay(replay), status=201, headers={"Location": location})


def _upload(request: Request) -> "tuple[UploadedFile[Any], str]":
    files, fields = request.FILES, request.POST
    unknown = sorted({*files, *fields} - {"file", "title"})
    if unknown:
        raise _wrong(unknown[0][:100], "There is no such field to set; there are: file, title.")
    if len(files.getlist("file")) != 1:
        raise _wrong("file", "Send exactly one file, as multipart/form-data.")
    title = fields.get("title", "")
    if len(title) > LONGEST_TITLE:
        raise _wrong("title", f"At most {LONGEST_TITLE} characters.")
    file = files["file"]
    assert isinstance(file, UploadedFile)  # noqa: S101 (what Django's parser makes)
    return file, title


def _wrong(name: str, sentence: str) -> Problem:
    return Problem(400, "invalid", f"{name}: {sentence}", errors={name: [sentence]})


@extend_schema(tags=["exports"])
class ReplayView(APIView):
    @extend_schema(operation_id="get_replay", responses={200: shapes.ReplayDocument})
    def get(self, request: Request, replay_id: int) -> Response:
        """One of your replays."""
        return Response(shapes.replay(own_replay(request, replay_id)))

    @extend_schema(operation_id="delete_replay", responses={204: None}, extensions=problems("export_live"))
    def delete(self, request: Request, replay_id: int) -> Response:
        """Delete a replay, its exports and their files. Not while an export of it is being made."""
        replays.delete(own_replay(request, replay_id))
        return Response(status=204)


class _StartView(APIView):
    job_type: JobType

    def start(self, request: Request, replay_id: int) -> Response:
        job = lifecycle.request(own_replay(request, replay_id), self.job_type, timezone.now())
        location = request.build_absolute_uri(f"/api/jobs/{job.pk}")
        return Response({"jobId": job.pk}, status=202, headers={"Location": location})


@extend_schema(tags=["exports"])
class StartMp4View(_StartView):
    job_type = JobType.MP4

    @extend_schema(
        operation_id="export_mp4",
        request=None,
        responses={202: shapes.STARTED},
        examples=[in_response("accepted", {"jobId": 1})],
    )
    @idempotent
    def post(self, request: Request, replay_id: int) -> Response:
        """Make an MP4 of one of your replays."""
        return self.start(request, replay_id)


@extend_schema(tags=["exports"])
class StartThumbnailView(_StartView):
    job_type = JobType.THUMBNAIL

    @extend_schema(
        operation_id="export_thumbnail",
        request=None,
        responses={202: shapes.STARTED},
        examples=[in_response("accepted", {"jobId": 2})],
    )
    @idempotent
    def post(self, request: Request, replay_id: int) -> Response:
        """Make a thumbnail of one of your replays."""
        return self.start(request, replay_id)
