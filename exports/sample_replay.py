"""A generated event log, for the demonstration and the tests."""

import json
import math
from collections.abc import Iterator

TICK_RATE = 30
_PLAYERS = ("민준", "서연", "도윤", "하은", "시우", "지우", "Alex", "Kim", "Zoë", "Ola")


def event_log(seconds: float, players: int = 10, title: str = "두레 컵 결승전") -> Iterator[str]:
    """The lines of an event log: two teams move in loops, pass, and score every five seconds."""
    header = {
        "format": "dure-replay/1",
        "title": title,
        "size": [100, 50],
        "tickRate": TICK_RATE,
        "teams": [
            {"id": "red", "name": "붉은 팀", "color": "#e6484f"},
            {"id": "blue", "name": "푸른 팀", "color": "#3d8bfd"},
        ],
        "players": [
            {"id": f"p{i}", "name": _PLAYERS[i % len(_PLAYERS)], "team": ("red", "blue")[i % 2]}
            for i in range(players)
        ],
    }
    yield json.dumps(header, ensure_ascii=False)
    score = {"red": 0, "blue": 0}
    for tick in range(int(seconds * TICK_RATE) or 1):
        at = tick / TICK_RATE
        yield json.dumps({"tick": tick, "positions": {f"p{i}": _position(at, i) for i in range(players)}})
        scorer = tick // (5 * TICK_RATE) % players
        if tick % (5 * TICK_RATE) == 5 * TICK_RATE // 2:
            score[("red", "blue")[scorer % 2]] += 1
            goal = {
                "tick": tick,
                "event": "goal",
                "text": "골! 멋진 슛",
                "player": f"p{scorer}",
                "score": score,
            }
            yield json.dumps(goal, ensure_ascii=False)
        elif tick % (3 * TICK_RATE) == TICK_RATE:
            yield json.dumps(
                {"tick": tick, "event": "pass", "text": "패스 성공", "player": "p2"}, ensure_ascii=False
            )


def _position(at: float, player: int) -> list[float]:
    x = 50 + 45 * math.sin(at / 2 * (1 + player / 20) + player)
    y = 25 + 21 * math.cos(at / 1.6 * (1 + player / 30) + 2 * player)
    return [round(x, 3), round(y, 3)]
