"""The reasons why replays and exports fail: each has a code, and a text with named parameters.

The API, the streams and the rows of exports carry the English text; pages translate it. A text that was
stored is found again by its template. A worker in another language may send texts of its own: those stay
as they are.

This module imports no Django: the process that decodes videos needs it.
"""

import re
from collections.abc import Callable


def _(text: str) -> str:
    """Marks a text for the catalogue of translations."""
    return text


# The position of a problem in an event log, from the outside in.
PLACES = {
    "line": _("Line %(line)s: %(problem)s"),
    "player": _("player %(player)s: %(problem)s"),
    "team": _("team %(team)s: %(problem)s"),
}

TEXTS = {
    # Event logs.
    "log_empty": _("The event log is empty: its first line must be the header."),
    "no_records": _("The event log has a header but no records."),
    "too_many_records": _("The event log has more than %(limit)s records."),
    "too_many_events": _("Tick %(tick)s has more than %(limit)s events."),
    "line_too_long": _("longer than %(limit)s bytes."),
    "not_json": _("this is not JSON."),
    "not_object": _("must be a JSON object."),
    "no_header": _('must be the header, with "format": "%(format)s".'),
    "no_content": _("must hold positions or an event."),
    "bad_size": _("size must be [width, height] of the arena."),
    "bad_proportions": _("neither side of the arena may be more than ten times the other."),
    "bad_teams": _("teams must be a list of at most %(limit)s."),
    "bad_players": _("players must be a list of 1 to %(limit)s."),
    "bad_item": _("must be an object with id, name and color."),
    "bad_id": _("id must be 1 to 40 letters, digits, dots, dashes or underscores."),
    "bad_color": _("color must look like #e6484f."),
    "id_taken": _("the id %(id)s is taken."),
    "unknown_team": _("there is no such team."),
    "unknown_player": _("there is no such player."),
    "bad_position": _("a position must be [x, y]."),
    "position_out_of_range": _("a position must be two numbers within a million of the origin."),
    "bad_score": _("score must be an object of the points of teams (or players)."),
    "tick_backwards": _("tick %(tick)s comes after tick %(last)s."),
    "log_too_long": _("the replay is longer than %(minutes)s minutes."),
    "not_number": _("%(name)s must be a number from %(low)s to %(high)s."),
    "not_whole": _("%(name)s must be a whole number from %(low)s to %(high)s."),
    "not_text": _("%(name)s must be text."),
    "text_too_long": _("%(name)s is longer than %(limit)s characters."),
    "part_beyond_end": _("The replay ends before the selected part begins."),
    # Videos.
    "unknown_format": _("The file is neither an event log nor an MP4, MOV, WebM, Matroska or AVI video."),
    "no_video": _("The file contains no video."),
    "no_pictures": _("The video has no pictures."),
    "bad_codec": _("The codec of the video is not H.264, HEVC, VP8, VP9, AV1, MPEG-4 or MJPEG."),
    "video_too_long": _("The video is longer than %(minutes)s minutes."),
    "picture_too_large": _("A picture of %(size)s is above the limit of %(limit)s pixels."),
    "pictures_need_memory": _(
        "The pictures of the video are too large, or it is too long for pictures of that size."
    ),
    "decoder_out_of_memory": _(
        "The video needs more than %(limit)s MiB of memory to decode. Its pictures are too large, or refer"
        " to too many others."
    ),
    "decoder_out_of_time": _("The video takes too long to decode."),
    "decoder_crashed": _("The video cannot be read: its decoder crashed (%(signal)s)."),
    "output_too_large": _("The exported video would be larger than %(limit)s GiB."),
    "unreadable_to_end": _("The video cannot be read to its end: %(reason)s."),
    "unreadable": _("The video cannot be read: %(reason)s."),
    # The sound of videos: these exports succeed, and say so.
    "sound_codec": _("The sound of the video has a codec that is not supported: the file has no sound."),
    "sound_unreadable": _("The sound of the video cannot be read: the file has no sound."),
    "sound_gaps": _("Parts of the sound of the video cannot be read: they are silent."),
    "sound_needs_memory": _(
        "The video is too long for pictures of its size with sound: the file has no sound."
    ),
    # Other causes of failed exports.
    "disk_full": _("No disk space is left for the export. Free some space, then export again."),
    "replay_missing": _("The replay's file is gone. Upload it again."),
    "stalled": _("The worker sent nothing for %(seconds)s s. Export again."),
    "timeout": _("The export took too long and was stopped. A shorter replay may succeed."),
    "worker_lost": _("The worker died during the export. Export again."),
    "render_failed": _("The renderer failed: %(reason)s"),
    "result_not_own": _("The worker reported a file that does not belong to this export."),
    "result_missing": _("The worker reported a file that does not exist."),
    "checksum_mismatch": _("The file is not the one that the worker reported: its SHA-256 is different."),
    "result_bad_path": _("The worker reported a path that is not allowed. %(problem)s"),
    "result_unreadable": _("The file that the worker reported cannot be read: %(reason)s."),
    # Paths.
    "path_length": _("The path is empty or too long."),
    "path_characters": _("The path contains control characters, percent signs or backslashes."),
    "path_lookalikes": _("The path contains look-alikes of other characters."),
    "path_outside": _("The path is outside the root."),
    "path_component": _("A component of the path is empty, hidden, or ends in a dot or a space."),
    "path_is_root": _("The path names the root itself."),
    "path_not_plain": _("The path leads to something that is not a plain file with one name."),
    "path_link": _("The path leads through a link, or to something that is not a plain file."),
}
# The replay is above a limit: 413 at the upload, TOO_LARGE as the error code of an export.
TOO_LARGE = {
    "too_many_records", "too_many_events", "line_too_long", "log_too_long", "video_too_long",
    "picture_too_large", "pictures_need_memory", "decoder_out_of_memory", "decoder_out_of_time",
    "output_too_large",
}  # fmt: skip

# What may be wrong with the file of an export that succeeded.
NOTES = {"sound_codec", "sound_unreadable", "sound_gaps", "sound_needs_memory"}

Translate = Callable[[str], str]


def text(code: str, **params: object) -> str:
    """The English text. `line`, `player` and `team` say where in an event log the problem is."""
    problem = TEXTS[code] % params
    for place in reversed(PLACES):
        if place in params:
            problem = PLACES[place] % {place: params[place], "problem": problem}
    return problem


def on_one_line(foreign: object, length: int) -> str:
    """A text of a program that is not ours, without line breaks and controls, and no longer than this."""
    return "".join(sign if sign.isprintable() else " " for sign in str(foreign))[:length]


def translate_text(stored: str, translate: Translate) -> str:
    """A text that `text` made, in another language; empty when it is none."""
    for pattern, template in _PATTERNS:
        if match := pattern.fullmatch(stored):
            params = match.groupdict()
            if "problem" in params:
                params["problem"] = translate_text(params["problem"], translate) or params["problem"]
            return translate(template) % params
    return ""


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"%\((\w+)\)s", template)
    names, texts = parts[1::2], [re.escape(part) for part in parts[::2]]
    groups = [f"(?P<{name}>.+)" if name in ("reason", "problem") else f"(?P<{name}>\\S+)" for name in names]
    return re.compile("".join(a + b for a, b in zip(texts, [*groups, ""], strict=True)), re.DOTALL)


_PATTERNS = [(_pattern(template), template) for template in (*PLACES.values(), *TEXTS.values())]


class BadReplay(ValueError):
    """The replay cannot be read; the text says where, and what to do about it."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(text(code, **params))
        self.code, self.params = code, params

    @property
    def too_large(self) -> bool:
        return self.code in TOO_LARGE
