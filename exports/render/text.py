"""Text as pictures, in the bundled font, which covers all of Hangul."""

from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONT = Path(__file__).parent / "fonts" / "Pretendard-Medium.woff2"


@lru_cache(maxsize=8)
def font(size: int) -> ImageFont.FreeTypeFont:
    # The basic layout draws the same with and without libraqm on the machine.
    return ImageFont.truetype(FONT, size, layout_engine=ImageFont.Layout.BASIC)


def width(text: str, size: int) -> int:
    return round(font(size).getlength(text))


def shorten(text: str, size: int, room: int) -> str:
    """The text, or the start of it that fits, with an ellipsis."""
    if width(text, size) <= room:
        return text
    counts = range(1, len(text))
    end = bisect_right(counts, room, key=lambda count: width(text[:count] + "…", size))
    return text[:end].rstrip() + "…"


def label(text: str, size: int, color: tuple[int, int, int], shadow: bool = False) -> Image.Image:
    """The text on a transparent ground. With a shadow it is readable on any background."""
    ascent, descent = font(size).getmetrics()
    edge = 2 if shadow else 0
    # Transparent pixels have the text's color too, so scaling leaves no dark fringe.
    picture = Image.new("RGBA", (width(text, size) + 2 * edge + 1, ascent + descent + 2 * edge), (*color, 0))
    ImageDraw.Draw(picture).text(
        (edge, edge), text, (*color, 255), font(size), stroke_width=edge, stroke_fill=(10, 13, 20, 190)
    )
    return picture


def pill(text: str, size: int, color: tuple[int, int, int], accent: tuple[int, int, int]) -> Image.Image:
    """A caption: text in a dark rounded box with an accent on its left."""
    caption = label(text, size, color)
    padding, stripe = size // 2, round(size * 3 / 14)
    box = Image.new("RGBA", (caption.width + padding * 3, caption.height + padding), (10, 13, 20, 0))
    pen = ImageDraw.Draw(box)
    pen.rounded_rectangle((0, 0, box.width - 1, box.height - 1), box.height // 4, (10, 13, 20, 215))
    pen.rounded_rectangle(
        (padding // 2, padding // 2, padding // 2 + stripe, box.height - padding // 2), 3, accent
    )
    box.alpha_composite(caption, (padding * 2, padding // 2))
    return box
