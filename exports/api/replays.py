"""Replays: upload, list, show, delete; and the exports of a replay."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import lifecycle, quota, replays
from exports.access import replays_of
from exports.api.examples import (
    GIF_PART,
    PICTURE_PART,
    REPLAY_EXAMPLE,
    UPLOAD,
    UPLOAD_EXAMPLE,
    VIDEO_PART,
    page_example,
)
from exports.api.pages import PAGING, page_of
from exports.models import Replay
from exports.schemas import (
    GifOptions,
    PictureOptions,
    ReplayOut,
    ReplayPage,
    StartedExportOut,
    StorageUsageOut,
    VideoOptions,
)
from exports.states import JobType
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.problem_details import Problem, invalid_field
from jobs.api.framework.reading import read
from jobs.api.views import accepted_response

Post = TypeVar("Post", bound=Callable[..., HttpResponseBase])


def own_replay(request: Request, replay_id: int) -> Replay:
    """404 for a replay of another user."""
    return get_object_or_404(replays_of(user_of(request)), pk=replay_id)


class ReplaysView(APIView):
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="list_replays",
        parameters=PAGING,
        responses={200: ReplayPage},
        examples=[in_response("one replay", page_example(REPLAY_EXAMPLE))],
    )
    def get(self, request: Request) -> Response:
        """List your replays, newest first."""
        return page_of(request, replays_of(user_of(request)), ReplayPage, ReplayOut.of)

    @extend_schema(
        operation_id="upload_replay",
        request=UPLOAD,
        responses={201: ReplayOut},
        examples=[in_request("an event log", UPLOAD_EXAMPLE)],
        extensions=problems("bad_replay", (413, "bad_replay"), "quota_exceeded", "no_space"),
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Upload a recording. An event log, or an MP4, MOV, WebM, Matroska or AVI video."""
        file, title = _upload(request)
        try:
            replay = replays.store_upload(user_of(request), file, title, timezone.now())
        except replays.NoSpace as full:
            raise Problem(507, "no_space", str(full), headers={"Retry-After": "60"}) from None
        location = request.build_absolute_uri(f"/api/replays/{replay.pk}")
        return Response(ReplayOut.write(replay), status=201, headers={"Location": location})


class UsageView(APIView):
    @extend_schema(operation_id="get_storage_usage", responses={200: StorageUsageOut})
    def get(self, request: Request) -> Response:
        """Show how much storage your replays and exports use, and how much they may."""
        return Response(StorageUsageOut.write(quota.usage_of(user_of(request).pk)))


def _upload(request: Request) -> "tuple[UploadedFile[Any], str]":
    files, fields = request.FILES, request.POST
    unknown = sorted({*files, *fields} - {"file", "title"})
    if unknown:
        raise invalid_field(unknown[0][:100], "There is no such field; the fields are: file, title.")
    if len(files.getlist("file")) != 1:
        raise invalid_field("file", "Send exactly one file, as multipart/form-data.")
    title = fields.get("title", "")
    if len(title) > replays.MAX_TITLE:
        raise invalid_field("title", f"At most {replays.MAX_TITLE} characters.")
    file = files["file"]
    assert isinstance(file, UploadedFile)  # noqa: S101 (what Django's parser makes)
    return file, title


class ReplayView(APIView):
    @extend_schema(operation_id="get_replay", responses={200: ReplayOut})
    def get(self, request: Request, replay_id: int) -> Response:
        """Get one of your replays."""
        return Response(ReplayOut.write(own_replay(request, replay_id)))

    @extend_schema(operation_id="delete_replay", responses={204: None}, extensions=problems("export_live"))
    def delete(self, request: Request, replay_id: int) -> Response:
        """Delete a replay, its exports and their files. Refused while an export of it has not ended."""
        replays.delete(own_replay(request, replay_id))
        return Response(status=204)


def start_schema(
    operation_id: str, options: type[PictureOptions], example: OpenApiExample, *, job_id: int
) -> Callable[[Post], Post]:
    return extend_schema(
        operation_id=operation_id,
        request=options,
        responses={202: StartedExportOut},
        examples=[example, in_response("accepted", {"jobId": job_id})],
        extensions=problems("quota_exceeded"),
    )


class _StartView(APIView):
    def start(
        self, request: Request, replay_id: int, job_type: JobType, options: type[PictureOptions]
    ) -> Response:
        render = read(options, request.data).options()
        job = lifecycle.request(own_replay(request, replay_id), job_type, timezone.now(), render)
        location = request.build_absolute_uri(f"/api/jobs/{job.pk}")
        return accepted_response(StartedExportOut.write(job), location)


class StartMp4View(_StartView):
    @start_schema("export_mp4", VideoOptions, in_request("ten seconds", VIDEO_PART), job_id=1)
    @idempotent
    def post(self, request: Request, replay_id: int) -> Response:
        """Export one of your replays as MP4."""
        return self.start(request, replay_id, JobType.MP4, VideoOptions)


class StartWebmView(_StartView):
    @start_schema("export_webm", VideoOptions, in_request("ten seconds", VIDEO_PART), job_id=3)
    @idempotent
    def post(self, request: Request, replay_id: int) -> Response:
        """Export one of your replays as WebM (VP9)."""
        return self.start(request, replay_id, JobType.WEBM, VideoOptions)


class StartGifView(_StartView):
    @start_schema("export_gif", GifOptions, in_request("ten seconds", GIF_PART), job_id=4)
    @idempotent
    def post(self, request: Request, replay_id: int) -> Response:
        """Export a part of one of your replays as an animated GIF. It shows at most 60 seconds."""
        return self.start(request, replay_id, JobType.GIF, GifOptions)


class StartThumbnailView(_StartView):
    @start_schema("export_thumbnail", PictureOptions, in_request("of the beginning", PICTURE_PART), job_id=2)
    @idempotent
    def post(self, request: Request, replay_id: int) -> Response:
        """Export the highlight of one of your replays, or of a part of it, as a thumbnail."""
        return self.start(request, replay_id, JobType.THUMBNAIL, PictureOptions)
