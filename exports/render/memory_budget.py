"""How large a film comes out and how it is encoded, so that converting a video stays below 300 MiB.

What a decoder keeps cannot be chosen: the video's own encoder has chosen it. So what is left after it, and
after the tables of a long film, decides what our encoder may take: first it looks less far ahead, which makes
the film a few percent larger; only then the film's pictures become smaller.
"""

import math
from dataclasses import dataclass

MIB = 2**20
ROOM = 300 * MIB
# What follows was measured, by tests/bench/render.py. Python, FFmpeg and what they keep for themselves:
OWN = 52 * MIB
# A picture's place in the tables of both files, which are in memory until the film is whole.
FRAME = 121
# How many pictures of the source are in memory at once at most, up to which size of one. The standards allow
# fewer of larger ones.
KEPT = ((4 * MIB, 16.0), (16 * MIB, 9.2), (math.inf, 8.6))


@dataclass(frozen=True, slots=True)
class Manner:
    box: tuple[int, int]  # the film's pictures fit in
    x264: str
    memory: int


NO_DELAY = "rc-lookahead=0:bframes=0:weightp=0"
MANNERS = (
    Manner((1920, 1080), "", 170 * MIB),
    Manner((1920, 1080), "rc-lookahead=2:bframes=1", 90 * MIB),
    Manner((1920, 1080), NO_DELAY, 63 * MIB),
    Manner((1280, 720), NO_DELAY, 31 * MIB),
    Manner((960, 540), NO_DELAY, 20 * MIB),
)


def manner(picture_bytes: int, frames: int) -> Manner | None:
    """The best for which there is room; None where there is none at all."""
    kept = next(count for largest, count in KEPT if picture_bytes <= largest)
    left = ROOM - OWN - kept * picture_bytes - FRAME * frames
    return next((one for one in MANNERS if one.memory <= left), None)
