"""`dure exports`."""

from pathlib import Path

from dure.cli.arguments import (
    Options,
    Parsers,
    add_limit,
    add_waiting,
    command,
    group,
    positive,
    seconds,
)
from dure.cli.output import write_end, write_list, write_record, write_text
from dure.client import Client

FIELDS = ["job_id", "replay_id", "job_type", "status", "progress", "phase", "error_code", "error_message"]


def add(parsers: Parsers) -> None:
    of_exports = group(parsers, "exports", "upload replays, export them, and download the files")
    add_limit(command(of_exports, "list", list_exports, "list exports"))
    upload = command(
        of_exports, "upload", upload_replay, "upload a replay", example="dure exports upload match.jsonl"
    )
    upload.add_argument("file", type=Path, metavar="FILE", help="an event log or a video")
    upload.add_argument("--title", help="default: the title in the log, or the name of the file")
    start = command(
        of_exports, "start", start_export, "export a replay", example="dure exports start 1 mp4 --wait"
    )
    start.add_argument("replay", type=positive, metavar="REPLAY", help="the id of the replay")
    start.add_argument("kind", choices=["mp4", "webm", "gif", "thumbnail"], nargs="?", default="mp4")
    start.add_argument("--resolution", choices=["360p", "480p", "720p", "1080p"])
    start.add_argument("--fps", type=positive, help="frames per second")
    start.add_argument("--from", type=seconds, dest="start", metavar="SECONDS", help="start of the part")
    start.add_argument("--to", type=seconds, dest="end", metavar="SECONDS", help="end of the part")
    start.add_argument("--no-sound", action="store_true", help="leave out the sound of a video")
    add_waiting(start)
    show = command(of_exports, "show", show_export, "show an export")
    cancel = command(of_exports, "cancel", cancel_export, "cancel an export")
    example = "dure exports download 1 match.mp4"
    download = command(
        of_exports, "download", download_export, "download the file of an export", example=example
    )
    share = command(of_exports, "share", share_export, "make a link to the file of an export")
    share.add_argument(
        "--expires", type=positive, metavar="SECONDS", help="60 seconds to 30 days; default: a week"
    )
    for parser in (show, cancel, download, share):
        parser.add_argument("id", type=positive, metavar="ID", help="the id of the export")
    download.add_argument("file", type=Path, metavar="FILE", help="where to write it")


def list_exports(options: Options, client: Client) -> int:
    return write_list(options, client.exports(limit=options.limit), FIELDS[:5])


def upload_replay(options: Options, client: Client) -> int:
    replay = client.upload_replay(options.file, title=options.title)
    return write_record(options, replay, ["replay_id", "title", "kind", "size_bytes"])


def start_export(options: Options, client: Client) -> int:
    export = client.export(
        options.replay,
        options.kind,
        resolution=options.resolution,
        fps=options.fps,
        from_ms=_milliseconds(options.start),
        to_ms=_milliseconds(options.end),
        sound=False if options.no_sound else None,
    )
    return write_end(options, client, export, FIELDS)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def show_export(options: Options, client: Client) -> int:
    return write_record(options, client.get_export(options.id))


def cancel_export(options: Options, client: Client) -> int:
    return write_record(options, client.cancel_export(options.id), FIELDS)


def share_export(options: Options, client: Client) -> int:
    link = client.share_export(options.id, expires_in_seconds=options.expires)
    return write_record(options, link, ["url", "expires_at"])


def download_export(options: Options, client: Client) -> int:
    path = client.download(options.id, options.file)
    return write_text(options, str(path), {"file": str(path)})
