"""Chooses the size and the encoding of a converted video, so that converting stays below 300 MiB.

The source's encoder decided how many pictures the decoder keeps. What that and the tables of a long video
leave decides what our encoder may use: first it looks less far ahead, which makes the file a few percent
larger; only then the pictures become smaller.
"""

import math
from dataclasses import dataclass

MIB = 2**20
BUDGET = 300 * MIB
# The following are measurements by tests/bench/render.py. Python, FFmpeg and their own memory:
BASE = 52 * MIB
# One frame, or one packet of sound, in the tables of both files, which stay in memory until the video is
# complete.
FRAME = 121
# The most pictures of the source in memory at once, by the size of one: the standards allow fewer large ones.
KEPT = ((4 * MIB, 16.0), (16 * MIB, 9.2), (math.inf, 8.6))


@dataclass(frozen=True, slots=True)
class EncodingProfile:
    box: tuple[int, int]  # the pictures fit into this
    x264: str
    memory: int


NO_DELAY = "rc-lookahead=0:bframes=0:weightp=0"
PROFILES = {
    "MP4": (
        EncodingProfile((1920, 1080), "", 170 * MIB),
        EncodingProfile((1920, 1080), "rc-lookahead=2:bframes=1", 90 * MIB),
        EncodingProfile((1920, 1080), NO_DELAY, 63 * MIB),
        EncodingProfile((1280, 720), NO_DELAY, 31 * MIB),
        EncodingProfile((960, 540), NO_DELAY, 20 * MIB),
    ),
    # VP9 never looks ahead here.
    "WEBM": (
        EncodingProfile((1920, 1080), "", 170 * MIB),
        EncodingProfile((1280, 720), "", 88 * MIB),
        EncodingProfile((960, 540), "", 56 * MIB),
        EncodingProfile((640, 360), "", 34 * MIB),
    ),
    "GIF": (
        EncodingProfile((1920, 1080), "", 56 * MIB),
        EncodingProfile((1280, 720), "", 28 * MIB),
        EncodingProfile((960, 540), "", 18 * MIB),
    ),
}


def choose_profile(picture_bytes: int, frames: int, file_format: str = "MP4") -> EncodingProfile | None:
    """The best profile of the format that fits into the budget; None when none does."""
    kept = next(count for largest, count in KEPT if picture_bytes <= largest)
    left = BUDGET - BASE - kept * picture_bytes - FRAME * frames
    return next((profile for profile in PROFILES[file_format] if profile.memory <= left), None)
