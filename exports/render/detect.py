"""What a replay is, by its first bytes. Its name and its declared type are never asked."""

from exports.eventlog import BadReplay

EVENT_LOG = "eventlog"
SNIFF_BYTES = 64

# The demuxers that we are willing to run at all. Each reads one file and follows no references;
# those that open others (hls, concat, dash, ...) cannot be reached from here.
DEMUXERS = {"mp4": "mov", "matroska": "matroska", "avi": "avi"}


def kind(beginning: bytes) -> str:
    """`eventlog`, or a key of DEMUXERS."""
    if beginning[4:8] == b"ftyp":
        return "mp4"
    if beginning[:4] == b"\x1aE\xdf\xa3":
        return "matroska"
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"AVI ":
        return "avi"
    if beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return EVENT_LOG
    raise BadReplay("The file is neither an event log nor an MP4, MOV, WebM, Matroska or AVI video.")
