"""Checks the options of an export: they must fit its type and its replay."""

from exports.render.options import MAX_FPS, RESOLUTIONS, RenderOptions
from exports.states import JobType
from jobs.errors import ErrorText, Invalid

MAX_FPS_OF = {JobType.MP4: MAX_FPS, JobType.WEBM: MAX_FPS, JobType.GIF: 25}
MAX_GIF_MS = 60_000
WITH_SOUND = (JobType.MP4, JobType.WEBM)


def check(job_type: JobType, options: RenderOptions, duration_ms: int | None) -> None:
    """Raises Invalid with the errors by field, as the API names them."""
    errors = {}
    if options.resolution is not None and options.resolution not in RESOLUTIONS:
        errors["resolution"] = ErrorText("one_of", limit=", ".join(RESOLUTIONS))
    if options.fps is not None and (text := _wrong_fps(job_type, options.fps)):
        errors["fps"] = text
    if options.sound is not None and job_type not in WITH_SOUND:
        errors["sound"] = ErrorText("sound_of_pictures")
    if (options.from_ms or 0) < 0:
        errors["fromMs"] = ErrorText("at_least", limit=0)
    elif duration_ms is not None and options.from_ms and options.from_ms >= duration_ms:
        errors["fromMs"] = ErrorText("part_outside", length=duration_ms / 1000)
    if text := _wrong_end(job_type, options, duration_ms):
        errors["toMs"] = text
    if errors:
        raise Invalid(errors={name: [text] for name, text in errors.items()})


def _wrong_fps(job_type: JobType, fps: int) -> ErrorText | None:
    highest = MAX_FPS_OF.get(job_type)
    if highest is None:
        return ErrorText("fps_of_picture")
    if fps < 1:
        return ErrorText("at_least", limit=1)
    return ErrorText("at_most", limit=highest) if fps > highest else None


def _wrong_end(job_type: JobType, options: RenderOptions, duration_ms: int | None) -> ErrorText | None:
    if options.to_ms is not None:
        if options.to_ms <= (options.from_ms or 0):
            return ErrorText("part_empty")
        if duration_ms is not None and options.to_ms > duration_ms:
            return ErrorText("part_outside", length=duration_ms / 1000)
    end = duration_ms if options.to_ms is None else options.to_ms
    if job_type == JobType.GIF and (end is None or end - (options.from_ms or 0) > MAX_GIF_MS):
        return ErrorText("gif_too_long", limit=MAX_GIF_MS // 1000)
    return None
