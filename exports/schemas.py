"""The API's exports, replays, links and dead letters: camelCase, and no path of the server."""

from datetime import datetime
from typing import Annotated, Generic, TypeVar

from pydantic import AliasPath, Field

from exports import links
from exports.eventlog import MAX_DURATION_MS
from exports.models import DeadLetter, ExportJob
from exports.options import MAX_FPS_OF
from exports.render.options import RESOLUTIONS, RenderOptions
from exports.states import ErrorCode, JobType, Phase, Status
from jobs.api_model import (
    IN_CAMEL_CASE,
    OUT_CAMEL_CASE,
    WHOLE,
    AnyOf,
    ApiIn,
    ApiOut,
    Omittable,
    OneOf,
    TextOrNone,
    Time,
)


class CamelCaseIn(ApiIn):
    model_config = IN_CAMEL_CASE


class CamelCaseOut(ApiOut):
    model_config = OUT_CAMEL_CASE


class ReplayOut(CamelCaseOut):
    replay_id: int = Field(validation_alias="pk")
    title: str
    file_name: str
    kind: Annotated[str, AnyOf(["eventlog", "mp4", "matroska", "avi"])]
    size_bytes: int
    checksum: str = Field(validation_alias="sha256", description="SHA-256 of the upload.")
    duration_ms: int | None = Field(description="Null for a video that the server could not measure.")
    created_at: Time


class StorageUsageOut(CamelCaseOut):
    replay_bytes: int = Field(description="Of your replays.")
    result_bytes: int = Field(description="Of the results of your exports that have not expired.")
    used_bytes: int = Field(description="The sum of both.")
    quota_bytes: int | None = Field(description="Null: any number.")


class PictureOptions(CamelCaseIn):
    resolution: Omittable[Annotated[str, OneOf(list(RESOLUTIONS))]] = Field(
        None,
        description="The pictures fit into 16:9 of this height. An event log is drawn at exactly this "
        "size; a video is never made larger.",
    )
    from_ms: Omittable[Annotated[int, Field(ge=0, le=MAX_DURATION_MS), WHOLE]] = Field(
        None, description="The start of the part to export."
    )
    to_ms: Omittable[Annotated[int, Field(ge=1, le=MAX_DURATION_MS), WHOLE]] = Field(
        None, description="Its end; after `fromMs`."
    )

    def options(self) -> RenderOptions:
        return RenderOptions(**self.model_dump())


class VideoOptions(PictureOptions):
    fps: Omittable[Annotated[int, Field(ge=1, le=MAX_FPS_OF[JobType.MP4]), WHOLE]] = Field(
        None, description="Frames per second."
    )
    sound: Omittable[bool] = Field(
        None, description="Whether the file keeps the sound of a video; default: true. An event log has none."
    )


class GifOptions(PictureOptions):
    fps: Omittable[Annotated[int, Field(ge=1, le=MAX_FPS_OF[JobType.GIF]), WHOLE]] = Field(
        None, description="Frames per second."
    )


class StartedExportOut(CamelCaseOut):
    job_id: int = Field(validation_alias="pk")


class ExportOut(CamelCaseOut):
    job_id: int = Field(validation_alias="pk")
    job_type: Annotated[str, AnyOf(JobType.values)]
    replay_id: int
    resolution: Annotated[str, AnyOf(list(RESOLUTIONS))] | None = Field(
        description="Null, here and below: nothing was set, and the default holds."
    )
    fps: int | None
    from_ms: int | None
    to_ms: int | None
    sound: bool | None
    status: Annotated[str, AnyOf(Status.values)]
    progress: int = Field(ge=0, le=100)
    phase: str = Field(description=f"{', '.join(Phase.values)}, or a foreign worker's own.")
    message: str = Field(
        description="The last progress message of the worker; after a success what is wrong with the file, "
        "such as sound that could not be read."
    )
    eta_seconds: int | None = Field(
        description="The time left at the speed so far; null while it is unknown."
    )
    result_uri: str | None = Field(validation_alias="result_url", description="Where to download the file.")
    checksum: TextOrNone = Field(validation_alias="result_checksum", description="SHA-256 of the file.")
    size_bytes: int | None = Field(validation_alias="result_size")
    error_code: TextOrNone = Field(description=f"{', '.join(ErrorCode.values)}, or a foreign worker's own.")
    error_message: TextOrNone
    created_at: Time
    started_at: Time | None
    ended_at: Time | None
    expired_at: Time | None = Field(description="When the file was deleted.")

    @classmethod
    def at(cls, job: ExportJob, now: datetime) -> "ExportOut":
        return cls.of(job, eta_seconds=job.seconds_left(now))


class NewLink(CamelCaseIn):
    expires_in_seconds: Omittable[
        Annotated[
            int,
            Field(ge=int(links.MIN_AGE.total_seconds()), le=int(links.MAX_AGE.total_seconds())),
            WHOLE,
        ]
    ] = Field(None, description="Without it a week.")


class ExportLinkOut(CamelCaseOut):
    link_id: int = Field(validation_alias="pk")
    url: str = Field(description="A credential: who has it can download the file.")
    created_at: Time
    expires_at: Time


class ExportLinksOut(ApiOut):
    content: list[ExportLinkOut]


class DeadLetterOut(CamelCaseOut):
    id: int
    source_stream: str
    source_id: str = Field(description="The id of the message in its stream.")
    fields: dict[str, str]
    whole: bool = Field(description="Whether `fields` is the complete message.")
    reason: str
    failed_at: Time
    state: Annotated[str, AnyOf(DeadLetter.State.values)]
    handled_at: Time | None
    handled_by: str | None = Field(None, validation_alias=AliasPath("handled_by", "username"))


T = TypeVar("T", bound=ApiOut)


class Page(CamelCaseOut, Generic[T]):
    content: list[T]
    page: int = Field(ge=0)
    size: int = Field(ge=1, le=200)
    total_elements: int
    total_pages: int


class ReplayPage(Page[ReplayOut]):
    pass


class ExportPage(Page[ExportOut]):
    pass


class DeadLetterPage(Page[DeadLetterOut]):
    pass
