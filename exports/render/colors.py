"""Converts RGB to the encoder's planes: BT.709, limited range, as browsers expect of H.264."""

from dataclasses import dataclass

from PIL import Image

_MATRIX = (
    0.1826, 0.6142, 0.0620, 16,
    -0.1006, -0.3386, 0.4392, 128,
    0.4392, -0.3989, -0.0403, 128,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Yuv:
    y: int
    u: int
    v: int


def rgb(color: str) -> tuple[int, int, int]:
    """#rrggbb as three numbers."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def to_yuv(color: tuple[int, int, int]) -> Yuv:
    y, u, v = (
        round(sum(part * weight for part, weight in zip(color, row, strict=True)) + offset)
        for row, offset in ((_MATRIX[i : i + 3], _MATRIX[i + 3]) for i in (0, 4, 8))
    )
    return Yuv(y, u, v)


def blend(top: tuple[int, int, int], below: tuple[int, int, int], share: float) -> tuple[int, int, int]:
    r, g, b = (round(a * share + z * (1 - share)) for a, z in zip(top, below, strict=True))
    return r, g, b


def planes(image: Image.Image) -> tuple[Image.Image, Image.Image, Image.Image]:
    """The Y, U and V of an image, all at the image's own size."""
    y, u, v = image.convert("RGB").convert("RGB", _MATRIX).split()
    return y, u, v
