"""A frame that Pillow draws straight into: no RGB picture, no conversion, no copy between.

The planes of one AVFrame are mapped as three grey images. x264 copies what it is fed before encode()
returns, so the same frame serves the whole video; going back to the background is one memcpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import av
from PIL import Image, ImageDraw

from exports.render.colors import Ink, planes


@dataclass(frozen=True, slots=True)
class Sprite:
    """A small picture ready to paste: its planes and its transparency, at full and at half size."""

    width: int
    height: int
    y: Image.Image
    u: Image.Image
    v: Image.Image
    mask: Image.Image
    half_mask: Image.Image

    def faded(self, share: float) -> "Sprite":
        table = [round(level * share) for level in range(256)]
        return Sprite(
            self.width,
            self.height,
            self.y,
            self.u,
            self.v,
            self.mask.point(table),
            self.half_mask.point(table),
        )


def sprite(picture: Image.Image) -> Sprite:
    """An RGBA picture as a sprite. Its sides are rounded up to even ones, as the half size needs."""
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
            _mapped(view, plane.width, plane.height, plane.line_size)
            for view, plane in zip(self._views, self.frame.planes, strict=True)
        ]
        self._pens = [ImageDraw.Draw(image) for image in self._images]
        half = background.resize((self.width // 2, self.height // 2), Image.Resampling.BOX)
        y, _, _ = planes(background)
        _, u, v = planes(half)
        for image, still in zip(self._images, (y, u, v), strict=True):
            image.paste(still, (0, 0))
        self._cores = [image.im for image in self._images]
        self._still = [bytes(view) for view in self._views]

    def clear(self) -> None:
        for view, still in zip(self._views, self._still, strict=True):
            view[:] = still

    def paste(self, what: Sprite, x: int, y: int) -> None:
        """Through Pillow's core, which clips at the edges: Image.paste checks for three times as long as
        the pasting of a small sprite takes, and this is most of what a frame is made of."""
        luma, blue, red = self._cores
        luma.paste(what.y.im, (x, y, x + what.width, y + what.height), what.mask.im)
        x, y = x // 2, y // 2
        half_box = (x, y, x + what.width // 2, y + what.height // 2)
        blue.paste(what.u.im, half_box, what.half_mask.im)
        red.paste(what.v.im, half_box, what.half_mask.im)

    def line(
        self,
        points: Sequence[tuple[float, float]],
        half_points: Sequence[tuple[float, float]],
        ink: Ink,
        width: int,
    ) -> None:
        """The half points are the same ones on the color planes; who draws often keeps both."""
        luma, blue, red = self._pens
        luma.line(points, ink.y, width)
        blue.line(half_points, ink.u, (width + 1) // 2)
        red.line(half_points, ink.v, (width + 1) // 2)

    def picture(self) -> Image.Image:
        """What stands on the canvas now, as RGB."""
        picture: Image.Image = self.frame.to_image()  # type: ignore[no-untyped-call]
        return picture


def _mapped(view: memoryview, width: int, height: int, stride: int) -> Image.Image:
    image = Image.frombuffer("L", (width, height), view, "raw", "L", stride, 1)  # type: ignore[arg-type]
    image.readonly = 0  # mapped pictures are copied at the first touch unless told that they are ours
    return image
