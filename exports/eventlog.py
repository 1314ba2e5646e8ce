"""Reads an event log: JSON Lines with a header first, then the records in the order of their ticks.

`docs/exports.md` describes the format. Lines are read one at a time and have a maximum length, so a log of
any length needs the same memory. A problem is reported with the number of its line.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from exports.failures import BadReplay

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

JSON = dict[str, Any]
Where = dict[str, int]  # the line, and the player or team of the header


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
    """The positions of some players at a tick, an event, or both."""

    tick: int
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    event: str = ""
    text: str = ""
    player: str = ""
    score: dict[str, int] = field(default_factory=dict)


def read(source: BinaryIO) -> tuple[Header, Iterator[Record]]:
    """The header now, and the records lazily."""
    lines = _lines(source)
    number, first = next(lines, (1, b""))
    if not first:
        raise BadReplay("log_empty")
    header = _header(_parse(first, number), number)
    return header, _records(lines, header)


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := source.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise BadReplay("line_too_long", line=number, limit=MAX_LINE_BYTES)
        line = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if line:
            yield number, line


def _parse(text: bytes, line: int) -> JSON:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadReplay("not_json", line=line) from None
    if not isinstance(value, dict):
        raise BadReplay("not_object", line=line)
    return value


def _header(data: JSON, line: int) -> Header:
    if data.get("format") != FORMAT:
        raise BadReplay("no_header", line=line, format=FORMAT)
    where = {"line": line}
    size = data.get("size")
    if not isinstance(size, list) or len(size) != 2:
        raise BadReplay("bad_size", line=line)
    width, height = (_number(side, "size", 1, MAX_ARENA, where) for side in size)
    if not 0.1 <= width / height <= 10:
        raise BadReplay("bad_proportions", line=line)
    teams = _teams(data.get("teams", []), line)
    return Header(
        title=_text(data.get("title"), "title", MAX_TITLE, where),
        width=width,
        height=height,
        tick_rate=_whole(data.get("tickRate"), "tickRate", 1, MAX_TICK_RATE, where),
        players=_players(data.get("players"), teams, line),
        teams=teams,
    )


def _teams(data: Any, line: int) -> dict[str, Team]:
    if not isinstance(data, list) or len(data) > MAX_TEAMS:
        raise BadReplay("bad_teams", line=line, limit=MAX_TEAMS)
    teams: dict[str, Team] = {}
    for index, item in enumerate(data):
        where = {"line": line, "team": index + 1}
        team_id, name, color = _identity(item, index, where)
        if team_id in teams:
            raise BadReplay("id_taken", **where, id=team_id)
        teams[team_id] = Team(team_id, name, color)
    return teams


def _players(data: Any, teams: dict[str, Team], line: int) -> dict[str, Player]:
    if not isinstance(data, list) or not 1 <= len(data) <= MAX_PLAYERS:
        raise BadReplay("bad_players", line=line, limit=MAX_PLAYERS)
    players: dict[str, Player] = {}
    for index, item in enumerate(data):
        where = {"line": line, "player": index + 1}
        player_id, name, color = _identity(item, index, where)
        team = item.get("team", "")
        if team != "" and (not isinstance(team, str) or team not in teams):
            raise BadReplay("unknown_team", **where)
        if player_id in players:
            raise BadReplay("id_taken", **where, id=player_id)
        color = teams[team].color if team and "color" not in item else color
        players[player_id] = Player(player_id, name, color, team)
    return players


def _identity(item: Any, index: int, where: Where) -> tuple[str, str, str]:
    """The id, name and color of a team or a player."""
    if not isinstance(item, dict):
        raise BadReplay("bad_item", **where)
    own_id = item.get("id")
    if not isinstance(own_id, str) or not _ID.fullmatch(own_id):
        raise BadReplay("bad_id", **where)
    color = item.get("color", _DEFAULT_COLORS[index % len(_DEFAULT_COLORS)])
    if not isinstance(color, str) or not _COLOR.fullmatch(color):
        raise BadReplay("bad_color", **where)
    return own_id, _text(item.get("name", own_id), "name", MAX_NAME, where), color


def _records(lines: Iterator[tuple[int, bytes]], header: Header) -> Iterator[Record]:
    last_tick = 0
    max_tick = MAX_DURATION_MS * header.tick_rate // 1000
    for count, (line, text) in enumerate(lines, 1):
        if count > MAX_RECORDS:
            raise BadReplay("too_many_records", limit=MAX_RECORDS)
        data = _parse(text, line)
        tick = _whole(data.get("tick"), "tick", 0, 2**53, {"line": line})
        if tick > max_tick:
            raise BadReplay("log_too_long", line=line, minutes=MAX_DURATION_MS // 60_000)
        if tick < last_tick:
            raise BadReplay("tick_backwards", line=line, tick=tick, last=last_tick)
        last_tick = tick
        yield _record(data, tick, header, line)


def _record(data: JSON, tick: int, header: Header, line: int) -> Record:
    positions = data.get("positions", {})
    event = data.get("event", "")
    if not isinstance(positions, dict) or not (positions or event):
        raise BadReplay("no_content", line=line)
    if not event:
        return Record(tick, _positions(positions, header, line))
    player = data.get("player", "")
    if player != "" and (not isinstance(player, str) or player not in header.players):
        raise BadReplay("unknown_player", line=line)
    where = {"line": line}
    return Record(
        tick,
        _positions(positions, header, line),
        event=_text(event, "event", MAX_NAME, where),
        text=_text(data.get("text", ""), "text", MAX_TEXT, where),
        player=player,
        score=_score(data.get("score", {}), header, where),
    )


def _positions(data: JSON, header: Header, line: int) -> dict[str, tuple[float, float]]:
    positions: dict[str, tuple[float, float]] = {}
    for player, position in data.items():
        if player not in header.players:
            raise BadReplay("unknown_player", line=line)
        if not isinstance(position, list) or len(position) != 2:
            raise BadReplay("bad_position", line=line)
        x, y = position
        # Most lines are of this kind, so the usual case makes no function call for each number.
        if not (
            type(x) in (int, float) and type(y) in (int, float) and -1e6 <= x <= 1e6 and -1e6 <= y <= 1e6
        ):
            raise BadReplay("position_out_of_range", line=line)
        positions[player] = (x, y)
    return positions


def _score(data: Any, header: Header, where: Where) -> dict[str, int]:
    owners = header.teams or header.players
    if not isinstance(data, dict) or any(owner not in owners for owner in data):
        raise BadReplay("bad_score", **where)
    return {owner: _whole(points, "score", -MAX_SCORE, MAX_SCORE, where) for owner, points in data.items()}


def _number(value: Any, name: str, low: float, high: float, where: Where) -> float:
    if type(value) not in (int, float) or not low <= value <= high or not math.isfinite(value):
        raise BadReplay("not_number", **where, name=name, low=low, high=high)
    return float(value)


def _whole(value: Any, name: str, low: int, high: int, where: Where) -> int:
    if type(value) is not int or not low <= value <= high:
        raise BadReplay("not_whole", **where, name=name, low=low, high=high)
    return value


def _text(value: Any, name: str, limit: int, where: Where) -> str:
    if not isinstance(value, str):
        raise BadReplay("not_text", **where, name=name)
    if len(value) > limit:
        raise BadReplay("text_too_long", **where, name=name, limit=limit)
    # Line breaks, controls and lone surrogates would break a label; a space takes their place.
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in value).strip()
