"""Reads our event log: JSON Lines, a header first, then what happened, tick by tick.

`docs/exports.md` describes the format. It is read one line at a time and every line is bounded, so a
log of any length costs the same memory, and a hostile one is refused with the number of its line.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

FORMAT = "dure-replay/1"

MAX_LINE_BYTES = 64 * 1024
MAX_PLAYERS = 64
MAX_TEAMS = 8
MAX_TITLE = 200
MAX_NAME = 40
MAX_TEXT = 200
MAX_TICK_RATE = 240
MAX_ARENA = 1_000_000
MAX_DURATION_MS = 4 * 3600 * 1000
MAX_SCORE = 1_000_000_000
MAX_RECORDS = 2_000_000

_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_ID = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_DEFAULT_COLORS = ("#e6484f", "#3d8bfd", "#2fb66a", "#f2a93b", "#a66bf0", "#1fb5b5", "#ef6fb0", "#9aa53b")


class BadReplay(ValueError):
    """The replay cannot be read; the text says where and what to do about it."""

    def __init__(self, message: str, *, too_large: bool = False) -> None:
        super().__init__(message)
        self.too_large = too_large


@dataclass(frozen=True, slots=True)
class Player:
    id: str
    name: str
    color: str
    team: str = ""


@dataclass(frozen=True, slots=True)
class Team:
    id: str
    name: str
    color: str


@dataclass(frozen=True, slots=True)
class Header:
    title: str
    width: float
    height: float
    tick_rate: int
    players: dict[str, Player]
    teams: dict[str, Team]

    def milliseconds(self, tick: int) -> int:
        return tick * 1000 // self.tick_rate


@dataclass(frozen=True, slots=True)
class Record:
    """Where some players are at a tick, or something that happened then, or both."""

    tick: int
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    event: str = ""
    text: str = ""
    player: str = ""
    score: dict[str, int] = field(default_factory=dict)


def read(source: BinaryIO) -> tuple[Header, Iterator[Record]]:
    """The header now, and the records as they are asked for."""
    lines = _lines(source)
    number, first = next(lines, (1, b""))
    if not first:
        raise BadReplay("The event log is empty: its first line must be the header.")
    header = _header(_parse(first, number), number)
    return header, _records(lines, header)


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := source.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise BadReplay(f"Line {number} is longer than {MAX_LINE_BYTES} bytes.", too_large=True)
        line = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if line:
            yield number, line


def _parse(line: bytes, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadReplay(f"Line {number} is not JSON.") from None
    if not isinstance(found, dict):
        raise BadReplay(f"Line {number} must be a JSON object.")
    return found


def _header(found: dict[str, Any], line: int) -> Header:
    if found.get("format") != FORMAT:
        raise BadReplay(f'Line {line} must be the header, with "format": "{FORMAT}".')
    size = found.get("size")
    if not isinstance(size, list) or len(size) != 2:
        raise BadReplay(f"Line {line}: size must be [width, height] of the arena.")
    width, height = (_number(side, f"Line {line}: size", 1, MAX_ARENA) for side in size)
    if not 0.1 <= width / height <= 10:
        raise BadReplay(f"Line {line}: the arena must not be more than ten times as long as wide.")
    teams = _teams(found.get("teams", []), line)
    return Header(
        title=_text(found.get("title"), f"Line {line}: title", MAX_TITLE),
        width=width,
        height=height,
        tick_rate=_whole(found.get("tickRate"), f"Line {line}: tickRate", 1, MAX_TICK_RATE),
        players=_players(found.get("players"), teams, line),
        teams=teams,
    )


def _teams(found: Any, line: int) -> dict[str, Team]:
    if not isinstance(found, list) or len(found) > MAX_TEAMS:
        raise BadReplay(f"Line {line}: teams must be a list of at most {MAX_TEAMS}.")
    teams: dict[str, Team] = {}
    for index, each in enumerate(found):
        where = f"Line {line}: team {index + 1}"
        team_id, name, color = _named(each, index, where)
        if team_id in teams:
            raise BadReplay(f"{where}: the id {team_id} is taken.")
        teams[team_id] = Team(team_id, name, color)
    return teams


def _players(found: Any, teams: dict[str, Team], line: int) -> dict[str, Player]:
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_PLAYERS:
        raise BadReplay(f"Line {line}: players must be a list of 1 to {MAX_PLAYERS}.")
    players: dict[str, Player] = {}
    for index, each in enumerate(found):
        where = f"Line {line}: player {index + 1}"
        player_id, name, color = _named(each, index, where)
        team = each.get("team", "")
        if team != "" and (not isinstance(team, str) or team not in teams):
            raise BadReplay(f"{where}: there is no such team.")
        if player_id in players:
            raise BadReplay(f"{where}: the id {player_id} is taken.")
        color = teams[team].color if team and "color" not in each else color
        players[player_id] = Player(player_id, name, color, team)
    return players


def _named(found: Any, index: int, where: str) -> tuple[str, str, str]:
    if not isinstance(found, dict):
        raise BadReplay(f"{where} must be an object with id, name and color.")
    own_id = found.get("id")
    if not isinstance(own_id, str) or not _ID.fullmatch(own_id):
        raise BadReplay(f"{where}: id must be 1 to 40 letters, digits, dots, dashes or underscores.")
    color = found.get("color", _DEFAULT_COLORS[index % len(_DEFAULT_COLORS)])
    if not isinstance(color, str) or not _COLOR.fullmatch(color):
        raise BadReplay(f"{where}: color must look like #e6484f.")
    return own_id, _text(found.get("name", own_id), f"{where}: name", MAX_NAME), color


def _records(lines: Iterator[tuple[int, bytes]], header: Header) -> Iterator[Record]:
    last_tick = 0
    highest = MAX_DURATION_MS * header.tick_rate // 1000
    for count, (number, line) in enumerate(lines, 1):
        if count > MAX_RECORDS:
            raise BadReplay(f"The event log has more than {MAX_RECORDS} records.", too_large=True)
        found = _parse(line, number)
        tick = _whole(found.get("tick"), f"Line {number}: tick", 0, 2**53)
        if tick > highest:
            raise BadReplay(
                f"Line {number}: the replay is longer than {MAX_DURATION_MS // 60_000} minutes.",
                too_large=True,
            )
        if tick < last_tick:
            raise BadReplay(f"Line {number}: tick {tick} comes after tick {last_tick}.")
        last_tick = tick
        yield _record(found, tick, header, number)


def _record(found: dict[str, Any], tick: int, header: Header, line: int) -> Record:
    positions = found.get("positions", {})
    event = found.get("event", "")
    if not isinstance(positions, dict) or not (positions or event):
        raise BadReplay(f"Line {line} must hold positions or an event.")
    if not event:
        return Record(tick, _positions(positions, header, line))
    player = found.get("player", "")
    if player != "" and (not isinstance(player, str) or player not in header.players):
        raise BadReplay(f"Line {line}: there is no such player.")
    return Record(
        tick,
        _positions(positions, header, line),
        event=_text(event, f"Line {line}: event", MAX_NAME),
        text=_text(found.get("text", ""), f"Line {line}: text", MAX_TEXT),
        player=player,
        score=_score(found.get("score", {}), header, line),
    )


def _positions(found: dict[str, Any], header: Header, line: int) -> dict[str, tuple[float, float]]:
    positions: dict[str, tuple[float, float]] = {}
    for player, place in found.items():
        if player not in header.players:
            raise BadReplay(f"Line {line}: there is no such player.")
        if not isinstance(place, list) or len(place) != 2:
            raise BadReplay(f"Line {line}: a position must be [x, y].")
        x, y = place
        # The commonest line by far, so no call for each number when both are plainly right.
        if not (
            type(x) in (int, float) and type(y) in (int, float) and -1e6 <= x <= 1e6 and -1e6 <= y <= 1e6
        ):
            raise BadReplay(f"Line {line}: a position must be two numbers within a million of the origin.")
        positions[player] = (x, y)
    return positions


def _score(found: Any, header: Header, line: int) -> dict[str, int]:
    owners = header.teams or header.players
    if not isinstance(found, dict) or any(owner not in owners for owner in found):
        raise BadReplay(f"Line {line}: score must be an object of the teams' (or players') points.")
    return {
        owner: _whole(points, f"Line {line}: score", -MAX_SCORE, MAX_SCORE) for owner, points in found.items()
    }


def _number(value: Any, where: str, low: float, high: float) -> float:
    if type(value) not in (int, float) or not low <= value <= high or not math.isfinite(value):
        raise BadReplay(f"{where} must be a number from {low} to {high}.")
    return float(value)


def _whole(value: Any, where: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise BadReplay(f"{where} must be a whole number from {low} to {high}.")
    return value


def _text(value: Any, where: str, limit: int) -> str:
    if not isinstance(value, str):
        raise BadReplay(f"{where} must be a text.")
    if len(value) > limit:
        raise BadReplay(f"{where} is longer than {limit} characters.")
    # Line breaks, controls and lone surrogates would break a label; what they stood between stays.
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in value).strip()
