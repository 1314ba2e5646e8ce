"""Converts records to frames: the positions, captions and score of each frame.

Pure arithmetic over a stream of records; it looks one sample ahead and keeps nothing else.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from exports.eventlog import Header, Record
from exports.failures import BadReplay
from exports.render.options import WHOLE, Part

FRAMES_PER_SECOND = 30
CAPTION_SECONDS = 3.0
FADE_SECONDS = 0.3
MAX_CAPTIONS = 3
MAX_EVENTS_AT_ONCE = 100


@dataclass(slots=True)
class Sample:
    """All records of one tick."""

    tick: int
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    events: list[Record] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Caption:
    text: str
    player: str
    since: float
    important: bool


@dataclass(slots=True)
class Moment:
    """One frame. `moments` reuses the object for the next frame: do not keep it."""

    index: int = 0
    seconds: float = 0.0
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    captions: deque[Caption] = field(default_factory=lambda: deque(maxlen=MAX_CAPTIONS))
    score: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outline:
    """The result of the first pass over a log: its length, and the frames and the highlight of the part."""

    duration_ms: int
    frames: int
    highlight_frame: int


def samples(records: Iterator[Record]) -> Iterator[Sample]:
    current: Sample | None = None
    for record in records:
        if current is None or record.tick != current.tick:
            if current:
                yield current
            current = Sample(record.tick)
        current.positions.update(record.positions)
        if record.event:
            if len(current.events) == MAX_EVENTS_AT_ONCE:
                raise BadReplay("too_many_events", tick=record.tick, limit=MAX_EVENTS_AT_ONCE)
            current.events.append(record)
    if current:
        yield current


def outline(
    header: Header, records: Iterator[Record], part: Part = WHOLE, rate: int = FRAMES_PER_SECOND
) -> Outline:
    """Reads the whole log once; drawing it needs a second pass."""
    last, best_tick, best_weight, empty = 0, 0, -1, True
    for sample in samples(records):
        empty, last = False, sample.tick
        if not part.contains(sample.tick * 1000 / header.tick_rate):
            continue
        weight = sum(3 if event.score else 1 for event in sample.events)
        # The later of equal candidates wins, since the end of a match decides it.
        if sample.events and weight >= best_weight:
            best_tick, best_weight = sample.tick, weight
    if empty:
        raise BadReplay("no_records")
    frames = _frames_until(last, header, part, rate) + 1
    if part.end_ms is not None:
        frames = min(frames, -(-(part.end_ms - part.start_ms) * rate // 1000))
    if frames < 1:
        raise BadReplay("part_beyond_end")
    highlight = _frames_until(best_tick, header, part, rate) + round(FADE_SECONDS * rate) + 1
    if best_weight < 0:
        highlight = frames * 3 // 5
    return Outline(header.milliseconds(last), frames, min(max(highlight, 1), max(frames - 1, 0)))


def _frames_until(tick: int, header: Header, part: Part, rate: int) -> int:
    """The number of frames from the start of the part."""
    return (tick * 1000 - part.start_ms * header.tick_rate) * rate // (header.tick_rate * 1000)


def moments(
    header: Header,
    records: Iterator[Record],
    frames: int,
    part: Part = WHOLE,
    rate: int = FRAMES_PER_SECOND,
) -> Iterator[Moment]:
    moment = Moment(score=dict.fromkeys(header.teams, 0))
    ahead = samples(records)
    following = next(ahead, None)
    base: dict[str, tuple[float, float]] = {}
    base_tick = 0
    for index in range(frames):
        moment.index, moment.seconds = index, part.start_ms / 1000 + index / rate
        tick = part.start_ms * header.tick_rate / 1000 + index * header.tick_rate / rate
        while following and following.tick <= tick:
            base.update(following.positions)
            base_tick = following.tick
            _apply(moment, following, header)
            following = next(ahead, None)
        _place(moment, base, base_tick, following, tick)
        while moment.captions and moment.seconds - moment.captions[0].since > CAPTION_SECONDS:
            moment.captions.popleft()
        yield moment


def _apply(moment: Moment, sample: Sample, header: Header) -> None:
    since = sample.tick / header.tick_rate
    for event in sample.events:
        moment.score.update(event.score)
        moment.captions.append(Caption(event.text or event.event, event.player, since, bool(event.score)))


def _place(
    moment: Moment,
    base: dict[str, tuple[float, float]],
    base_tick: int,
    following: Sample | None,
    tick: float,
) -> None:
    """Players of the next sample move towards it in a straight line; the others stay."""
    moment.positions.update(base)
    if not following or not following.positions:
        return
    share = (tick - base_tick) / (following.tick - base_tick) if following.tick > base_tick else 0.0
    for player, (x, y) in following.positions.items():
        if player in base:
            from_x, from_y = base[player]
            moment.positions[player] = (from_x + (x - from_x) * share, from_y + (y - from_y) * share)
