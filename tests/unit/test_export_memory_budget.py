"""The encoding profile keeps decoder and encoder together below 300 MiB."""

import pytest

from exports.render.memory_budget import BASE, BUDGET, FRAME, KEPT, PROFILES, choose_profile

HD, QHD, UHD = 1920 * 1080, 2560 * 1440, 3840 * 2160
EIGHT_BITS, TEN_BITS = 1.5, 3.0  # bytes of a pixel
MINUTE = 60 * 30


def box_and_options(pixels: int, depth: float, frames: int) -> tuple[tuple[int, int], str] | None:
    profile = choose_profile(round(pixels * depth), frames)
    return (profile.box, profile.x264) if profile else None


@pytest.mark.parametrize(
    ("pixels", "depth", "frames", "box"),
    [
        (HD, EIGHT_BITS, MINUTE, (1920, 1080)),
        (HD, EIGHT_BITS, 864_000, (1920, 1080)),
        (QHD, EIGHT_BITS, MINUTE, (1920, 1080)),
        (UHD, EIGHT_BITS, MINUTE, (1920, 1080)),
        (UHD, EIGHT_BITS, 864_000, (1280, 720)),
        (UHD, TEN_BITS, MINUTE, (1280, 720)),
        (UHD, TEN_BITS, 60 * MINUTE, (1280, 720)),
        (UHD, TEN_BITS, 200_000, (960, 540)),
    ],
)
def test_pictures_become_smaller_only_beyond_the_budget(pixels, depth, frames, box):
    profile = box_and_options(pixels, depth, frames)
    assert profile is not None
    assert profile[0] == box


def test_small_recordings_use_the_first_profile():
    assert box_and_options(HD, EIGHT_BITS, 10 * MINUTE) == ((1920, 1080), "")


def test_a_video_beyond_the_budget_has_no_profile():
    assert choose_profile(round(UHD * TEN_BITS), 864_000) is None


@pytest.mark.parametrize("depth", [EIGHT_BITS, TEN_BITS])
@pytest.mark.parametrize("frames", [1, 10_000, 100_000, 432_000, 864_000])
@pytest.mark.parametrize("pixels", [320 * 240, HD, QHD, UHD])
def test_the_chosen_profile_is_the_best_within_the_budget(pixels, depth, frames):
    size = round(pixels * depth)
    left = BUDGET - BASE - FRAME * frames - size * next(kept for largest, kept in KEPT if size <= largest)
    profile = choose_profile(size, frames)
    profiles = PROFILES["MP4"]
    better = profiles if profile is None else profiles[: profiles.index(profile)]
    assert profile is None or profile.memory <= left
    assert all(other.memory > left for other in better)
