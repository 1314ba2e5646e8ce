"""A frame that Pillow draws into directly: no RGB picture, no conversion, no copy.

The planes of one AVFrame are mapped as three grey images. x264 copies its input before encode() returns, so
one frame serves the whole video; restoring the background is one memcpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import av
from PIL import Image, ImageDraw

from exports.render.colors import Yuv, planes


@dataclass(frozen=True, slots=True)
class Sprite:
    """A small picture ready to paste: its planes and its transparency, in full and half size."""

    width: int
    height: int
    y: Image.Image
    u: Image.Image
    v: Image.Image
    mask: Image.Image
    half_mask: Image.Image

    def with_opacity(self, share: float) -> "Sprite":
        table = [round(level * share) for level in range(256)]
        return replace(self, mask=self.mask.point(table), half_mask=self.half_mask.point(table))


def sprite(picture: Image.Image) -> Sprite:
    """An RGBA picture as a sprite. Its sides are rounded up to even numbers, for the half size."""
    width, height = picture.width + picture.width % 2, picture.height + picture.height % 2
    if picture.size != (width, height):
        even = Image.new("RGBA", (width, height))
        even.paste(picture, (0, 0))
        picture = even
    half = picture.resize((width // 2, height // 2), Image.Resampling.BOX)
    y, _, _ = planes(picture)
    _, u, v = planes(half)
    return Sprite(width, height, y, u, v, picture.getchannel("A"), half.getchannel("A"))


class Canvas:
    def __init__(self, background: Image.Image) -> None:
        self.width, self.height = background.size
        self.frame = av.VideoFrame(self.width, self.height, "yuv420p")
        self.frame.colorspace, self.frame.color_range = 1, 1  # BT.709, limited
        self._views = [memoryview(plane).cast("B") for plane in self.frame.planes]
        self._images = [
            _map_plane(view, plane.width, plane.height, plane.line_size)
            for view, plane in zip(self._views, self.frame.planes, strict=True)
        ]
        self._pens = [ImageDraw.Draw(image) for image in self._images]
        half = background.resize((self.width // 2, self.height // 2), Image.Resampling.BOX)
        y, _, _ = planes(background)
        _, u, v = planes(half)
        for image, plane in zip(self._images, (y, u, v), strict=True):
            image.paste(plane, (0, 0))
        self._cores = [image.im for image in self._images]
        self._background = [bytes(view) for view in self._views]

    def clear(self) -> None:
        for view, background in zip(self._views, self._background, strict=True):
            view[:] = background

    def paste(self, sprite: Sprite, x: int, y: int) -> None:
        """Uses Pillow's core, which clips at the edges: Image.paste spends three times as long on checks as a
        small sprite takes to paste, and pasting is most of the work of a frame."""
        luma, blue, red = self._cores
        luma.paste(sprite.y.im, (x, y, x + sprite.width, y + sprite.height), sprite.mask.im)
        x, y = x // 2, y // 2
        half_box = (x, y, x + sprite.width // 2, y + sprite.height // 2)
        blue.paste(sprite.u.im, half_box, sprite.half_mask.im)
        red.paste(sprite.v.im, half_box, sprite.half_mask.im)

    def line(
        self,
        points: Sequence[tuple[float, float]],
        half_points: Sequence[tuple[float, float]],
        color: Yuv,
        width: int,
    ) -> None:
        """`half_points` are the same points on the color planes; callers that draw often keep both."""
        luma, blue, red = self._pens
        luma.line(points, color.y, width)
        blue.line(half_points, color.u, (width + 1) // 2)
        red.line(half_points, color.v, (width + 1) // 2)

    def picture(self) -> Image.Image:
        """The canvas as RGB."""
        picture: Image.Image = self.frame.to_image()  # type: ignore[no-untyped-call]
        return picture


def _map_plane(view: memoryview, width: int, height: int, stride: int) -> Image.Image:
    image = Image.frombuffer("L", (width, height), view, "raw", "L", stride, 1)  # type: ignore[arg-type]
    image.readonly = 0  # Pillow copies a mapped image at the first write unless this is 0
    return image
