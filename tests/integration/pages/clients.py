"""Signed-in clients, and the addresses and texts of pages."""

import re
from html.parser import HTMLParser

from django.contrib.auth.models import User
from django.test import Client

from scheduler.steps.models import StepQueue
from tests.factories import a_user


def signed_in(user: User, language: str = "en") -> Client:
    client = Client(headers={"Accept-Language": language})
    client.force_login(user)
    return client


def sign_in(name: str = "alice", language: str = "en", **more) -> Client:
    return signed_in(a_user(name, **more), language)


def at(office, rest: str = "/jobs") -> str:
    return f"/offices/{office.id}{rest}"


def at_queue(queue: StepQueue, rest: str = "") -> str:
    return f"/step-queues/{queue.queue_id}{rest}"


def page_text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def text_of(answer) -> str:
    return str(answer.content.decode())


def field_error(answer, field: str) -> str:
    """The error text of a field."""
    match = re.search(rf'<p [^>]*id="why-{field}"[^>]*>(.*?)</p>', text_of(answer), re.DOTALL)
    assert match is not None, field
    return match[1].strip().replace("&#x27;", "'").replace("&quot;", '"')


def form_fields(answer, action: str) -> dict[str, list[str]]:
    """The values that a browser would send of the form with this action."""
    parser = _FormParser(action)
    parser.feed(text_of(answer))
    assert parser.exists, action
    return parser.values


class _FormParser(HTMLParser):
    def __init__(self, action: str) -> None:
        super().__init__()
        self.action, self.values = action, dict[str, list[str]]()
        self.exists = self.inside = False
        self.name = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        attrs = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.inside = attrs.get("action") == self.action
            self.exists |= self.inside
        elif self.inside and tag in ("textarea", "select"):
            self.name = attrs.get("name", "")
            if tag == "textarea":
                self.values[self.name] = [""]
        elif self.inside and tag == "option" and "selected" in attrs:
            self._add(self.name, attrs.get("value", ""))
        elif self.inside and tag == "input" and "name" in attrs and _is_sent(attrs):
            self._add(attrs["name"], attrs.get("value", "on" if "checked" in attrs else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.name = ""

    def handle_data(self, data: str) -> None:
        if self.inside and self.lasttag == "textarea" and self.name:
            self.values[self.name][0] += data.lstrip("\n")

    def _add(self, name: str, value: str) -> None:
        self.values.setdefault(name, []).append(value)


def _is_sent(attrs: dict[str, str]) -> bool:
    return attrs.get("type") not in ("checkbox", "radio") or "checked" in attrs
