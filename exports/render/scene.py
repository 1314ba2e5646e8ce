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
from exports.render.colors import Ink, blend, ink, rgb
from exports.render.timeline import CAPTION_SECONDS, FADE_SECONDS, Caption, Moment

WIDTH, HEIGHT = 1280, 720
GROUND, FLOOR, GRID, EDGE = (16, 20, 29), (27, 34, 48), (35, 44, 61), (74, 90, 120)
PAPER, SOFT, GOLD = (240, 244, 250), (158, 170, 192), (255, 205, 86)
BAR, MARGIN = 84, 24
RADIUS = 15
TRAIL_SHADES = 3
TRAIL_POINTS = 20
TRAIL_STEP = 2  # a trail keeps every second frame: 40 frames, a second and a third
FADE_STEPS = 6

Position = tuple[float, float]


class Scene:
    def __init__(self, header: Header) -> None:
        self.header = header
        self._scale = min((WIDTH - 2 * MARGIN) / header.width, (HEIGHT - BAR - MARGIN) / header.height)
        self._left = (WIDTH - header.width * self._scale) / 2
        self._top = BAR + (HEIGHT - BAR - MARGIN - header.height * self._scale) / 2
        self.canvas = Canvas(self._background())
        self._colors = {own_id: rgb(player.color) for own_id, player in header.players.items()}
        self._discs = {own_id: sprite(_disc(color)) for own_id, color in self._colors.items()}
        self._names = {
            own_id: sprite(text.label(text.shorten(player.name, 17, 160), 17, PAPER, shadow=True))
            for own_id, player in header.players.items()
        }
        self._trails: dict[str, tuple[deque[Position], deque[Position]]] = {
            own_id: (deque(maxlen=TRAIL_POINTS), deque(maxlen=TRAIL_POINTS)) for own_id in header.players
        }
        self._shades = {
            own_id: [ink(blend(color, FLOOR, 0.25 + 0.2 * step)) for step in range(TRAIL_SHADES)]
            for own_id, color in self._colors.items()
        }
        # Kept for the life of this scene only, so that a long replay holds a bounded number of them.
        self._clock = lru_cache(maxsize=2)(self._clock_sprite)
        self._score = lru_cache(maxsize=2)(self._score_sprite)
        self._caption = lru_cache(maxsize=32)(self._caption_sprite)

    def follow(self, moment: Moment) -> None:
        """Extends the trails. Call it for every moment, drawn or not."""
        if moment.index % TRAIL_STEP:
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
            self._centered(self._score(tuple(moment.score.items())), 22)
        clock = self._clock(int(moment.seconds))
        self.canvas.paste(clock, WIDTH - MARGIN - clock.width, 22)
        return self.canvas

    def _pixel(self, position: Position) -> Position:
        x = min(max(position[0], 0.0), self.header.width)
        y = min(max(position[1], 0.0), self.header.height)
        return self._left + x * self._scale, self._top + y * self._scale

    def _draw_trail(self, shades: list[Ink], points: list[Position], half_points: list[Position]) -> None:
        """Draw a trail in three shades: three lines cost far less than one for each step."""
        step = -(-TRAIL_POINTS // TRAIL_SHADES)
        end = len(points)
        for shade in reversed(range(TRAIL_SHADES)):
            begin = max(end - step - 1, 0)
            self.canvas.line(points[begin:end], half_points[begin:end], shades[shade], 2 + shade)
            end = begin + 1
            if end < 2:
                return

    def _draw_player(self, player: str, x: float, y: float) -> None:
        disc, name = self._discs[player], self._names[player]
        self.canvas.paste(disc, round(x) - disc.width // 2, round(y) - disc.height // 2)
        left = min(max(round(x) - name.width // 2, 0), WIDTH - name.width)
        self.canvas.paste(name, left, min(round(y) + RADIUS + 1, HEIGHT - name.height))

    def _draw_captions(self, moment: Moment) -> None:
        bottom = HEIGHT - MARGIN - 16
        for caption in reversed(moment.captions):
            box = self._caption(caption, _fade_step(moment.seconds - caption.since))
            bottom -= box.height + 6
            self._centered(box, bottom)

    def _centered(self, picture: Sprite, y: int) -> None:
        self.canvas.paste(picture, (WIDTH - picture.width) // 2, y)

    def _background(self) -> Image.Image:
        picture = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
        pen = ImageDraw.Draw(picture)
        left, top = round(self._left), round(self._top)
        right, bottom = round(WIDTH - self._left), round(top + self.header.height * self._scale)
        pen.rounded_rectangle((left, top, right, bottom), 12, FLOOR, EDGE, 2)
        for x in range(left + 60, right - 10, 60):
            pen.line((x, top + 2, x, bottom - 2), GRID)
        for y in range(top + 60, bottom - 10, 60):
            pen.line((left + 2, y, right - 2, y), GRID)
        title = text.label(text.shorten(self.header.title, 26, 400), 26, PAPER)
        picture.paste(title, (MARGIN, 26), title)
        return picture

    def _clock_sprite(self, seconds: int) -> Sprite:
        return sprite(text.label(f"{seconds // 60}:{seconds % 60:02d}", 30, PAPER))

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
            name = text.label(text.shorten(owners[owner].name, 24, room), 24, color)
            number = text.label(str(points), 30, PAPER)
            mirrored = len(sides) == 2 and index == 1
            if index:
                parts.append(text.label(":" if len(sides) == 2 else "·", 28, SOFT))
            parts += [number, name] if mirrored else [name, number]
        return sprite(_row(parts, 12))

    def _caption_sprite(self, caption: Caption, step: int) -> Sprite:
        accent = GOLD if caption.important else self._colors.get(caption.player, SOFT)
        line = caption.text
        if caption.player:
            line = f"{self.header.players[caption.player].name}  {line}"
        box = text.pill(text.shorten(line, 28, WIDTH - 200), 28, PAPER, accent)
        return sprite(box).faded(step / FADE_STEPS)


def _fade_step(age: float) -> int:
    """The opacity of a caption in steps: it fades in and out."""
    share = min(age, CAPTION_SECONDS - age) / FADE_SECONDS
    return round(min(max(share, 0.0), 1.0) * FADE_STEPS)


def _disc(color: tuple[int, int, int]) -> Image.Image:
    """Drawn at four times the size and scaled down, for a smooth edge."""
    side = RADIUS * 2 + 4
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
