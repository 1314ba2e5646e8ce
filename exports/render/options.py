"""What a user may choose about an export: size, rate, part of the replay and sound.

This module imports no Django: the process that decodes videos needs it.
"""

from dataclasses import asdict, dataclass

# A picture fits into this box.
RESOLUTIONS = {"360p": (640, 360), "480p": (854, 480), "720p": (1280, 720), "1080p": (1920, 1080)}
MAX_FPS = 60


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a replay from `start_ms` up to `end_ms`; None is its end."""

    start_ms: int = 0
    end_ms: int | None = None

    def contains(self, milliseconds: float) -> bool:
        return self.start_ms <= milliseconds and (self.end_ms is None or milliseconds < self.end_ms)


WHOLE = Part()


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """None: the default of the format."""

    resolution: str | None = None
    fps: int | None = None
    from_ms: int | None = None
    to_ms: int | None = None
    sound: bool | None = None

    @property
    def part(self) -> Part:
        return Part(self.from_ms or 0, self.to_ms)

    def box(self, default: tuple[int, int]) -> tuple[int, int]:
        return RESOLUTIONS[self.resolution] if self.resolution else default

    def values(self) -> dict[str, str | int]:
        """The options that have a value, by the names of the fields."""
        return {name: value for name, value in asdict(self).items() if value is not None}


DEFAULTS = RenderOptions()
