"""Detects what a replay is by its first bytes. The file name and the declared type are ignored."""

from exports.failures import BadReplay

EVENT_LOG = "eventlog"
SNIFF_BYTES = 64

# The only demuxers that run. Each reads one file and follows no references; those that open other files
# (hls, concat, dash, ...) cannot be reached from here.
DEMUXERS = {"mp4": "mov", "matroska": "matroska", "avi": "avi"}


def detect_kind(beginning: bytes) -> str:
    """`eventlog`, or a key of DEMUXERS."""
    if beginning[4:8] == b"ftyp":
        return "mp4"
    if beginning[:4] == b"\x1aE\xdf\xa3":
        return "matroska"
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"AVI ":
        return "avi"
    if beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return EVENT_LOG
    raise BadReplay("unknown_format")
