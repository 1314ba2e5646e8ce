"""Replays and their exports. The stream contract defines the name and the columns of the table `jobs`."""

from datetime import datetime
from pathlib import PurePosixPath

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from exports.render.options import MAX_FPS, RESOLUTIONS, RenderOptions
from exports.states import LIVE, SUFFIXES, TERMINAL, JobType, Status


class Replay(models.Model):
    """An uploaded recording. `path` is relative to the replay root."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="replays", verbose_name=_("owner")
    )
    title = models.CharField(_("title"), max_length=200)
    file_name = models.CharField(_("file name"), max_length=200)
    kind = models.CharField(_("format"), max_length=16)
    path = models.CharField(_("path"), max_length=300, unique=True)
    size_bytes = models.BigIntegerField(_("size (bytes)"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    # None for a video that could not be measured, although it can be read.
    duration_ms = models.BigIntegerField(_("length (ms)"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"))

    class Meta:
        db_table = "replays"
        verbose_name = _("replay")
        verbose_name_plural = _("replays")
        # the owner's list, newest first.
        indexes = [models.Index(F("owner"), F("id").desc(), name="replays_of_owner")]

    def __str__(self) -> str:
        return self.title


class ExportJob(models.Model):
    """Turns a replay into an MP4 or a thumbnail: a job of the stream contract.

    Rendering may start more than once. One result is accepted, and one file recorded.
    """

    id = models.BigAutoField(_("ID"), primary_key=True, db_column="job_id")
    job_type = models.CharField(_("kind"), max_length=16, choices=JobType.choices)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="exports",
        db_column="owner_user_id",
        verbose_name=_("owner"),
    )
    replay = models.ForeignKey(
        Replay,
        on_delete=models.CASCADE,
        related_name="exports",
        db_column="target_replay_id",
        verbose_name=_("replay"),
    )
    # What the user chose; null is the default of the type.
    resolution = models.CharField(_("resolution"), max_length=8, null=True, blank=True)
    fps = models.PositiveSmallIntegerField(_("frames per second"), null=True, blank=True)
    from_ms = models.PositiveBigIntegerField(_("from (ms)"), null=True, blank=True)
    to_ms = models.PositiveBigIntegerField(_("to (ms)"), null=True, blank=True)
    sound = models.BooleanField(_("sound"), null=True, blank=True)
    status = models.CharField(_("status"), max_length=16, choices=Status.choices, default=Status.QUEUED)
    progress = models.IntegerField(_("progress"), default=0)
    phase = models.CharField(_("phase"), max_length=32, blank=True)
    message = models.CharField(_("message"), max_length=1_000, blank=True)
    created_at = models.DateTimeField(_("created at"))
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    # When the last message about it came: a running job without messages has stalled.
    heard_at = models.DateTimeField(_("last message at"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    error_code = models.CharField(_("error code"), max_length=64, blank=True)
    error_message = models.CharField(_("error"), max_length=1_000, blank=True)
    # Relative to the export root. No other file of the job can be downloaded.
    result_uri = models.CharField(_("result"), max_length=1_000, blank=True)
    result_checksum = models.CharField(_("result's checksum"), max_length=64, blank=True)
    result_size = models.BigIntegerField(_("result's size (bytes)"), null=True, blank=True)
    # When its file expired; the rest of the row stays.
    expired_at = models.DateTimeField(_("expired at"), null=True, blank=True)
    # The engine's run, when our own worker renders the export.
    execution_id = models.UUIDField(_("run"), null=True, blank=True)

    class Meta:
        db_table = "jobs"
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        indexes = [
            # the owner's list, newest first.
            models.Index(F("owner"), F("id").desc(), name="exports_of_owner"),
            # fail_stalled; republish_requests after Redis lost its data.
            models.Index(fields=["status", "heard_at"], name="exports_live", condition=Q(status__in=LIVE)),
            # pruning; metrics of what ended recently.
            models.Index(fields=["ended_at"], name="exports_by_end", condition=Q(ended_at__isnull=False)),
        ]
        constraints = [
            models.CheckConstraint(name="export_status_known", condition=Q(status__in=Status.values)),
            models.CheckConstraint(name="export_type_known", condition=Q(job_type__in=JobType.values)),
            models.CheckConstraint(
                name="export_resolution_known",
                condition=Q(resolution__isnull=True) | Q(resolution__in=list(RESOLUTIONS)),
            ),
            models.CheckConstraint(
                name="export_fps_in_range",
                condition=Q(fps__isnull=True) | Q(fps__gte=1, fps__lte=MAX_FPS),
            ),
            models.CheckConstraint(
                name="export_part_not_empty",
                condition=Q(to_ms__isnull=True) | Q(to_ms__gt=Coalesce("from_ms", 0)),
            ),
            models.CheckConstraint(
                name="export_progress_is_a_percentage", condition=Q(progress__gte=0, progress__lte=100)
            ),
            models.CheckConstraint(
                name="export_ended_iff_ended_at",
                condition=Q(status__in=TERMINAL, ended_at__isnull=False)
                | Q(status__in=LIVE, ended_at__isnull=True),
            ),
            models.CheckConstraint(
                name="export_expired_only_if_succeeded",
                condition=Q(expired_at__isnull=True) | Q(status=Status.SUCCEEDED),
            ),
            models.CheckConstraint(
                name="export_result_iff_succeeded",
                condition=(
                    Q(status=Status.SUCCEEDED, result_size__isnull=False)
                    & ~Q(result_uri="")
                    & ~Q(result_checksum="")
                )
                | (
                    ~Q(status=Status.SUCCEEDED)
                    & Q(result_uri="", result_checksum="", result_size__isnull=True)
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_type} {self.pk}"

    @property
    def folder(self) -> tuple[str, str]:
        """Its folder below the export root: a result anywhere else is refused."""
        return str(self.owner_id), str(self.pk)

    @property
    def output(self) -> tuple[str, str, str]:
        return (*self.folder, f"replay-{self.replay_id}.{SUFFIXES[JobType(self.job_type)]}")

    @property
    def options(self) -> RenderOptions:
        return RenderOptions(self.resolution, self.fps, self.from_ms, self.to_ms, self.sound)

    @property
    def has_file(self) -> bool:
        """Whether there is a result that has not expired."""
        return self.status == Status.SUCCEEDED and self.expired_at is None

    @property
    def result_url(self) -> str | None:
        """The URL at which the owner downloads the file; its path on the server is not published."""
        return f"/api/jobs/{self.pk}/result" if self.has_file else None

    def seconds_left(self, now: datetime) -> int | None:
        """The time left at the speed so far. None before there is enough progress to tell."""
        if self.status != Status.RUNNING or self.started_at is None or self.progress < 3:
            return None
        spent = (now - self.started_at).total_seconds()
        return max(round(spent * (100 - self.progress) / self.progress), 0)

    def download_name(self, title: str) -> str:
        return f"{title or 'replay'}{PurePosixPath(self.result_uri).suffix}"


class ExportLink(models.Model):
    """Lets anyone who has its URL download the result, until it expires. Its secret is not stored."""

    export = models.ForeignKey(
        ExportJob, on_delete=models.CASCADE, related_name="links", verbose_name=_("export")
    )
    created_at = models.DateTimeField(_("created at"))
    expires_at = models.DateTimeField(_("expires at"))

    class Meta:
        db_table = "export_links"
        verbose_name = _("download link")
        verbose_name_plural = _("download links")
        indexes = [models.Index(fields=["expires_at"], name="export_links_by_expiry")]  # pruning

    def __str__(self) -> str:
        return str(self.pk)


class ExportEvent(models.Model):
    """An event for the sockets of an owner. Ids grow in the order of the owner's commits (lifecycle.py)."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        verbose_name=_("owner"),
    )
    job_id = models.BigIntegerField(_("export"))
    type = models.CharField(_("event"), max_length=16)
    data = models.JSONField(_("message"))
    at = models.DateTimeField(_("time"))

    class Meta:
        db_table = "export_events"
        verbose_name = _("export event")
        verbose_name_plural = _("export events")
        indexes = [
            models.Index(fields=["owner", "id"], name="export_events_of_owner"),  # the sockets
            models.Index(fields=["at"], name="export_events_by_age"),  # retention
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.type}"
