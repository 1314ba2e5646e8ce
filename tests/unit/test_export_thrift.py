"""How a film is encoded beside a decoder, so that both together stay below 300 MiB."""

import pytest

from exports.render.memory_budget import BASE, BUDGET, FRAME, KEPT, PROFILES, choose_profile

HD, QHD, UHD = 1920 * 1080, 2560 * 1440, 3840 * 2160
EIGHT_BITS, TEN_BITS = 1.5, 3.0  # bytes of a pixel
MINUTE = 60 * 30


def chosen(pixels: int, depth: float, frames: int) -> tuple[tuple[int, int], str] | None:
    found = choose_profile(round(pixels * depth), frames)
    return (found.box, found.x264) if found else None


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
def test_pictures_become_smaller_only_where_there_is_no_room(pixels, depth, frames, box):
    found = chosen(pixels, depth, frames)
    assert found is not None
    assert found[0] == box


def test_small_recordings_are_encoded_as_the_preset_has_it():
    assert chosen(HD, EIGHT_BITS, 10 * MINUTE) == ((1920, 1080), "")


def test_what_fits_in_no_way_is_known_before_it_begins():
    assert choose_profile(round(UHD * TEN_BITS), 864_000) is None


@pytest.mark.parametrize("depth", [EIGHT_BITS, TEN_BITS])
@pytest.mark.parametrize("frames", [1, 10_000, 100_000, 432_000, 864_000])
@pytest.mark.parametrize("pixels", [320 * 240, HD, QHD, UHD])
def test_what_is_chosen_has_room_and_a_better_one_has_not(pixels, depth, frames):
    size = round(pixels * depth)
    left = BUDGET - BASE - FRAME * frames - size * next(kept for largest, kept in KEPT if size <= largest)
    found = choose_profile(size, frames)
    better = PROFILES if found is None else PROFILES[: PROFILES.index(found)]
    assert found is None or found.memory <= left
    assert all(one.memory > left for one in better)
