"""Draws a moment: arena, trails, players with their names, captions, score and clock.

The static parts are drawn once, as the canvas's background; what changes seldom is kept as a sprite. Each
frame draws only lines and pastes sprites.
"""

from collections import deque
from functools import lru_cache

from PIL import Image, ImageDraw

from exports.eventlog import Header, Player, Team
from exports.render import text
from exports.render.canvas import Canvas, Sprite, sprite
from exports.render.colors import Yuv, blend, rgb, to_yuv
from exports.render.timeline import CAPTION_SECONDS, FADE_SECONDS, FRAMES_PER_SECOND, Caption, Moment

SIZE = (1280, 720)
GROUND, FLOOR, GRID, EDGE = (16, 20, 29), (27, 34, 48), (35, 44, 61), (74, 90, 120)
PAPER, SOFT, GOLD = (240, 244, 250), (158, 170, 192), (255, 205, 86)
# Measures and font sizes are those of a picture of SIZE; `_px` scales them.
BAR, MARGIN = 84, 24
RADIUS = 15
TRAIL_SHADES = 3
TRAIL_SECONDS = 4 / 3
TRAIL_RATE = 15  # points a second
FADE_STEPS = 6

Position = tuple[float, float]


class Scene:
    def __init__(self, header: Header, size: tuple[int, int] = SIZE, rate: int = FRAMES_PER_SECOND) -> None:
        self.header = header
        self._width, self._height = size
        bar, margin = self._px(BAR), self._px(MARGIN)
        room = self._width - 2 * margin, self._height - bar - margin
        self._scale = min(room[0] / header.width, room[1] / header.height)
        self._left = (self._width - header.width * self._scale) / 2
        self._top = bar + (room[1] - header.height * self._scale) / 2
        self._trail_step = max(round(rate / TRAIL_RATE), 1)
        self._trail_points = max(round(rate * TRAIL_SECONDS / self._trail_step), 1)
        self.canvas = Canvas(self._background())
        self._colors = {own_id: rgb(player.color) for own_id, player in header.players.items()}
        self._discs = {
            own_id: sprite(_disc(color, self._px(RADIUS))) for own_id, color in self._colors.items()
        }
        self._names = {
            own_id: sprite(self._label(player.name, 17, PAPER, room=160, shadow=True))
            for own_id, player in header.players.items()
        }
        self._trails: dict[str, tuple[deque[Position], deque[Position]]] = {
            own_id: (deque(maxlen=self._trail_points), deque(maxlen=self._trail_points))
            for own_id in header.players
        }
        self._shades = {
            own_id: [to_yuv(blend(color, FLOOR, 0.25 + 0.2 * step)) for step in range(TRAIL_SHADES)]
            for own_id, color in self._colors.items()
        }
        # Kept for the life of this scene only, so that a long replay holds a bounded number of them.
        self._clock = lru_cache(maxsize=2)(self._clock_sprite)
        self._score = lru_cache(maxsize=2)(self._score_sprite)
        self._caption = lru_cache(maxsize=32)(self._caption_sprite)

    def follow(self, moment: Moment) -> None:
        """Extends the trails. Call it for every moment, drawn or not."""
        if moment.index % self._trail_step:
            return
        for player, position in moment.positions.items():
            points, half_points = self._trails[player]
            x, y = self._pixel(position)
            points.append((x, y))
            half_points.append((x / 2, y / 2))

    def draw(self, moment: Moment) -> Canvas:
        self.canvas.clear()
        for player, (points, half_points) in self._trails.items():
            if len(points) > 1:
                self._draw_trail(self._shades[player], list(points), list(half_points))
        for player, position in moment.positions.items():
            self._draw_player(player, *self._pixel(position))
        self._draw_captions(moment)
        if moment.score:
            self._paste_centered(self._score(tuple(moment.score.items())), self._px(22))
        clock = self._clock(int(moment.seconds))
        self.canvas.paste(clock, self._width - self._px(MARGIN) - clock.width, self._px(22))
        return self.canvas

    def _px(self, measure: float) -> int:
        return round(measure * self._height / SIZE[1])

    def _label(
        self, words: str, size: int, color: tuple[int, int, int], room: float = 0, shadow: bool = False
    ) -> Image.Image:
        """A text; shortened if it is wider than the room."""
        font_size = self._px(size)
        if room:
            words = text.shorten(words, font_size, self._px(room))
        return text.label(words, font_size, color, shadow)

    def _pixel(self, position: Position) -> Position:
        x = min(max(position[0], 0.0), self.header.width)
        y = min(max(position[1], 0.0), self.header.height)
        return self._left + x * self._scale, self._top + y * self._scale

    def _draw_trail(self, shades: list[Yuv], points: list[Position], half_points: list[Position]) -> None:
        """Draw a trail in three shades: three lines cost far less than one for each step."""
        step = -(-self._trail_points // TRAIL_SHADES)
        end = len(points)
        for shade in reversed(range(TRAIL_SHADES)):
            begin = max(end - step - 1, 0)
            self.canvas.line(points[begin:end], half_points[begin:end], shades[shade], self._px(2 + shade))
            end = begin + 1
            if end < 2:
                return

    def _draw_player(self, player: str, x: float, y: float) -> None:
        disc, name = self._discs[player], self._names[player]
        self.canvas.paste(disc, round(x) - disc.width // 2, round(y) - disc.height // 2)
        left = min(max(round(x) - name.width // 2, 0), self._width - name.width)
        self.canvas.paste(name, left, min(round(y) + self._px(RADIUS + 1), self._height - name.height))

    def _draw_captions(self, moment: Moment) -> None:
        bottom = self._height - self._px(MARGIN + 16)
        for caption in reversed(moment.captions):
            box = self._caption(caption, _fade_step(moment.seconds - caption.since))
            bottom -= box.height + self._px(6)
            self._paste_centered(box, bottom)

    def _paste_centered(self, picture: Sprite, y: int) -> None:
        self.canvas.paste(picture, (self._width - picture.width) // 2, y)

    def _background(self) -> Image.Image:
        picture = Image.new("RGB", (self._width, self._height), GROUND)
        pen = ImageDraw.Draw(picture)
        left, top = round(self._left), round(self._top)
        right, bottom = round(self._width - self._left), round(top + self.header.height * self._scale)
        edge, cell = self._px(2), self._px(60)
        pen.rounded_rectangle((left, top, right, bottom), self._px(12), FLOOR, EDGE, edge)
        for x in range(left + cell, right - self._px(10), cell):
            pen.line((x, top + edge, x, bottom - edge), GRID)
        for y in range(top + cell, bottom - self._px(10), cell):
            pen.line((left + edge, y, right - edge, y), GRID)
        title = self._label(self.header.title, 26, PAPER, room=400)
        picture.paste(title, (self._px(MARGIN), self._px(26)), title)
        return picture

    def _clock_sprite(self, seconds: int) -> Sprite:
        return sprite(self._label(f"{seconds // 60}:{seconds % 60:02d}", 30, PAPER))

    def _score_sprite(self, score: tuple[tuple[str, int], ...]) -> Sprite:
        """Two sides as `Red 2 : 1 Blue`; more than two side by side, the best first."""
        owners: dict[str, Player | Team] = {**self.header.players, **self.header.teams}
        sides = list(score)
        if len(sides) > 2:
            sides = sorted(sides, key=lambda side: -side[1])[:4]
        room = 300 // len(sides)
        parts: list[Image.Image] = []
        for index, (owner, points) in enumerate(sides):
            color = blend(rgb(owners[owner].color), PAPER, 0.7)
            name = self._label(owners[owner].name, 24, color, room)
            number = self._label(str(points), 30, PAPER)
            mirrored = len(sides) == 2 and index == 1
            if index:
                parts.append(self._label(":" if len(sides) == 2 else "·", 28, SOFT))
            parts += [number, name] if mirrored else [name, number]
        return sprite(_row(parts, self._px(12)))

    def _caption_sprite(self, caption: Caption, step: int) -> Sprite:
        accent = GOLD if caption.important else self._colors.get(caption.player, SOFT)
        line = caption.text
        if caption.player:
            line = f"{self.header.players[caption.player].name}  {line}"
        size = self._px(28)
        box = text.pill(text.shorten(line, size, self._width - self._px(200)), size, PAPER, accent)
        return sprite(box).with_opacity(step / FADE_STEPS)


def _fade_step(age: float) -> int:
    """The opacity of a caption in steps: it fades in and out."""
    share = min(age, CAPTION_SECONDS - age) / FADE_SECONDS
    return round(min(max(share, 0.0), 1.0) * FADE_STEPS)


def _disc(color: tuple[int, int, int], radius: int) -> Image.Image:
    """Drawn at four times the size and scaled down, for a smooth edge."""
    side = radius * 2 + 4
    large = Image.new("RGBA", (side * 4, side * 4), (*PAPER, 0))
    pen = ImageDraw.Draw(large)
    pen.ellipse((4, 4, side * 4 - 5, side * 4 - 5), (*PAPER, 255))
    pen.ellipse((14, 14, side * 4 - 15, side * 4 - 15), (*color, 255))
    return large.resize((side, side), Image.Resampling.LANCZOS)


def _row(parts: list[Image.Image], gap: int) -> Image.Image:
    height = max(part.height for part in parts)
    row = Image.new("RGBA", (sum(part.width for part in parts) + gap * (len(parts) - 1), height), (*PAPER, 0))
    x = 0
    for part in parts:
        row.alpha_composite(part, (x, (height - part.height) // 2))
        x += part.width + gap
    return row
