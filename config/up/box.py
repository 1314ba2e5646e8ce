"""The last thing `make up` says: where everything is and how to get in."""

from typing import Any

from config.embedded.home import Home
from config.up.steps import BOLD, paint


def draw(credentials: dict[str, Any], home: Home) -> str:
    base, flower = credentials["base_url"], credentials["flower"]
    rows = [
        ("Monitor", f"{base}/"),
        ("Admin", f"{base}/admin/"),
        ("API docs", f"{base}/api/docs"),
        ("Flower", f"{flower['url']}/   {flower['user']} / {flower['password']}"),
        ("", ""),
        *(row for user in credentials["users"] for row in _login(user)),
        ("", ""),
        ("Logs", str(home.logs)),
        ("Secrets", str(home.path / "credentials.json")),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    return _frame(["Dure is running", "", *lines, "", "Ctrl-C stops everything"])


def _login(user: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (user["username"], f"password  {user['password']}   ({user['role']})"),
        ("", f"token     {user['token']}"),
    ]


def _frame(lines: list[str]) -> str:
    width = max(len(line) for line in lines)
    middle = [
        f"│ {paint(f'{line:<{width}}', BOLD) if n == 0 else f'{line:<{width}}'} │"
        for n, line in enumerate(lines)
    ]
    return "\n".join([f"┌{'─' * (width + 2)}┐", *middle, f"└{'─' * (width + 2)}┘"])
